import {
  bestExchanges,
  type Recall,
  type RecalledExchange,
  type RecallOwner,
  type RecallQuery,
  searchedExchanges,
} from './recall.js';
import type { Run } from './run.js';

/** What agents recall that are run without a service: as long as the journal in memory has the runs. */
export class InProcessRecall implements Recall {
  private readonly vectors = new Map<string, { vector: Float32Array; embedder: string }>();

  /** `runs`: those of the journal, the oldest first. */
  constructor(private readonly runs: () => readonly Run[]) {}

  async put(runId: string, vector: Float32Array, embedder: string): Promise<void> {
    this.vectors.set(runId, { vector, embedder });
    this.forget();
  }

  async nearest(owner: RecallOwner, query: RecallQuery): Promise<readonly RecalledExchange[]> {
    // loaded by the first search: a start does not need it
    const { similarityOf } = await import('../knowledge/search/bit-vectors.js');
    const completed = this.runs().filter((run) => run.status === 'completed' && isOf(owner, run));
    const compared = completed.slice(-searchedExchanges).flatMap(({ runId }) => {
      const known = this.vectors.get(runId);
      if (known?.embedder !== query.embedder || known.vector.length !== query.vector.length) return [];
      return [{ runId, similarity: similarityOf(known.vector, query.vector) }];
    });
    return bestExchanges(compared, query).map(({ runId, similarity }) => {
      // it is one of them
      const { sessionId } = completed.find((run) => run.runId === runId)!;
      const session = completed.filter((run) => run.sessionId === sessionId);
      const at = session.findIndex((run) => run.runId === runId);
      const around = session.slice(Math.max(at - query.before, 0), at + query.after + 1);
      return { runId, similarity, runIds: around.map((run) => run.runId) };
    });
  }

  /** The journal forgets runs too. */
  private forget(): void {
    if (this.vectors.size < 2 * searchedExchanges) return;
    const known = new Set(this.runs().map(({ runId }) => runId));
    for (const runId of this.vectors.keys()) if (!known.has(runId)) this.vectors.delete(runId);
  }
}

function isOf({ userId, kind, componentId, sessionId }: RecallOwner, run: Run): boolean {
  if (run.kind !== kind || run.componentId !== componentId || run.userId !== userId) return false;
  return sessionId === undefined ? userId !== null : run.sessionId === sessionId;
}
