import { errorCode } from '../../errors/error-code.js';
import { errors } from '../../errors/errors.js';
import { newId } from '../../ids.js';
import type { Json } from '../../json.js';
import { RunEngine } from '../engine.js';
import type { EngineOptions } from '../engine-options.js';
import type { EventReader } from '../events/event-reader.js';
import { RunReleased } from '../executable.js';
import { notBegun } from '../execution/live-run-start.js';
import { decoded } from '../journal/codec.js';
import { InProcessEvents } from '../journal/in-process-events.js';
import { definitionOf } from '../journal/journal-format.js';
import { RunSlots } from '../leases/run-slots.js';
import type { RunNotifications } from '../notifications/run-notifications.js';
import { componentKey, type OrphanOptions } from '../resume/ending-executable.js';
import { jobKind, type Run, terminalStatuses } from '../run.js';
import type { RunPorts } from '../run-ports.js';
import type { Job } from './job.js';
import { inputOf, jobExecutable, standInForJob } from './job-executable.js';

/** What jobs are executed with: the ports are those of an engine, over the journal of jobs. */
export interface JobsOptions
  extends Omit<
    EngineOptions,
    'resolve' | 'orphans' | 'ownSlots' | 'alone' | 'rebuiltEvents' | 'onRest' | 'limits' | 'ports'
  > {
  /** Jobs are sent no events. */
  readonly ports: Omit<RunPorts, 'receivedEvents'>;
  /** What this process can do. */
  readonly jobs: readonly Job[];
  /** Set in a service: jobs of other kinds are left to other processes, or ended after a time. */
  readonly orphans?: Pick<OrphanOptions, 'journal' | 'endAfterMs'>;
}

export interface StartJob {
  /** A job that was started under this id before is not started again. Left out: a new one. */
  readonly jobId?: string;
  /** For whom the work is done. */
  readonly userId?: string | null;
  /** The time of the database, if the caller has just read it. Left out: it is read. */
  readonly at?: number;
}

/** A job as it is stored. */
export interface JobState<Result = Json> {
  readonly jobId: string;
  readonly kind: string;
  readonly userId: string | null;
  readonly status: 'pending' | 'running' | 'completed' | 'error' | 'cancelled';
  /** Of a completed job. */
  readonly result?: Result;
  /** Why it failed. */
  readonly error?: { readonly type: string; readonly message: string };
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A bound on what one job is given: what is larger is stored first, and the input names it. */
const maxInputCharacters = 1_048_576;

/** No job has so many events; an index that every database holds. */
const beyondAll = 2 ** 31 - 1;

/** A running job continues in another process: a stop does not wait for it. */
const graceMs = 0;

/**
 * Starts, executes and follows the jobs of one database. It is a `RunEngine` over a journal of its own, with slots of
 * its own: jobs take no place of a run, and no list of runs can show them. A started job is stored before anything is
 * done, and the first process with a free slot executes it, the oldest job first.
 */
export class Jobs {
  private readonly engine: RunEngine;
  private readonly kinds: ReadonlyMap<string, Job>;

  constructor(private readonly options: JobsOptions) {
    const { jobs, orphans, ...engine } = options;
    this.kinds = new Map(jobs.map((job) => [job.kind, job]));
    if (this.kinds.size < jobs.length)
      throw errors.invalidConfig(`Two jobs have the same kind: ${jobs.map(({ kind }) => kind).join(', ')}.`);
    const ownSlots = jobs.flatMap(({ kind, ownSlots: executing }) =>
      executing === undefined
        ? []
        : [[componentKey(jobKind, kind), new RunSlots({ executing, waiting: 0 })] as const],
    );
    this.engine = new RunEngine({
      ...engine,
      notifications: jobNotifications(engine.notifications),
      ports: { ...engine.ports, receivedEvents: new InProcessEvents(engine.journal) },
      ...(ownSlots.length > 0 && { ownSlots: new Map(ownSlots) }),
      resolve: ({ componentId }) => {
        const job = this.kinds.get(componentId);
        return job && jobExecutable(job);
      },
      ...(orphans !== undefined && {
        orphans: {
          ...orphans,
          components: () => Array.from(this.kinds.keys(), (kind) => componentKey(jobKind, kind)),
          standIn: ({ componentId }: Run) => standInForJob(componentId),
        },
      }),
    });
  }

  /** Begins to look for jobs that no process executes. Library use does not need it; nor does a process without jobs. */
  async open(): Promise<void> {
    if (this.kinds.size > 0) await this.engine.open();
  }

  /** Takes over jobs that no process executes, and ends those whose kind no process has. */
  recover(): Promise<void> {
    return this.engine.recover();
  }

  /** Hands the running jobs over to other processes, or to the next start. */
  stop(): Promise<void> {
    return this.engine.stop(graceMs);
  }

