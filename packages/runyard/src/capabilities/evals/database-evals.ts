import type { EventReader } from '../../core/runs/events/event-reader.js';
import type { Job } from '../../core/runs/jobs/job.js';
import type { Jobs } from '../../core/runs/jobs/jobs.js';
import type { DataScope } from '../../platform/auth/caller.js';
import { type EvalJobInput, type EvalJobParts, type EvalJobResult, evalJob, settle } from './eval-job.js';
import type { EvalResultStore } from './results-store.js';
import type { EvalStore } from './store.js';
import type { StoredEval, StoredPlan } from './stored-eval.js';

/** So long after its row, an eval may be without its job. */
const freshMs = 60_000;

/** The evals of one database, and the jobs that execute them. */
export class DatabaseEvals {
  readonly store: EvalStore;
  readonly results: EvalResultStore;
  readonly job: Job<EvalJobInput, EvalJobResult>;

  constructor(
    parts: EvalJobParts,
    private readonly jobs: () => Jobs,
  ) {
    this.store = parts.store;
    this.results = parts.results;
    this.job = evalJob(parts);
  }

  /** Resolves when the eval is stored and will be executed, whatever happens to this process. */
  async start(stored: StoredEval, plan: StoredPlan): Promise<void> {
    await this.store.add(stored, plan);
    await this.jobs().start(this.job, { evalId: stored.id }, { jobId: stored.id, userId: stored.userId });
  }

  /** Waits for the end, in whichever process. */
  async ended(evalId: string, signal: AbortSignal): Promise<void> {
    await this.jobs().ended(this.job, evalId, signal);
  }

  /** As it is now. */
  async find(scope: DataScope, evalId: string): Promise<StoredEval | undefined> {
    const stored = await this.store.find(scope, evalId);
    return stored && this.current(scope, stored);
  }

  /** One whose process could not say how it ended is settled by what its job says. Undefined when it is gone. */
  async current(scope: DataScope, stored: StoredEval): Promise<StoredEval | undefined> {
    return (await this.settled(stored)) ? this.store.find(scope, stored.id) : stored;
  }

  /** Ends it, if it has not ended. */
  async cancel({ id, status }: StoredEval, reason: string): Promise<void> {
    if (status !== 'pending' && status !== 'running') return;
    const hasEnded = await this.jobs().cancel(this.job, id, reason);
    // a job that never began leaves it to others to say so
    if (hasEnded) await this.end(id, { status: 'cancelled' });
  }

  /** The events of its job; undefined when they are no longer stored. */
  async events(evalId: string, after: number): Promise<EventReader | undefined> {
    const state = await this.jobs().find(this.job, evalId);
    return state === undefined ? undefined : this.jobs().events(evalId, Math.max(after + 1, 0));
  }

  /** Whether it was found to have ended. */
  private async settled({ id, status, updatedAt }: StoredEval): Promise<boolean> {
    if (status !== 'pending' && status !== 'running') return false;
    // who asks how far it is must not read all that it has done
    if (await this.jobs().isUnfinished(id)) return false;
    const job = await this.jobs().find(this.job, id);
    if (job === undefined && Date.now() - updatedAt < freshMs) return false;
    const error = job?.error?.message ?? 'The eval did not end';
    await this.end(id, job?.status === 'cancelled' ? { status: 'cancelled' } : { status: 'error', error });
    return true;
  }

  private async end(evalId: string, end: Parameters<typeof settle>[3]): Promise<void> {
    const found = await this.store.withPlan(evalId);
    if (found !== undefined) await settle(this, evalId, found.plan.evaluation, end);
  }
}
