import type { RetryBackoff } from '../../async/back-off.js';
import type { JobProgress } from '../../events/job-event.js';
import type { Log } from '../../log.js';
import { checkOptions } from '../../options/check-options.js';
import { callable, count, json, name, objectOf, required } from '../../options/kinds.js';
import type { Timers } from '../../timers.js';
import type { StepScope } from '../context.js';
import type { CallApplication } from '../execution/code-owner.js';
import type { Codec } from '../journal/codec.js';
import type { AnyLimits } from '../limits/run-limits.js';
import type { RunPorts } from '../run-ports.js';

/**
 * Long work of the service itself, such as ingesting content: an execution of the heart that belongs to no component
 * and no session. Its steps are in a journal, so that it continues after a crash where it was; a lease, retries,
 * cancellation and events are those of runs. `Jobs` (`jobs.ts`) starts and follows jobs.
 */
export interface JobOptions<Input, Result> {
  /** Identifies the work among all jobs of the service: `ingestion`. Stored with each job. */
  readonly kind: string;
  /** What the work is given. It is stored, so that any process can do the work: secrets have no place in it. */
  readonly input: Codec<Input>;
  /** What the work ends with. */
  readonly result: Codec<Result>;
  /** How much one job may do. Left out: 100,000 steps, a week, 256 MiB of records. */
  readonly limits?: Pick<AnyLimits, 'steps' | 'timeMs' | 'bytes'>;
  /** How many a process executes at once, apart from all other jobs. Left out: they share `maxJobs`. */
  readonly ownSlots?: number;
  /** Does the work. Everything that must not be repeated after a crash, or that takes long, is a step. */
  execute(context: JobContext, input: Input): Promise<Result>;
}

export type Job<Input = unknown, Result = unknown> = Readonly<JobOptions<Input, Result>>;

/** What the code of a job works with. */
export interface JobContext {
  readonly jobId: string;
  /** Counts the executions of this job: 1, and more after a crash or a stop. */
  readonly attempt: number;
  /** For whom the work is done; null for no user in particular. */
  readonly userId: string | null;
  /** Aborted when the job is cancelled, when it meets a limit, and when this process hands it over. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly timers: Timers;
  /** What runs may ask of the capabilities. */
  readonly ports: RunPorts;
  /** Calls a function of the application on behalf of this job. */
  readonly callApplication: CallApplication;
  /**
   * Does a part of the work once: when the job is executed again, a step that has ended returns what it recorded. The
   * key identifies it within the job. The end of a step is stored with the next batch: the worst case of a crash is one
   * repeated step, so its effects must bear repetition. Other work of the process comes first before each step.
   */
  step<T>(key: string, step: JobStep<T>, work: (scope: StepScope) => Promise<T>): Promise<T>;
  /** Reports how far the job is. Only the latest of many reports in a short time becomes an event. */
  progress(progress: ReportedProgress): void;
  /** Resolves when all that was done so far is durable: for effects outside of the journal that depend on it. */
  stored(): Promise<void>;
  /** Does work that only waits for something, such as a run: meanwhile another job can have the slot of this one. */
  idle<T>(work: () => Promise<T>): Promise<T>;
}

export interface JobStep<T> {
  /** What the step is, for people. A record under another name is not the record of this step. */
  readonly name: string;
  /** What the work returns. It stays in memory until the job ends: counts and references, not contents. */
  readonly record: Codec<T>;
  /** What a failure of the work is answered with. Left out: it ends the job. */
  readonly retry?: StepRetry;
  /**
   * For work that must not happen twice: its start is durable before it begins, and when its process dies during it,
   * this is what it came to. Left out: it is done again.
   */
  readonly lost?: (message: string) => T;
}

export interface StepRetry {
  /** How often the work is tried again. */
  readonly maxRetries: number;
  /** Default: 0.5 s, doubled each time, at most 30 s. */
  readonly backoff?: RetryBackoff;
  /** Whether this failure is worth another try. Left out: every one is. */
  readonly when?: (error: Error) => boolean;
}

export type ReportedProgress = Pick<JobProgress, 'done' | 'message'> &
  Partial<Pick<JobProgress, 'total' | 'data'>>;

const jobOptions = objectOf<JobOptions<unknown, unknown>>({
  kind: required(name),
  input: required(json),
  result: required(json),
  limits: json,
  ownSlots: count(1),
  execute: required(callable),
});

/** Defines a kind of job. A capability contributes it through `DatabasePart.jobs`. */
export function defineJob<Input, Result>(options: JobOptions<Input, Result>): Job<Input, Result> {
  checkOptions('A job', options, jobOptions);
  return options;
}
