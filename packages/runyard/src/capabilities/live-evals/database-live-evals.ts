import { isReported } from '../../core/errors/errors.js';
import type { LiveEval } from '../../core/evals/live-eval.js';
import { idFrom } from '../../core/ids.js';
import type { Log } from '../../core/log.js';
import type { Job } from '../../core/runs/jobs/job.js';
import type { Jobs } from '../../core/runs/jobs/jobs.js';
import type { EndedRun, Run } from '../../core/runs/run.js';
import type { Timers } from '../../core/timers.js';
import type { LiveEvalInput } from './live-eval-job.js';
import type { ChosenRun, LiveEvalStore } from './store.js';

export interface DatabaseLiveEvalsOptions {
  readonly liveEvals: readonly LiveEval[];
  readonly store: Pick<LiveEvalStore, 'choose' | 'unchosen'>;
  readonly jobs: () => Pick<Jobs, 'start'>;
  readonly job: Job<LiveEvalInput, unknown>;
  readonly timers: Timers;
  readonly log: Log;
}

/** How many runs are noted in one transaction. */
const notedTogether = 100;
/** How many runs wait in memory to be noted. What is beyond that is found by the next look. */
const mostWaiting = 10_000;
/** How often to look for runs whose process ended before it noted them, and how far back. */
const lookMs = 300_000;
const lookBackMs = 3_600_000;
const seenAtOnce = 2_000;

/** The sessions of evals: their runs are graded by them, and are no traffic. */
const ofAnEval = /^eval_[0-9a-f-]{36}_/;

/**
 * Chooses the runs of one database that live evals grade. It works beside the runs: a run that ends is put into a list,
 * and all else happens later. What a process could not note before it ended, another look finds.
 */
export class DatabaseLiveEvals {
  readonly #options: DatabaseLiveEvalsOptions;
  #waiting: ChosenRun[] = [];
  #noting: Promise<void> | undefined;
  #stopped = false;
  #stopTimer: () => void = () => {};

  constructor(options: DatabaseLiveEvalsOptions) {
    this.#options = options;
  }

  /** Called for each run that pauses or ends here: it only remembers which. */
  rested({ run }: Pick<EndedRun, 'run'>): void {
    if (run.parentRunId !== null || (run.status !== 'completed' && run.status !== 'error')) return;
    for (const liveEval of this.#options.liveEvals) if (liveEval.isOf(run)) this.#take(liveEval, run);
  }

  start(): void {
    this.#stopTimer = this.#options.timers.every(lookMs, () => void this.look());
    // what a start does first must not wait for it
    this.#options.timers.soon(() => void this.look());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopTimer();
    await this.#noting;
  }

  /** Finds the runs of the last hour that no process has noted. */
  async look(): Promise<void> {
    const { liveEvals, store, timers } = this.#options;
    await this.#quietly(async () => {
      for (const liveEval of liveEvals) {
        if (this.#stopped) return;
        const found = await store.unchosen(liveEval, timers.now() - lookBackMs, seenAtOnce);
        for (const run of found) this.#take(liveEval, run);
      }
      await this.#noting;
    });
  }

  #take(liveEval: LiveEval, { runId, sessionId }: Pick<Run, 'runId' | 'sessionId'>): void {
    if (this.#waiting.length >= mostWaiting || this.#stopped) return;
    if (ofAnEval.test(sessionId) || !liveEval.samples(runId)) return;
    const { name, maxPerHour } = liveEval;
    this.#waiting.push({ runId, eval: name, maxPerHour });
    this.#noting ??= this.#quietly(() => this.#noteWaiting()).finally(() => {
      this.#noting = undefined;
    });
  }

  async #noteWaiting(): Promise<void> {
    const { store, jobs, job, timers } = this.#options;
    // the turn in which a run ends is the run's
    await new Promise<void>((resolve) => timers.soon(resolve));
    while (this.#waiting.length > 0 && !this.#stopped) {
      const some = this.#waiting.splice(0, notedTogether);
      for (const { runId, eval: name } of await store.choose(some)) {
        const jobId = idFrom(`live-eval\n${name}\n${runId}`);
        await jobs().start(job, { runId, eval: name }, { jobId });
      }
    }
  }

  /** A failure concerns no run: the next look finds what was not noted. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#waiting = [];
      if (!isReported(error) && !this.#stopped)
        this.#options.log.warn({ err: error }, 'runs could not be chosen for live evals; trying again later');
    }
  }
}
