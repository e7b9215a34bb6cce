import type { Database, Statement } from '../../platform/storage/database.js';

/** What the runs of a session used of one model for one purpose. The row without a purpose holds zeros: it shows that there are runs. */
export interface SessionUsage {
  readonly purpose: string;
  readonly provider: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly audio_input_tokens: number;
  readonly audio_output_tokens: number;
  readonly audio_total_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  /** US dollars; null when no price is known. */
  readonly cost: number | null;
}

export const tokenCounts = [
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'audio_input_tokens',
  'audio_output_tokens',
  'audio_total_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
] as const satisfies readonly (keyof SessionUsage)[];

// PostgreSQL sums up to a type that the driver hands over as text.
const sums = tokenCounts.map((column) => `CAST(sum(${column}) AS bigint) AS ${column}`).join(', ');
const zeros = tokenCounts.map((column) => `0 AS ${column}`).join(', ');

/** Half of the rows are those of the runs themselves, without a purpose: of these only their existence is read. */
const sumUsage = (ids: string) => `
  SELECT session_id, purpose, provider, model, ${sums}, sum(cost) AS cost
  FROM run_usage WHERE session_id ${ids} AND purpose <> '' GROUP BY session_id, purpose, provider, model
  UNION ALL
  SELECT session_id, '' AS purpose, '' AS provider, '' AS model, ${zeros}, NULL AS cost
  FROM sessions WHERE session_id ${ids}
  AND EXISTS (SELECT 1 FROM run_usage WHERE run_usage.session_id = sessions.session_id)`;

const readUsage: Statement = {
  name: 'usage_of_sessions',
  sqlite: sumUsage('IN (SELECT value FROM json_each(?1))'),
  postgres: sumUsage('= ANY($1::text[])'),
};

/** What all runs of each session used, by session id: one statement for all of them. */
export async function usageOf(
  database: Database,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly SessionUsage[]>> {
  const usage = new Map<string, SessionUsage[]>();
  const rows = await database.read<SessionUsage & { session_id: string }>(readUsage, [sessionIds]);
  rows.sort(byPurposeAndModel);
  for (const { session_id: sessionId, ...row } of rows) {
    const known = usage.get(sessionId);
    if (known === undefined) usage.set(sessionId, [row]);
    else known.push(row);
  }
  return usage;
}

function byPurposeAndModel(one: SessionUsage, other: SessionUsage): number {
  for (const name of ['purpose', 'provider', 'model'] as const)
    if (one[name] !== other[name]) return one[name] < other[name] ? -1 : 1;
  return 0;
}
