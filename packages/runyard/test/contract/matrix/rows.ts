import type { Database } from '../../../src/platform/storage/database.js';

/** A row with its table, in a form that can be compared. */
interface StoredRow {
  readonly text: string;
  readonly owner: unknown;
}

/** Columns that the service itself changes while nothing happens. */
const ownUpkeep = new Set(['lease_expires_at', 'last_used_at']);

const tables = {
  name: 'matrix_tables',
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  postgres: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
};

/** What is stored of a user: every row of every table that holds one of these texts. */
export async function rowsHolding(database: Database, texts: readonly string[]): Promise<StoredRow[]> {
  const found: StoredRow[] = [];
  for (const { name } of await database.read<{ name: string }>(tables, [])) {
    const all = `SELECT * FROM "${name}"`;
    const statement = { name: `matrix_${name}`, sqlite: all, postgres: all };
    for (const row of await database.read<Record<string, unknown>>(statement, [])) {
      const text = `${name} ${JSON.stringify(readable(row))}`;
      if (texts.some((part) => text.includes(part))) found.push({ text, owner: row.user_id });
    }
  }
  return found;
}

/**
 * How the rows of a user have changed: those that are lost or changed, and new ones that are theirs. What others write
 * about ids that they have heard of is not.
 */
export function harmTo(
  { userId, word }: { readonly userId: string; readonly word: string },
  before: readonly StoredRow[],
  after: readonly StoredRow[],
): string[] {
  const known = new Set(before.map(({ text }) => text));
  const left = new Set(after.map(({ text }) => text));
  const lost = before.filter(({ text }) => !left.has(text));
  const added = after.filter(
    ({ text, owner }) => !known.has(text) && (owner === userId || text.includes(word)),
  );
  return [
    ...lost.map(({ text }) => `lost or changed: ${text.slice(0, 600)}`),
    ...added.map(({ text }) => `added: ${text.slice(0, 600)}`),
  ];
}

function readable(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([column]) => !ownUpkeep.has(column))
      .map(([column, value]) => [
        column,
        value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
      ]),
  );
}
