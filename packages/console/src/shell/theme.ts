import { useSyncExternalStore } from 'react';
import { store, stored } from '../connection/storage.js';

/** `system` follows the setting of the device. theme.js applies it before the page is drawn. */
export type Theme = 'system' | 'light' | 'dark';

const device = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let theme = themeOf(stored('local', 'theme'));

device.addEventListener('change', apply);

export function useTheme(): Theme {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => theme,
  );
}

export function setTheme(next: Theme): void {
  theme = next;
  store('local', 'theme', next === 'system' ? undefined : next);
  apply();
  for (const listener of listeners) listener();
}

function apply(): void {
  const dark = theme === 'dark' || (theme === 'system' && device.matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

export function themeOf(text: string | undefined): Theme {
  return text === 'light' || text === 'dark' ? text : 'system';
}
