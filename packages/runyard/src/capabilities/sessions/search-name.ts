import { searchText } from '../../platform/storage/search-text.js';

/** How much of a name searches see: indexes bound what they hold. A derived name is never longer. */
const searchedCharacters = 255;

/** A name as it is stored for searches, wherever it comes from. */
export function searchNameOf(name: string | null): string | null {
  if (name === null) return null;
  const folded = searchText(name);
  return folded.length <= searchedCharacters ? folded : [...folded].slice(0, searchedCharacters).join('');
}
