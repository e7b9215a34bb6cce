import type { Score } from '../../core/evals/scorer.js';
import type { Run, RunKind } from '../../core/runs/run.js';
import type { DataScope } from '../../platform/auth/caller.js';
import { type Database, databaseNow, type Statement, statement } from '../../platform/storage/database.js';
import { within } from '../../platform/storage/scope.js';
import type { EvalOutcome } from './tables.js';

/** A finished run that an eval has chosen. */
export interface ChosenRun {
  readonly runId: string;
  readonly eval: string;
  readonly maxPerHour: number;
}

/** A score of a stored run. */
export interface StoredScore extends Pick<Score, 'score' | 'passed'> {
  readonly runId: string;
  readonly eval: string;
  readonly scorer: string;
  readonly reason: string | null;
  readonly judge: { readonly id: string; readonly provider: string } | null;
  readonly createdAt: number;
}

/** What an eval found out about a run. */
export interface GradedRun {
  readonly runId: string;
  readonly eval: string;
  readonly outcome: 'graded' | 'incomplete';
  readonly scores: readonly NamedScore[];
}

export interface NamedScore extends Pick<Score, 'score' | 'passed' | 'reason'> {
  readonly scorer: string;
  /** The model that judged, if one did. */
  readonly judge?: { readonly id: string; readonly provider: string };
}

const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** Those who count what an eval graded in the last hour come one after the other. */
const takeTurn = `SELECT pg_advisory_xact_lock(hashtext('runyard_live_eval'), hashtext($1))`;

/**
 * Only a run that is there and has ended. One that failed and was continued since is chosen anew; any other row stays, so
 * that a run is graded once.
 */
const choose = inBoth(
  'choose_run_for_eval',
  (now) => `
    INSERT INTO run_evals (run_id, eval, kind, component_id, user_id, day, outcome, created_at, updated_at)
    SELECT runs.run_id, CAST(? AS text), runs.kind, runs.component_id, runs.user_id, runs.created_at / ${dayMs},
      CASE WHEN runs.status = 'error' THEN 'failed'
        WHEN (SELECT count(*) FROM run_evals AS others
          WHERE others.eval = ? AND others.created_at > ${now} - ${hourMs}
            AND others.outcome IN ('pending', 'graded', 'incomplete')) < ? THEN 'pending'
        ELSE 'skipped' END,
      ${now}, ${now}
    FROM runs WHERE runs.run_id = ? AND runs.status IN ('completed', 'error')
    ON CONFLICT (run_id, eval) DO UPDATE
      SET outcome = excluded.outcome, created_at = excluded.created_at, updated_at = excluded.updated_at
      WHERE run_evals.outcome = 'failed' AND excluded.outcome <> 'failed'
    RETURNING outcome`,
);

const readOutcome = statement(
  'outcome_of_run_eval',
  'SELECT outcome FROM run_evals WHERE run_id = ? AND eval = ?',
);

const settle = inBoth(
  'settle_run_eval',
  (now) =>
    `UPDATE run_evals SET outcome = ?, updated_at = ${now} WHERE run_id = ? AND eval = ? RETURNING run_id`,
);

const scoreColumns = [
  'run_id',
  'eval',
  'scorer',
  'score',
  'passed',
  'reason',
  'judge_id',
  'judge_provider',
] as const;

const writeScore = statement(
  'write_run_score',
  `INSERT INTO run_scores (${scoreColumns.join(', ')}) VALUES (${scoreColumns.map(() => '?').join(', ')})
   ON CONFLICT (run_id, eval, scorer) DO UPDATE SET ${scoreColumns
     .slice(3)
     .map((column) => `${column} = excluded.${column}`)
     .join(', ')}`,
);

/** Found by the index `runs_by_component`. */
const readUnchosen = statement(
  'runs_without_eval',
  `SELECT run_id, session_id FROM runs
   WHERE parent_run_id IS NULL AND kind = ? AND component_id = ? AND created_at >= ?
     AND status IN ('completed', 'error') AND NOT EXISTS (
       SELECT 1 FROM run_evals
       WHERE run_evals.run_id = runs.run_id AND run_evals.eval = ? AND run_evals.outcome <> 'pending')
   ORDER BY created_at DESC, run_id DESC LIMIT ?`,
);

