import { store, stored } from '../../../connection/storage.js';

/** What a person has typed and not sent, for each session of the tab. A new chat has one for its component. */
export function draftOf(key: string): string {
  return stored('session', `draft ${key}`) ?? '';
}

export function keepDraft(key: string, text: string): void {
  store('session', `draft ${key}`, text === '' ? undefined : text);
}
