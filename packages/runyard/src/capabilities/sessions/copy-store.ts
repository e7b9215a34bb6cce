import type { JsonObject } from '../../core/json.js';
import { type Database, type RunStatement, statement } from '../../platform/storage/database.js';
import { storedJsonOrNull } from '../../platform/storage/text.js';

export interface CopiedSession {
  readonly sourceSessionId: string;
  readonly newSessionId: string;
  readonly now: number;
}

const readMetadata = statement('metadata_to_copy', 'SELECT metadata FROM sessions WHERE session_id = ?');

const copyRow = statement(
  'copy_session',
  `INSERT INTO sessions
     (session_id, kind, component_id, user_id, name, search_name, metadata, created_at, updated_at, last_run_seq)
   SELECT ?, kind, component_id, user_id, name, search_name, ?, ?, ?, last_run_seq FROM sessions WHERE session_id = ?`,
);

const copyState = statement(
  'copy_session_state',
  `INSERT INTO session_state (session_id, key, value)
   SELECT ?, key, value FROM session_state WHERE session_id = ?`,
);

const copySummary = statement(
  'copy_session_summary',
  `INSERT INTO session_summaries (session_id, summary, topics, covers_until, updated_at)
   SELECT ?, summary, topics, covers_until, updated_at FROM session_summaries WHERE session_id = ?`,
);

/**
 * A session without its runs, as part of a transaction: the row, its state, its summary. The summary of a part of the
 * session is not known.
 */
export async function copySessionRows(
  { dialect }: Database,
  run: RunStatement,
  { sourceSessionId, newSessionId, now }: CopiedSession,
  isWhole: boolean,
): Promise<void> {
  const [source] = await run<{ metadata: string | null }>(readMetadata[dialect], [sourceSessionId]);
  const metadata = {
    ...storedJsonOrNull<JsonObject>(source?.metadata ?? null),
    forked_from_session_id: sourceSessionId,
  };
  await run(copyRow[dialect], [newSessionId, JSON.stringify(metadata), now, now, sourceSessionId]);
  await run(copyState[dialect], [newSessionId, sourceSessionId]);
  if (isWhole) await run(copySummary[dialect], [newSessionId, sourceSessionId]);
}
