import type { ModelUsage, RunWrite, UsageWrite } from '../../core/runs/journal/ports.js';
import type { SqlValue } from '../../platform/storage/database.js';
import { encodeText } from '../../platform/storage/text.js';
import {
  columnsOf,
  type Fields,
  noRows,
  type PlanBuilder,
  type RowDelete,
  type RowInsert,
  type Rows,
  rowsOf,
  valuesOf,
} from '../../platform/storage/write-plan.js';
import { dayOf } from './day.js';
import type { RunUsageTable } from './tables.js';

const fields: Fields<
  RunUsageTable,
  [used: ModelUsage, runCount: number, runId: string, run: UsageWrite['run']]
> = [
  ['session_id', (_used, _count, _id, run) => run.sessionId],
  ['run_id', (_used, _count, runId) => runId],
  ['purpose', (used) => used.purpose],
  ['provider', (used) => used.provider],
  ['model', (used) => used.model],
  ['kind', (_used, _count, _id, run) => run.kind],
  ['user_id', (_used, _count, _id, run) => run.userId],
  ['day integer', (_used, _count, _id, run) => dayOf(run.createdAt)],
  ['run_count integer', (_used, runCount) => runCount],
  ['input_tokens bigint', (used) => used.inputTokens],
  ['output_tokens bigint', (used) => used.outputTokens],
  ['total_tokens bigint', (used) => used.totalTokens],
  ['audio_input_tokens bigint', (used) => used.audioInputTokens],
  ['audio_output_tokens bigint', (used) => used.audioOutputTokens],
  ['audio_total_tokens bigint', (used) => used.audioInputTokens + used.audioOutputTokens],
  ['cache_read_tokens bigint', (used) => used.cacheReadTokens],
  ['cache_write_tokens bigint', (used) => used.cacheWriteTokens],
  ['reasoning_tokens bigint', (used) => used.reasoningTokens],
  ['cost double precision', (used) => used.cost],
];

const writeUsage: RowInsert = {
  does: 'insert',
  name: 'written_usage',
  table: 'run_usage',
  columns: columnsOf(fields),
  // Any process may write: only the database's own time is comparable.
  computed: { updated_at: ({ now }) => now },
  key: ['session_id', 'run_id', 'purpose', 'provider', 'model'],
  conflict: 'replace',
};

/** PostgreSQL writes a row once in a statement: it leaves what stays to `writeUsage`, and does not remove it first. */
const removeUsage: RowDelete = {
  does: 'delete',
  name: 'removed_usage',
  table: 'run_usage',
  columns: ['session_id', 'run_id', 'kept'],
  where: ({ dialect }) => {
    const ofRun = 'stored.session_id = given.session_id AND stored.run_id = given.run_id';
    if (dialect === 'sqlite') return ofRun;
    return `${ofRun} AND NOT EXISTS (
      SELECT 1 FROM json_array_elements(given.kept::json) AS kept (entry)
      WHERE entry ->> 0 = stored.purpose AND entry ->> 1 = stored.provider AND entry ->> 2 = stored.model)`;
  },
};

/** What the runs have used replaces what was stored of them. */
export function addUsageEffects(plan: PlanBuilder, writes: readonly RunWrite[]): void {
  plan.effect(removeUsage, rowsOf(writes, removed));
  plan.effect(writeUsage, rowsOf(writes, written));
}

/** One that was never taken up again rests for the first time. */
function removed({ runId, usage, attempt }: RunWrite): Rows {
  if (usage === undefined || attempt === 1) return noRows;
  const kept = [...usage.runs.map((counted) => ({ ...counted, purpose: '' })), ...usage.models];
  const keys = kept.map(({ purpose, provider, model }) => [purpose, provider, model].map(encodeText));
  return [[usage.run.sessionId, runId, JSON.stringify(keys)]];
}

function written({ runId, usage }: RunWrite): Rows {
  if (usage === undefined) return noRows;
  const { run, runs, models } = usage;
  const rows: SqlValue[][] = [];
  for (const { provider, model, count } of runs)
    rows.push(valuesOf(fields, { purpose: '', provider, model, ...nothingUsed }, count, runId, run));
  for (const used of models) rows.push(valuesOf(fields, used, 0, runId, run));
  return rows;
}

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
