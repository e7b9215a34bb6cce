import type { Tone } from '../badge.js';

export interface Toast {
  readonly id: number;
  readonly title: string;
  readonly tone: Tone;
  readonly action?: { readonly label: string; onClick(): void } | undefined;
}

let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();
const most = 4;

/** Says shortly what happened. What a person must not miss belongs on the page. */
export function toast(given: { title: string; tone?: Tone; action?: Toast['action'] }): void {
  last += 1;
  toasts = [...toasts, { id: last, tone: 'neutral' as const, ...given }].slice(-most);
  changed();
}

export function dismissToast(id: number): void {
  toasts = toasts.filter((one) => one.id !== id);
  changed();
}

export function currentToasts(): readonly Toast[] {
  return toasts;
}

export function subscribeToToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function changed(): void {
  for (const listener of listeners) listener();
}
