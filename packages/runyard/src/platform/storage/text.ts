import { isList } from '../../core/objects.js';
import type { SqlValue } from './database.js';

/**
 * No database holds every JavaScript string: PostgreSQL refuses NUL, and a lone surrogate has no UTF-8 form. A
 * caller may send either in a name or an id. Such a text is stored as JSON behind a mark, the same way every
 * time, so that it is found again and comes back unharmed; every other text is stored as it is.
 */
const mark = '\u0001';

interface WellFormedText {
  isWellFormed(): boolean;
}

export function isStoredAsIs(text: string): boolean {
  // every Node of today has it; the types are those of ES2023
  return (text as unknown as WellFormedText).isWellFormed() && !text.includes('\0') && !text.startsWith(mark);
}

export function encodeText(text: string): string {
  return isStoredAsIs(text) ? text : mark + JSON.stringify(text);
}

export function decodeText(stored: string): string {
  return stored.startsWith(mark) ? JSON.parse(stored.slice(mark.length)) : stored;
}

export function encodeParameter(value: unknown): unknown {
  if (typeof value === 'string') return encodeText(value);
  return Array.isArray(value) ? value.map(encodeParameter) : value;
}

/** The same for SQLite, which has no arrays: a list is JSON text there. */
export function encodeForSqlite(value: SqlValue): string | number | null | Uint8Array {
  if (typeof value === 'string') return encodeText(value);
  return isList(value) ? JSON.stringify(value.map(encodeParameter)) : value;
}

/** The value of a column of JSON. Only Runyard writes it: it has the shape that the type of its record says. */
export function storedJson<Value>(text: string): Value {
  return JSON.parse(text);
}

export function storedJsonOrNull<Value>(text: string | null): Value | null {
  return text === null ? null : storedJson(text);
}

/** Decodes the texts of fresh rows in place. */
export function decodeRows<Row>(rows: unknown[]): Row[] {
  // the driver makes each row an object, with the columns that the statement selects
  for (const row of rows as Record<string, unknown>[]) {
    for (const column in row) {
      const value = row[column];
      if (typeof value === 'string' && value.startsWith(mark)) row[column] = decodeText(value);
    }
  }
  // as above
  return rows as Row[];
}