/** What live evals have chosen and found, in one database. */
export class LiveEvalStore {
  constructor(private readonly database: Database) {}

  /** Notes which runs were chosen, and returns those that are to be graded. Several calls for a run change nothing. */
  choose(runs: readonly ChosenRun[]): Promise<ChosenRun[]> {
    const { dialect } = this.database;
    return this.database.transaction(async (run) => {
      const names = new Set(runs.map((chosen) => chosen.eval));
      // in one order: two processes wait for each other, and not each for the other
      if (dialect === 'postgres') for (const name of [...names].sort()) await run(takeTurn, [name]);
      const toGrade: ChosenRun[] = [];
      for (const chosen of runs) {
        const { runId, eval: name, maxPerHour } = chosen;
        const noted = await run<{ outcome: EvalOutcome }>(choose[dialect], [name, name, maxPerHour, runId]);
        const [row] =
          noted.length > 0 ? noted : await run<{ outcome: EvalOutcome }>(readOutcome[dialect], [runId, name]);
        if (row?.outcome === 'pending') toGrade.push(chosen);
      }
      return toGrade;
    });
  }

  /** Runs that ended and that no process has noted for the eval, or whose grading has not begun; the newest first. */
  async unchosen(
    {
      name,
      kind,
      componentId,
    }: { readonly name: string; readonly kind: RunKind; readonly componentId: string },
    createdSince: number,
    limit: number,
  ): Promise<Pick<Run, 'runId' | 'sessionId'>[]> {
    const parameters = [kind, componentId, createdSince, name, limit];
    const rows = await this.database.read<{ run_id: string; session_id: string }>(readUnchosen, parameters);
    return rows.map((row) => ({ runId: row.run_id, sessionId: row.session_id }));
  }

  /** Stores what was found. Nothing is stored of a run that was deleted meanwhile. */
  async settle({ runId, eval: name, outcome, scores }: GradedRun): Promise<void> {
    const { dialect } = this.database;
    await this.database.transaction(async (run) => {
      const [found] = await run(settle[dialect], [outcome, runId, name]);
      if (found === undefined) return;
      for (const { scorer, score, passed, reason, judge } of scores)
        await run(writeScore[dialect], [
          runId,
          name,
          scorer,
          score,
          passed === null ? null : Number(passed),
          reason ?? null,
          judge?.id ?? null,
          judge?.provider ?? null,
        ]);
    });
  }

  /** The scores of runs that the scope shows, by the ids of the runs. At most 500 runs at once. */
  async ofRuns(scope: DataScope, runIds: readonly string[]): Promise<ReadonlyMap<string, StoredScore[]>> {
    const scores = new Map<string, StoredScore[]>();
    if (runIds.length === 0) return scores;
    const all = this.database.query
      .selectFrom('run_scores')
      .innerJoin('run_evals', (join) =>
        join
          .onRef('run_evals.run_id', '=', 'run_scores.run_id')
          .onRef('run_evals.eval', '=', 'run_scores.eval'),
      )
      .selectAll('run_scores')
      .select('run_evals.updated_at as created_at')
      .where('run_scores.run_id', 'in', runIds)
      .orderBy('run_scores.run_id')
      .orderBy('run_scores.eval')
      .orderBy('run_scores.scorer');
    for (const row of await within(all, scope, 'run_evals.user_id').execute()) {
      const score: StoredScore = {
        runId: row.run_id,
        eval: row.eval,
        scorer: row.scorer,
        score: row.score,
        passed: row.passed === null ? null : row.passed === 1,
        reason: row.reason,
        judge: row.judge_id === null ? null : { id: row.judge_id, provider: row.judge_provider ?? '' },
        createdAt: row.created_at,
      };
      scores.set(row.run_id, [...(scores.get(row.run_id) ?? []), score]);
    }
    return scores;
  }
}

function inBoth(name: string, sql: (now: string) => string): Statement {
  return {
    name,
    sqlite: sql(databaseNow.sqlite),
    postgres: statement(name, sql(databaseNow.postgres)).postgres,
  };
}
