/**
 * A text as searches see it: in small letters of every script, composed one way. It is stored beside the text, since
 * SQLite folds only the letters A to Z.
 */
export function searchText(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
