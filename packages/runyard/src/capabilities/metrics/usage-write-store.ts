import type { ModelUsage, RunWrite, UsageWrite } from '../../core/runs/journal/ports.js';
import { databaseNow, type WriteRow } from '../../platform/storage/database.js';
import type { BatchSection } from '../../platform/storage/postgres/batch.js';
import { encodeText } from '../../platform/storage/text.js';
import { dayOf } from './day.js';
import type { RunUsageTable } from './tables.js';

/** Columns in one order. Whatever process writes, `updated_at` is the database's own time: it is filled in there. */
const columns = [
  ['session_id', 'text'],
  ['run_id', 'text'],
  ['purpose', 'text'],
  ['provider', 'text'],
  ['model', 'text'],
  ['kind', 'text'],
  ['user_id', 'text'],
  ['day', 'integer'],
  ['run_count', 'integer'],
  ['input_tokens', 'bigint'],
  ['output_tokens', 'bigint'],
  ['total_tokens', 'bigint'],
  ['audio_input_tokens', 'bigint'],
  ['audio_output_tokens', 'bigint'],
  ['audio_total_tokens', 'bigint'],
  ['cache_read_tokens', 'bigint'],
  ['cache_write_tokens', 'bigint'],
  ['reasoning_tokens', 'bigint'],
  ['cost', 'double precision'],
] as const satisfies readonly (readonly [keyof RunUsageTable, string])[];

const names = columns.map(([name]) => name);
const keyColumns = 5;

const replaceValues = [...names.slice(keyColumns), 'updated_at']
  .map((name) => `${name} = excluded.${name}`)
  .join(', ');

const insertInto = `INSERT INTO run_usage (${names.join(', ')}, updated_at)`;
const onConflict = `ON CONFLICT (session_id, run_id, purpose, provider, model) DO UPDATE SET ${replaceValues}`;

export const writeUsage: BatchSection = {
  name: 'written_usage',
  columns,
  sql: (given) => `
    ${insertInto} SELECT ${names.map((name) => `given.${name}`).join(', ')}, ${databaseNow.postgres} FROM ${given}
    ORDER BY given.session_id, given.run_id, given.purpose, given.provider, given.model ${onConflict}`,
};

/** A row is written once in a statement: what stays is not removed first, but left to `writeUsage`. */
export const removeUsage: BatchSection = {
  name: 'removed_usage',
  columns: [
    ['session_id', 'text'],
    ['run_id', 'text'],
    ['kept', 'text'],
  ],
  sql: (given) => `
    DELETE FROM run_usage USING ${given}
    WHERE run_usage.session_id = given.session_id AND run_usage.run_id = given.run_id
      AND NOT EXISTS (
        SELECT 1 FROM json_array_elements(given.kept::json) AS kept (entry)
        WHERE entry ->> 0 = run_usage.purpose AND entry ->> 1 = run_usage.provider
          AND entry ->> 2 = run_usage.model)`,
};

const insertRow = `
  ${insertInto} VALUES (${names.map(() => '?').join(', ')}, ${databaseNow.sqlite}) ${onConflict}`;

const removeRows = 'DELETE FROM run_usage WHERE session_id = ? AND run_id = ?';

/** What a write changes on SQLite. */
export function sqliteUsageRows(write: RunWrite): WriteRow[] {
  const { usage, runId } = write;
  if (usage === undefined) return [];
  const rows: WriteRow[] = usageValues(runId, usage).map((parameters) => ({ sql: insertRow, parameters }));
  if (!mayHaveRows(write)) return rows;
  return [{ sql: removeRows, parameters: [usage.run.sessionId, runId] }, ...rows];
}

/** The same for a batch on PostgreSQL. */
export function usageRows(writes: readonly RunWrite[]): { written: unknown[][]; removed: unknown[][] } {
  const written: unknown[][] = [];
  const removed: unknown[][] = [];
  for (const write of writes) {
    const { runId, usage } = write;
    if (usage === undefined) continue;
    const values = usageValues(runId, usage);
    written.push(...values);
    if (mayHaveRows(write)) removed.push([usage.run.sessionId, runId, keptKeys(values)]);
  }
  return { written, removed };
}

/** One that was never taken up again rests for the first time. */
function mayHaveRows({ attempt }: RunWrite): boolean {
  return attempt > 1;
}

function keptKeys(values: readonly (readonly ColumnValue[])[]): string {
  return JSON.stringify(values.map((row) => row.slice(2, keyColumns).map((key) => encodeText(String(key)))));
}

type ColumnValue = string | number | null;

const nothingUsed: Omit<ModelUsage, 'purpose' | 'provider' | 'model'> = {
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  audioInputTokens: 0,
  audioOutputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  cost: null,
};

function usageValues(runId: string, { run, runs, models }: UsageWrite): ColumnValue[][] {
  const row = (used: ModelUsage, runCount: number): ColumnValue[] => [
    run.sessionId,
    runId,
    used.purpose,
    used.provider,
    used.model,
    run.kind,
    run.userId,
    dayOf(run.createdAt),
    runCount,
    used.inputTokens,
    used.outputTokens,
    used.totalTokens,
    used.audioInputTokens,
    used.audioOutputTokens,
    used.audioInputTokens + used.audioOutputTokens,
    used.cacheReadTokens,
    used.cacheWriteTokens,
    used.reasoningTokens,
    used.cost,
  ];
  return [
    ...runs.map(({ provider, model, count }) => row({ purpose: '', provider, model, ...nothingUsed }, count)),
    ...models.map((used) => row(used, 0)),
  ];
}
