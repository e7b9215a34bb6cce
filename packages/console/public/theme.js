// Runs before the page is drawn, so that no wrong theme flashes. A file of its own: the page allows no inline scripts.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('runyard.theme');
  } catch {
    // storage can be forbidden
  }
  const dark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
