import type { RawBuilder } from 'kysely';
import type { Dialect } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';

/**
 * A condition that a text contains a part, or begins with it, in any case. The databases fold only the letters A to Z
 * by themselves (PostgreSQL, depending on how it was set up), so a part with other letters becomes a pattern that
 * names each letter in both cases. Nothing in the part is a wildcard.
 */
export function matchingPattern(
  dialect: Dialect,
  text: RawBuilder<unknown>,
  op: 'CONTAINS' | 'STARTSWITH',
  part: string,
): RawBuilder<boolean> {
  const { sql } = queryBuilder();
  const open = op === 'CONTAINS';
  if (isAscii(part)) {
    const pattern = `${open ? '%' : ''}${part.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
    const like = (folded: RawBuilder<unknown>, given: string) => sql`${folded} LIKE ${given} ESCAPE '\\'`;
    const withoutLetters = pattern.replace(/[a-z]/g, '_');
    if (dialect === 'sqlite' || withoutLetters === pattern) return sql`(${like(text, pattern)})`;
    // the plain collation folds these letters too, and is twice as fast; ILIKE would fold the pattern for each row
    const fits = like(sql`lower(${text} COLLATE "C")`, pattern);
    // a text without these digits and signs in their places need not be folded
    return /[^%_]/.test(withoutLetters) ? sql`(${like(text, withoutLetters)} AND ${fits})` : sql`(${fits})`;
  }
  return dialect === 'postgres'
    ? sql`(${text} ~ ${`${open ? '' : '^'}${inBothCases(part, regularExpression)}`})`
    : sql`(${text} GLOB ${`${open ? '*' : ''}${inBothCases(part, glob)}*`})`;
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 127) return false;
  return true;
}

function inBothCases(part: string, escaped: (character: string) => string): string {
  return Array.from(part, (character) => {
    // a letter whose other case is several letters stands for itself
    const forms = [character, character.toLowerCase(), character.toUpperCase()];
    const single = new Set(forms.filter((form) => [...form].length === 1));
    return single.size === 1 ? escaped(character) : `[${[...single].join('')}]`;
  }).join('');
}

function regularExpression(character: string): string {
  return /[\\^$.|?*+()[\]{}]/.test(character) ? `\\${character}` : character;
}

function glob(character: string): string {
  return /[*?[]/.test(character) ? `[${character}]` : character;
}