  /** Resolves when the job is durable, and says whether it was started now or before. */
  async start<Input>(
    job: Job<Input, unknown>,
    input: Input,
    { jobId = newId(), userId = null, at }: StartJob = {},
  ): Promise<{ readonly jobId: string; readonly isNew: boolean }> {
    const now = at ?? (await this.options.leases.now());
    const stored = inputOf(job, jobId, input);
    const { length } = stored.content;
    if (length > maxInputCharacters) throw errors.jobInputTooLarge(job.kind, length, maxInputCharacters);
    try {
      await this.engine.enqueue(newJob(job, jobId, userId, stored, now), { kind: job.kind });
      return { jobId, isNew: true };
    } catch (error) {
      if (errorCode(error) === 'run_exists') return { jobId, isNew: false };
      throw error;
    }
  }

  /** A job as it is stored; undefined when there is none, or it is of another kind. */
  async find<Result>(job: Job<unknown, Result>, jobId: string): Promise<JobState<Result> | undefined> {
    const run = (await this.options.journal.load(jobId))?.run;
    return run?.componentId === job.kind ? stateOf(job, run) : undefined;
  }

  /** Whether it waits or is executed. Reads none of its steps. */
  async isUnfinished(jobId: string): Promise<boolean> {
    const { status } = (await this.options.journal.progress(jobId)) ?? {};
    return status !== undefined && !terminalStatuses.has(status);
  }

  /** Waits for the end of a job, wherever it is executed. Rejects when the signal aborts, or this process stops. */
  async ended<Result>(
    job: Job<unknown, Result>,
    jobId: string,
    signal?: AbortSignal,
  ): Promise<JobState<Result>> {
    // one that was just started may be about to begin here: then its end is noticed at once, and not by polling
    if (this.engine.handle(jobId) === undefined) await this.engine.recover();
    const reader = this.events(jobId, beyondAll);
    const close = () => reader.close();
    signal?.addEventListener('abort', close, { once: true });
    try {
      signal?.throwIfAborted();
      await reader.next();
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener('abort', close);
      close();
    }
    const state = await this.find(job, jobId);
    if (state === undefined) throw errors.jobNotFound(jobId);
    if (!terminalStatuses.has(state.status)) throw new RunReleased();
    return state;
  }

  /** A cursor over the events of a job (`JobEvent`), live here or not. */
  events(jobId: string, fromIndex = 0): EventReader {
    return this.engine.events(jobId, Math.min(fromIndex, beyondAll));
  }

  /**
   * Ends a job, wherever it is executed and whether or not it is. Whether it has ended now: if not, the process that
   * executes it has been asked to end it.
   */
  async cancel(job: Job, jobId: string, reason: string): Promise<boolean> {
    const request = { runId: jobId, kind: jobKind, componentId: job.kind, sessionId: null, userId: null };
    return (await this.engine.cancel(jobId, { ...request, reason, requestedAt: 0 })) === undefined;
  }
}

/** The hints of runs and jobs, with a word of their own for waiting jobs: no engine looks for what the other one queues. */
function jobNotifications(all: RunNotifications): RunNotifications {
  return {
    publish: (hint) => all.publish(hint.kind === 'queued' ? { ...hint, kind: 'job_queued' } : hint),
    subscribe: (listener) =>
      all.subscribe((hint) => {
        if (hint.kind === 'job_queued') listener({ ...hint, kind: 'queued' });
        else if (hint.kind !== 'queued') listener(hint);
      }),
  };
}

/** It waits until a process claims it: without a lease, and not begun. */
function newJob(job: Job, jobId: string, userId: string | null, input: Run['input'], now: number): Run {
  return {
    runId: jobId,
    kind: jobKind,
    componentId: job.kind,
    componentName: null,
    sessionId: '',
    userId,
    askers: [],
    parentRunId: null,
    model: null,
    modelProvider: null,
    input,
    createdAt: now,
    status: 'pending',
    result: null,
    attempt: notBegun,
    leaseOwner: null,
    leaseExpiresAt: null,
    nextEventIndex: 0,
    updatedAt: now,
    wakeAt: null,
    lineage: null,
    traceParent: null,
    definition: definitionOf(null),
  };
}

function stateOf<Result>(job: Job<unknown, Result>, run: Run): JobState<Result> {
  const { runId: jobId, componentId: kind, userId, status, result, createdAt, updatedAt } = run;
  if (status === 'paused' || status === 'regenerated') throw new Error(`Job ${jobId} is ${status}.`);
  const state = { jobId, kind, userId, status, createdAt, updatedAt };
  if (status === 'completed')
    return { ...state, result: decoded(job.result, result?.content, { runId: jobId, key: 'job' }) };
  const { type, message } = result?.error ?? {};
  return type === undefined || message === undefined ? state : { ...state, error: { type, message } };
}
