import { isPacked, joinedParts, partsOf } from '../../../core/runs/journal/long-texts.js';
import type { RunWrite, StoredText } from '../../../core/runs/journal/ports.js';
import { type Database, type Statement, statement } from '../../../platform/storage/database.js';
import { noRows, type RowDelete, type RowInsert, type Rows } from '../../../platform/storage/write-plan.js';
import type { RunsTable, RunTextsTable, StepsTable } from '../tables.js';
import { type JournalTables, ofTables, runTables } from './journal-tables-store.js';

/*
 * The long texts of runs. A row is a part of a text: the JSON of it without the quotes, so that it is sent as it is
 * stored. A text never changes; it is written before, or together with, what refers to it.
 */

export const writeTexts = ofTables(
  ({ prefix, texts: table }): RowInsert => ({
    does: 'insert',
    name: `${prefix}written_texts`,
    table,
    columns: ['run_id', 'text_id', 'part integer', 'kept integer', 'payload'],
    key: ['run_id', 'text_id', 'part'],
    conflict: 'keep',
    unordered: true,
  }),
);

export function textRows({ runId, texts }: RunWrite): Rows {
  if (texts === undefined) return noRows;
  return texts.added.flatMap(({ id, text, kept }) =>
    Array.from(partsOf(text), (payload, part) => [runId, id, part, kept ? 1 : 0, payload]),
  );
}

export const removeTexts = ofTables(
  ({ prefix, texts: table }): RowDelete => ({
    does: 'delete',
    name: `${prefix}removed_texts`,
    table,
    columns: ['run_id', 'text_id'],
    where: 'stored.run_id = given.run_id AND stored.text_id = given.text_id',
  }),
);

export function forgottenTexts({ runId, forgotten }: RunWrite): Rows {
  return forgotten === undefined ? noRows : forgotten.texts.map((id) => [runId, id]);
}

const statementsOf = ofTables(({ prefix, texts }) => {
  const partsOfRuns = (given: string) =>
    `SELECT run_id, text_id, payload FROM ${texts} WHERE run_id ${given} AND kept = 1 ORDER BY run_id, text_id, part`;

  const readTexts: Statement = {
    name: `${prefix}texts_of_runs`,
    sqlite: partsOfRuns('IN (SELECT value FROM json_each(?))'),
    postgres: partsOfRuns('= ANY($1::text[])'),
  };

  const readParts = statement(
    `${prefix}text_parts`,
    `SELECT payload FROM ${texts} WHERE run_id = ? AND text_id = ? AND part >= ? ORDER BY part LIMIT ?`,
  );

  const readAll = statement(
    `${prefix}all_texts`,
    `SELECT text_id, payload FROM ${texts} WHERE run_id = ? ORDER BY text_id, part`,
  );

  return { readTexts, readParts, readAll };
});

export async function textParts(
  database: Database,
  runId: string,
  textId: string,
  from: number,
  limit: number,
  tables: JournalTables = runTables,
): Promise<string[]> {
  const { readParts } = statementsOf(tables);
  const rows = await database.read<{ payload: string }>(readParts, [runId, textId, from, limit]);
  return rows.map(({ payload }) => payload);
}

/** All long texts of a run, also those that only events refer to. */
export async function longTexts(
  database: Database,
  runId: string,
  tables: JournalTables = runTables,
): Promise<StoredText[]> {
  const parts = new Map<string, string[]>();
  const rows = await database.read<Pick<RunTextsTable, 'text_id' | 'payload'>>(statementsOf(tables).readAll, [
    runId,
  ]);
  for (const { text_id, payload } of rows) {
    const known = parts.get(text_id);
    if (known === undefined) parts.set(text_id, [payload]);
    else known.push(payload);
  }
  return Array.from(parts, ([id, all]) => ({ id, text: joinedParts(all) }));
}

/** What the long texts of stored runs are. */
export type TextLookup = (runId: string, textId: string) => string;

const noTexts: TextLookup = () => '';

/** The texts that these rows refer to. */
export async function textsOf(
  database: Database,
  runs: readonly Pick<RunsTable, 'run_id' | 'result'>[],
  steps: readonly Pick<StepsTable, 'run_id' | 'input' | 'output'>[] = [],
  tables: JournalTables = runTables,
): Promise<TextLookup> {
  const runIds = new Set<string>();
  for (const { run_id, result } of runs) if (refers(result)) runIds.add(run_id);
  for (const { run_id, input, output } of steps) if (refers(input) || refers(output)) runIds.add(run_id);
  if (runIds.size === 0) return noTexts;
  const parts = new Map<string, string[]>();
  const rows = await database.read<Pick<RunTextsTable, 'run_id' | 'text_id' | 'payload'>>(
    statementsOf(tables).readTexts,
    [[...runIds]],
  );
  for (const { run_id, text_id, payload } of rows) {
    const key = keyOf(run_id, text_id);
    const known = parts.get(key);
    if (known === undefined) parts.set(key, [payload]);
    else known.push(payload);
  }
  const texts = new Map(Array.from(parts, ([key, all]) => [key, joinedParts(all)]));
  // a run that was removed since its row was read has none
  return (runId, textId) => texts.get(keyOf(runId, textId)) ?? '';
}

function refers(column: string | null): boolean {
  return column !== null && isPacked(column);
}

function keyOf(runId: string, textId: string): string {
  return `${textId} ${runId}`;
}
