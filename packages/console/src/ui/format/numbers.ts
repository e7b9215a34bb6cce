const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? '–' : whole.format(count);
}

/** Tokens, short from ten thousand on: 12.3K. */
export function formatTokens(tokens: number | null | undefined): string {
  if (tokens === null || tokens === undefined) return '–';
  return tokens < 10_000 ? whole.format(tokens) : compact.format(tokens);
}

/** Dollars. Small amounts keep two significant digits: $0.00042. */
export function formatCost(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return '–';
  if (dollars === 0 || dollars >= 0.01) return `$${dollars.toFixed(2)}`;
  return `$${Number(dollars.toPrecision(2)).toFixed(Math.min(8, 2 - Math.floor(Math.log10(dollars)) - 1))}`;
}

export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return '–';
  const units = ['B', 'KB', 'MB', 'GB'];
  const at = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${Number((bytes / 1_000 ** at).toPrecision(3))} ${units[at]}`;
}

export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
