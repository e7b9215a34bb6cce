import type { Score } from '../../core/evals/scorer.js';
import {
  type Database,
  type RunStatement,
  type SqlValue,
  statement,
} from '../../platform/storage/database.js';
import { storedJson, storedJsonOrNull } from '../../platform/storage/text.js';
import type { StoredResult } from './stored-eval.js';
import type { EvalResultsTable } from './tables.js';

const columns = [
  'eval_run_id',
  'position',
  'case_id',
  'iteration',
  'input',
  'expected_output',
  'output',
  'status',
  'scores',
  'error',
  'run_id',
  'session_id',
  'duration_ms',
  'run_time_ms',
  'memory_bytes',
  'usage',
  'created_at',
] as const;

/** Stored once, however often it is tried; and not for an eval that was deleted. The row of the eval is locked first. */
const hold = statement(
  'hold_eval_run',
  'UPDATE eval_runs SET updated_at = ? WHERE eval_run_id = ? RETURNING eval_run_id',
);

const insert = statement(
  'insert_eval_result',
  `INSERT INTO eval_results (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
   ON CONFLICT (eval_run_id, position) DO NOTHING RETURNING position`,
);

const count = statement(
  'count_eval_result',
  'UPDATE eval_runs SET done = done + 1, failed = failed + ? WHERE eval_run_id = ?',
);

const readPiece = statement(
  'read_eval_results',
  'SELECT * FROM eval_results WHERE eval_run_id = ? AND position > ? ORDER BY position LIMIT ?',
);

const readOutcomes = statement(
  'read_eval_outcomes',
  `SELECT position, case_id, status, scores, run_time_ms FROM eval_results
   WHERE eval_run_id = ? AND position > ? ORDER BY position LIMIT ?`,
);

/** What a comparison needs of a result: no texts. */
export interface EvalOutcomeRow {
  readonly caseId: string;
  readonly status: string;
  readonly scores: Readonly<Record<string, Pick<Score, 'score' | 'passed'>>>;
  readonly runTimeMs: number | null;
}

const outcomesAtOnce = 100;
const readStart = statement(
  'read_eval_results_start',
  'SELECT position FROM eval_results WHERE eval_run_id = ? ORDER BY position LIMIT 1 OFFSET ?',
);

const pieceSize = 20;
const everything = { limit: Number.POSITIVE_INFINITY, offset: 0 };

/** The results of the evals of a database. */
export class EvalResultStore {
  constructor(private readonly database: Database) {}

  /** False when the eval is gone. */
  add(evalId: string, result: StoredResult): Promise<boolean> {
    const { dialect } = this.database;
    return this.database.transaction(async (run: RunStatement) => {
      const held = await run(hold[dialect], [result.createdAt, evalId]);
      if (held.length === 0) return false;
      const isNew = (await run(insert[dialect], valuesOf(evalId, result))).length > 0;
      if (isNew) await run(count[dialect], [hasFailed(result) ? 1 : 0, evalId]);
      return true;
    });
  }

  /** How many results there are of an eval that the caller was shown before. */
  async count(evalId: string): Promise<number> {
    const { total } = await this.database.query
      .selectFrom('eval_results')
      .where('eval_run_id', '=', evalId)
      .select((select) => select.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return Number(total);
  }

  /** The outcomes of all results, for who was shown the eval before. */
  async *outcomes(evalId: string): AsyncGenerator<EvalOutcomeRow> {
    type Row = Pick<EvalResultsTable, 'position' | 'case_id' | 'status' | 'scores' | 'run_time_ms'>;
    for (let last = -1; ; ) {
      const rows = await this.database.read<Row>(readOutcomes, [evalId, last, outcomesAtOnce]);
      for (const row of rows) {
        const { case_id: caseId, status, run_time_ms: runTimeMs } = row;
        yield { caseId, status, scores: withoutTexts(storedJson(row.scores)), runTimeMs };
      }
      last = rows.at(-1)?.position ?? last;
      if (rows.length < outcomesAtOnce) return;
    }
  }

  /** Results of an eval in their order, for its job and for who was shown the eval before: all, or those of a page. */
  async *read(
    evalId: string,
    { limit, offset }: { readonly limit: number; readonly offset: number } = everything,
  ): AsyncGenerator<StoredResult> {
    const [first] = await this.database.read<Pick<EvalResultsTable, 'position'>>(readStart, [evalId, offset]);
    if (first === undefined) return;
    let last = first.position - 1;
    // one result may have megabytes: a page is never in memory as a whole
    for (let left = limit; left > 0; ) {
      const asked = Math.min(left, pieceSize);
      const rows = await this.database.read<EvalResultsTable>(readPiece, [evalId, last, asked]);
      for (const row of rows) yield resultFromRow(row);
      if (rows.length < asked) return;
      last = rows.at(-1)?.position ?? last;
      left -= rows.length;
    }
  }
}

/** A comparison holds the scores of all results at once: reasons and details may be long. */
function withoutTexts(scores: StoredResult['scores']): EvalOutcomeRow['scores'] {
  return Object.fromEntries(
    Object.entries(scores).map(([name, { score, passed }]) => [name, { score, passed }]),
  );
}

/** Whether there is no complete verdict on it. */
function hasFailed({ status, error }: StoredResult): boolean {
  return status !== 'completed' || error !== null;
}

function valuesOf(evalId: string, result: StoredResult): SqlValue[] {
  const row: EvalResultsTable = {
    eval_run_id: evalId,
    position: result.position,
    case_id: result.caseId,
    iteration: result.iteration,
    input: result.input,
    expected_output: result.expectedOutput,
    output: result.output,
    status: result.status,
    scores: JSON.stringify(result.scores),
    error: result.error,
    run_id: result.runId,
    session_id: result.sessionId,
    duration_ms: result.durationMs,
    run_time_ms: result.runTimeMs,
    memory_bytes: result.memoryBytes,
    usage: result.usage && JSON.stringify(result.usage),
    created_at: result.createdAt,
  };
  return columns.map((column) => row[column]);
}

function resultFromRow(row: EvalResultsTable): StoredResult {
  return {
    position: row.position,
    caseId: row.case_id,
    iteration: row.iteration,
    input: row.input,
    expectedOutput: row.expected_output,
    output: row.output,
    // written by `valuesOf` alone
    status: row.status as StoredResult['status'],
    scores: storedJson(row.scores),
    error: row.error,
    runId: row.run_id,
    sessionId: row.session_id,
    durationMs: row.duration_ms,
    runTimeMs: row.run_time_ms,
    memoryBytes: row.memory_bytes,
    usage: storedJsonOrNull(row.usage),
    createdAt: row.created_at,
  };
}
