import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { destinations } from './navigation.js';

/** How the keyboard of the device names the key that opens the palette. */
export const paletteKeys = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ K' : 'Ctrl K';

const sequenceMs = 1_500;

export interface ShortcutActions {
  openPalette(): void;
  openHelp(): void;
}

/** Ctrl or Cmd with K, `?`, and `g` followed by a letter. Not while a person types. */
export function useShortcuts({ openPalette, openHelp }: ShortcutActions): void {
  const navigate = useNavigate();
  useEffect(() => {
    let since = Number.NEGATIVE_INFINITY;
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        openPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.timeStamp - since < sequenceMs) {
        since = Number.NEGATIVE_INFINITY;
        const destination = destinations.find(({ letter }) => letter === event.key);
        if (destination !== undefined) {
          event.preventDefault();
          void navigate({ to: destination.to });
        }
      } else if (event.key === 'g') since = event.timeStamp;
      else if (event.key === '?') openHelp();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [navigate, openPalette, openHelp]);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest('input, textarea, select, dialog') !== null;
}
