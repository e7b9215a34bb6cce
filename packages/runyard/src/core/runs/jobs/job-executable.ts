import { pause } from '../../async/abort.js';
import { backOffMs, defaultBackoff } from '../../async/back-off.js';
import { thrownError } from '../../errors/thrown-error.js';
import type { JobProgress } from '../../events/job-event.js';
import type { RunEvent } from '../../events/run-event.js';
import { parseJson } from '../../json.js';
import { storable } from '../../storable-json.js';
import type { RunContext, StepScope } from '../context.js';
import type { Executable, RunEnd } from '../executable.js';
import { resumeTries } from '../execution/failed-tries.js';
import { decoded } from '../journal/codec.js';
import { jobKind, type Run, type RunResult } from '../run.js';
import type { Job, JobContext, JobStep, ReportedProgress, StepRetry } from './job.js';

/** At most one report of progress in this time becomes an event. */
const progressMs = 250;

/** What the heart executes for a job. */
export function jobExecutable(job: Job): Executable {
  return {
    ...standInForJob(job.kind),
    ...(job.limits !== undefined && { limits: job.limits }),
    execute: (context) => execute(job, context),
  };
}

/** Ends jobs of a kind that this process does not have. */
export function standInForJob(kind: string): Executable {
  return {
    kind: jobKind,
    id: kind,
    name: null,
    model: null,
    initialState: {},
    eventFields: { kind },
    execute: () => Promise.reject(new Error(`No job of the kind '${kind}' is registered in this process.`)),
    endEvents: (end) => [endEvent(end)],
  };
}

/** What the input of a job is stored as. */
export function inputOf(job: Job, jobId: string, input: unknown): Run['input'] {
  const stored = storable(decoded(job.input, input, placeOf(jobId)), `the input of the job '${job.kind}'`);
  return { content: JSON.stringify(stored), media: [], options: { stream: false } };
}

async function execute(job: Job, context: RunContext): Promise<RunResult> {
  const { runId, input, attempt } = context.run;
  context.emit({ event: 'JobStarted', attempt }, `started:${attempt}`);
  const reports = new ProgressReports(context);
  try {
    const given = decoded(job.input, parseJson(input.content), placeOf(runId));
    const result = await job.execute(contextOf(context, reports), given);
    const content = storable(decoded(job.result, result, placeOf(runId)), 'the result of the job');
    return { content, contentType: 'dict' };
  } finally {
    reports.end();
  }
}

function placeOf(jobId: string) {
  return { runId: jobId, key: 'job' };
}

function contextOf(context: RunContext, reports: ProgressReports): JobContext {
  const { run, log, timers, ports, callApplication } = context;
  return {
    jobId: run.runId,
    attempt: run.attempt,
    userId: run.userId,
    signal: context.signal,
    log,
    timers,
    ports,
    callApplication,
    step: (key, step, work) => jobStep(context, key, step, work),
    progress: (progress) => reports.report(progress),
    stored: () => context.stored(),
    idle: (work) => context.idle(work),
  };
}

async function jobStep<T>(
  context: RunContext,
  key: string,
  { name, record, retry, lost }: JobStep<T>,
  work: (scope: StepScope) => Promise<T>,
): Promise<T> {
  // streams beside the job have their turn before each of its steps
  await new Promise<void>((resolve) => context.timers.soon(resolve));
  const interrupted = lost && { policy: 'fail' as const, lost };
  return context.step(key, { kind: 'work', name, record, ...(interrupted && { interrupted }) }, (scope) =>
    retry === undefined ? work(scope) : withRetries(context, scope, name, retry, work),
  );
}

/** Failed tries are steps: another process continues to count them, and waits for what is left of the delay. */
async function withRetries<T>(
  context: RunContext,
  scope: StepScope,
  name: string,
  { maxRetries, backoff = defaultBackoff, when }: StepRetry,
  work: (scope: StepScope) => Promise<T>,
): Promise<T> {
  const { timers, log, run } = context;
  for (let tries = await resumeTries(context, scope); ; tries += 1) {
    const startedAt = timers.now();
    try {
      return await work(scope);
    } catch (thrown) {
      const error = thrownError(thrown);
      scope.signal.throwIfAborted();
      if (tries >= maxRetries || when?.(error) === false) throw error;
      log.warn({ err: error, jobId: run.runId, step: name }, 'a step of a job failed and is tried again');
      const delayMs = backOffMs(backoff, tries);
      context.noteTry(scope.key, { name, error, startedAt, delayMs });
      await pause(delayMs, scope.signal, timers);
    }
  }
}

/** Turns reports into events, the latest of those that come in a short time. */
class ProgressReports {
  private last = Number.NEGATIVE_INFINITY;
  private pending: ReportedProgress | undefined;
  private sent = 0;

  constructor(private readonly context: RunContext) {}

  report(progress: ReportedProgress): void {
    this.pending = progress;
    const now = this.context.timers.elapsed();
    if (now - this.last >= progressMs) this.send(now);
  }

  /** What was reported last is an event before the job ends. */
  end(): void {
    if (this.pending !== undefined && !this.context.signal.aborted) this.send(this.context.timers.elapsed());
  }

  private send(now: number): void {
    const { pending, context } = this;
    if (pending === undefined || context.signal.aborted) return;
    this.pending = undefined;
    this.last = now;
    this.sent += 1;
    const event: RunEvent = { event: 'JobProgress', ...progressOf(pending) };
    context.emit(event, `progress:${context.run.attempt}:${this.sent}`);
  }
}

function progressOf({ done, total = null, message, data }: ReportedProgress): JobProgress {
  const percent =
    total === null ? null : total === 0 ? 100 : Math.min(100, Math.max(0, Math.floor((100 * done) / total)));
  return { done, total, percent, message, ...(data !== undefined && { data }) };
}

function endEvent(end: RunEnd): RunEvent {
  if (end.status === 'completed') return { event: 'JobCompleted', result: end.result.content };
  if (end.status === 'cancelled') return { event: 'JobCancelled', reason: end.reason };
  if (end.status === 'paused') throw new Error('A job does not pause.');
  const { type, message } = end.failure;
  return { event: 'JobFailed', error: { type, message } };
}
