import {
  bestExchanges,
  type Recall,
  type RecalledExchange,
  type RecallOwner,
  type RecallQuery,
  searchedExchanges,
} from '../../core/runs/recall.js';
import { type Database, type SqlValue, type Statement, statement } from '../../platform/storage/database.js';
import { bytesOf, numbersOf } from '../../platform/storage/stored-vector.js';

/** Vectors that one statement reads: a few, because other work waits for it. */
const rowsPerRead = 250;

interface Place {
  readonly runId: string;
  readonly sessionId: string;
}

interface Row {
  run_id: string;
  session_id: string;
  place: number;
  embedder: string | null;
  vector: Uint8Array | null;
}

// of a run that was deleted in the meantime nothing is stored
const put = statement(
  'put_recall_vector',
  `INSERT INTO recall_vectors (run_id, embedder, vector)
   SELECT run_id, CAST(? AS text), ? FROM runs WHERE run_id = ?
   ON CONFLICT (run_id) DO UPDATE SET embedder = excluded.embedder, vector = excluded.vector`,
);

/** The newest runs of the owner first, along an index; only then their vectors. `place`: what they are ordered by. */
const ownRuns = (owned: string, place: string): string => `
  SELECT own.run_id, own.session_id, own.place, recall_vectors.embedder, recall_vectors.vector
  FROM (SELECT run_id, session_id, ${place} AS place, status FROM runs
    WHERE ${owned} AND parent_run_id IS NULL AND (${place}, run_id) < (CAST(? AS bigint), ?)
    ORDER BY ${place} DESC, run_id DESC LIMIT ${rowsPerRead}) AS own
  LEFT JOIN recall_vectors ON recall_vectors.run_id = own.run_id AND own.status = 'completed'
  ORDER BY own.place DESC, own.run_id DESC`;

const runsOfUser = statement(
  'recall_runs_of_user',
  ownRuns('user_id = ? AND kind = ? AND component_id = ?', 'created_at'),
);

// Within a session its order is followed: the plus signs keep SQLite from all runs of the component.
const ofSession = 'session_id = ? AND kind = ? AND component_id = ?';
const alongSession = 'session_id = ? AND +kind = ? AND +component_id = ?';

const runsOfSession: Statement = {
  ...statement('recall_runs_of_session', ownRuns(ofSession, 'session_seq')),
  sqlite: ownRuns(alongSession, 'session_seq'),
};

const around = (where: string, comparison: string, order: string): string => `
  SELECT run_id FROM runs
  WHERE ${where} AND status = 'completed'
    AND session_seq ${comparison} (SELECT found.session_seq FROM runs AS found WHERE found.run_id = ?)
  ORDER BY session_seq ${order}, run_id ${order} LIMIT ?`;

const neighbours = (name: string, comparison: string, order: string): Statement => ({
  ...statement(name, around(ofSession, comparison, order)),
  sqlite: around(alongSession, comparison, order),
});

const runsBefore = neighbours('recall_runs_before', '<', 'DESC');
const runsAfter = neighbours('recall_runs_after', '>', 'ASC');

/** The vectors of the runs of one database. */
export class RecallStore implements Recall {
  constructor(private readonly database: Database) {}

  async put(runId: string, vector: Float32Array, embedder: string): Promise<void> {
    await this.database.change(put, [embedder, bytesOf(vector), runId]);
  }

  async nearest(owner: RecallOwner, query: RecallQuery): Promise<readonly RecalledExchange[]> {
    const best = bestExchanges(await this.compared(owner, query), query);
    return Promise.all(
      best.map(async (found) => ({
        runId: found.runId,
        similarity: found.similarity,
        runIds: [
          ...(await this.neighbours(runsBefore, owner, found, query.before)).reverse(),
          found.runId,
          ...(await this.neighbours(runsAfter, owner, found, query.after)),
        ],
      })),
    );
  }

  /** The newest runs with their similarity, in rounds: other work of the process comes in between. */
  private async compared(owner: RecallOwner, { vector, embedder }: RecallQuery) {
    const { userId, kind, componentId, sessionId } = owner;
    const [runs, owned] = sessionId === undefined ? [runsOfUser, userId] : [runsOfSession, sessionId];
    const compared: (Place & { similarity: number })[] = [];
    // a run without a user is in a session, and in no list of a user
    if (owned === null) return compared;
    // loaded by the first search: a start does not need it
    const { similarityOf } = await import('../../core/knowledge/search/bit-vectors.js');
    let last: readonly [number, string] = [Number.MAX_SAFE_INTEGER, ''];
    for (let read = 0; read < searchedExchanges; read += rowsPerRead) {
      const rows = await this.database.read<Row>(runs, [owned, kind, componentId, ...last]);
      for (const row of rows) {
        if (row.vector === null || row.embedder !== embedder) continue;
        const stored = numbersOf(row.vector);
        if (stored.length !== vector.length) continue;
        const { run_id: runId, session_id: session } = row;
        compared.push({ runId, sessionId: session, similarity: similarityOf(stored, vector) });
      }
      const oldest = rows.at(-1);
      if (oldest === undefined || rows.length < rowsPerRead) break;
      last = [oldest.place, oldest.run_id];
    }
    return compared;
  }

  private async neighbours(
    runs: Statement,
    { kind, componentId }: RecallOwner,
    { sessionId, runId }: Place,
    count: number,
  ): Promise<string[]> {
    if (count === 0) return [];
    const parameters: SqlValue[] = [sessionId, kind, componentId, runId, count];
    const rows = await this.database.read<{ run_id: string }>(runs, parameters);
    return rows.map((row) => row.run_id);
  }
}
