const delayMs = 400;
/** Time to move the pointer from the element to its hint, which can be read and copied. */
const leaveMs = 150;
const gap = 6;
const margin = 8;

/** Shows the hints of all elements that a Tooltip marks, one at a time. Called once. */
export function showTooltips(): void {
  const hint = document.createElement('div');
  hint.id = 'tooltip';
  hint.popover = 'manual';
  hint.role = 'tooltip';
  hint.className =
    'inset-auto max-w-xs rounded-md border border-line bg-raised px-2 py-1 text-xs text-text shadow-raised [overflow-wrap:anywhere]';
  let owner: Element | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const hide = () => {
    clearTimeout(timer);
    if (owner?.getAttribute('aria-describedby') === hint.id) owner.removeAttribute('aria-describedby');
    owner = undefined;
    hint.remove();
  };
  const show = (element: HTMLElement) => {
    hide();
    const text = element.dataset.tooltip;
    if (!text || !element.isConnected) return;
    owner = element;
    hint.textContent = text;
    // beside an open dialog, the page does not react to the pointer
    (element.closest('dialog') ?? document.body).append(hint);
    hint.showPopover();
    place(hint, element.getBoundingClientRect());
    // a label that is the hint would be read twice
    if (element.ariaLabel !== text && !element.hasAttribute('aria-describedby'))
      element.setAttribute('aria-describedby', hint.id);
  };
  const entered = (target: EventTarget | null, delay: number) => {
    if (target === hint) return clearTimeout(timer);
    const element = target instanceof Element ? target.closest<HTMLElement>('[data-tooltip]') : null;
    clearTimeout(timer);
    if (element === null) timer = setTimeout(hide, leaveMs);
    else if (element !== owner) timer = setTimeout(() => show(element), owner ? 0 : delay);
  };

  document.addEventListener('pointerover', ({ target, pointerType }) => {
    if (pointerType !== 'touch') entered(target, delayMs);
  });
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element && target.matches(':focus-visible')) entered(target, 0);
  });
  document.addEventListener('focusout', hide);
  document.addEventListener('pointerdown', hide);
  document.addEventListener('scroll', hide, true);
  document.addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), true);
}

/** Below the element; above it where there is no room; always within the window. */
function place(hint: HTMLElement, of: DOMRect): void {
  const { width, height } = hint.getBoundingClientRect();
  const below = of.bottom + gap;
  const top = below + height + margin > innerHeight ? of.top - gap - height : below;
  const left = Math.min(of.left + (of.width - width) / 2, innerWidth - width - margin);
  hint.style.top = `${Math.max(margin, top)}px`;
  hint.style.left = `${Math.max(margin, left)}px`;
}
