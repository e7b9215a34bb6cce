import { useSyncExternalStore } from 'react';

/** Whether the last request reached the service. */
let reachable = true;
const listeners = new Set<() => void>();

export function reportUnreachable(): void {
  change(false);
}

export function reportReached(): void {
  change(true);
}

export function useReachable(): boolean {
  return useSyncExternalStore(subscribe, () => reachable);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: boolean): void {
  if (next === reachable) return;
  reachable = next;
  for (const listener of listeners) listener();
}
