import type { Json, JsonObject } from '../json.js';
import type { Learnings } from '../learnings/learnings.js';
import type { Log } from '../log.js';
import type { MediaContents } from '../media.js';
import type { UserMemories } from '../memory/user-memories.js';
import type { Message } from '../models/message.js';
import type { ModelPrices } from '../models/prices.js';
import type { Timers } from '../timers.js';
import type { ApprovalRecord } from './approval.js';
import { childPrefix, relativeStep, stepsUnder } from './child-steps.js';
import { continuationsOf } from './continuation.js';
import { withDueTime } from './due-questions.js';
import type { EventOrigin, LiveRun } from './live-run.js';
import type { RunEvent } from './logged-event.js';
import type { PastSessions } from './past-sessions.js';
import type { RunJournal, SessionSummary } from './ports.js';
import type { Run, RunEntry, RunOptions, StepKind, StepRecord } from './run.js';
import type { SessionState } from './session-state.js';
import type { WriteQueue } from './write-queue.js';

export interface StepSpec<T extends Json> {
  readonly kind: StepKind;
  readonly name: string;
  /** What is new in this step's input; what can be rebuilt from earlier steps is left out. */
  readonly input?: Json;
  readonly parentKey?: string;
  /** What to do with a step that had begun when its process died. Left out: it is done again. */
  readonly interrupted?: InterruptedPolicy<T>;
}

/**
 * For work that must not happen twice. Its start is durable before it begins; if its process dies inside it, `ask`
 * pauses the run until someone tells how it ended, `fail` goes on with `lost` as the outcome.
 */
export interface InterruptedPolicy<T extends Json> {
  readonly policy: 'ask' | 'fail';
  /** The outcome to record for work whose effect is unknown. */
  lost(message: string): T;
  /** The question as those who answer are to see it. Left out: the step's name and when it began. */
  question?(message: string): Pick<Requirement, 'data' | 'approval'>;
}

export interface StepScope {
  readonly key: string;
  readonly signal: AbortSignal;
  /** The same for every execution of this step: outside systems can use it to do the work once. */
  readonly idempotencyKey: string;
}

/** Something that has to be answered from outside before the run can go on. */
export interface Requirement {
  readonly key: string;
  readonly kind: string;
  readonly data: JsonObject;
  /** When the question answers itself with `timedOut`; left out: never. */
  readonly dueAt?: number;
  /** Stored as pending together with the question: the answer is then somebody else's to give. */
  readonly approval?: ApprovalRecord;
}

/** How a step ended that nobody saw ending. */
export type OutcomeAnswer =
  | { readonly outcome: 'retry' }
  | { readonly outcome: 'done'; readonly output: Json }
  | { readonly outcome: 'failed'; readonly message: string };

/** What an executor (agent, team, workflow) is given. */
export interface RunContext {
  readonly run: Run;
  /** The outermost run around this one, whose journal this is; a run of its own is that itself. */
  readonly root: Run;
  /** What its events say about whose they are. */
  readonly origin: EventOrigin;
  /** What this execution of the run is: its first one, one after somebody let it go on, or one after a crash. */
  readonly entry: RunEntry;
  /** What the caller asked for, and over it what came with each request to go on. */
  readonly options: RunOptions;
  /** How many runs it is inside of, as its events tell. */
  readonly depth: number;
  readonly signal: AbortSignal;
  readonly state: SessionState;
  readonly log: Log;
  readonly media: MediaContents;
  readonly timers: Timers;
  /** What the tokens of a model cost, over the list prices. */
  readonly prices: ModelPrices;
  /** What the run has to show if it ends here: kept up to date by the executor. */
  readonly draft: { content: string; extra?: JsonObject };
  /** What only the caller who waits for this very execution is told; it is not stored with the run. */
  readonly shown: { history: readonly Message[] };
  step<T extends Json>(key: string, spec: StepSpec<T>, work: (scope: StepScope) => Promise<T>): Promise<T>;
  /** Sends an event, once for each key. */
  emit(event: RunEvent, key: string): void;
  /** Sends a piece of streamed content; pass the same `event` object for all pieces of one call. */
  emitDelta(event: RunEvent, text: string): void;
  /** Undefined, or a promise to wait for because more is produced than can be stored. */
  congestion(): Promise<void> | undefined;
  /** Pauses the run until the requirement is answered; answers at once when it has been. */
  wait<Answer extends Json>(requirement: Requirement): Promise<Answer>;
  /** The steps recorded so far, in order: the journal that the run's answer is folded from. */
  steps(): readonly StepRecord[];
  /** The same with the steps of the runs inside of this one. */
  allSteps(): readonly StepRecord[];
  /** What outside systems know the work of a step by: the same whenever the step is executed again. */
  idempotencyKey(key: string): string;
  /** One recorded step. */
  recorded(key: string): StepRecord | undefined;
  /** Earlier completed runs of this component in the session, oldest first. */
  history(count: number): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]>;
  /** Those of these runs that are still there, in this order. */
  runs(runIds: readonly string[]): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]>;
  /** What the session was about so far, as stored. */
  sessionSummary(): Promise<SessionSummary | undefined>;
  /** Stores a new summary of the session together with the run. */
  putSessionSummary(summary: SessionSummary): void;
  readonly pastSessions: PastSessions;
  /** What is remembered about people. */
  readonly memories: UserMemories;
  /** What agents have learned. */
  readonly learnings: Learnings;
  /** The context of a run inside of this one: what it does is part of this run's journal and stream. */
  child(child: ChildRun): RunContext;
}

/** A run inside of another one: a member of a team, what executes a step of a workflow. */
export interface ChildRun {
  /** The key of the step that it is the work of; its own steps stand under it. */
  readonly key: string;
  readonly run: Run;
  readonly entry: RunEntry;
  readonly origin: EventOrigin;
  /** Ends this run alone. Left out: it ends with the run around it. */
  readonly signal?: AbortSignal;
}

/** Ends an execution that has to wait for an answer. Executors let it pass. */
export class RunPaused extends Error {
  constructor(readonly requirements: readonly Requirement[]) {
    super('The run waits for an answer');
    this.name = 'RunPaused';
  }
}

/** What every run of an engine has around it. */
export interface RunSurroundings {
  readonly journal: RunJournal;
  readonly timers: Timers;
  readonly log: Log;
  readonly media: MediaContents;
  readonly pastSessions: PastSessions;
  readonly memories: UserMemories;
  readonly learnings: Learnings;
  readonly prices?: ModelPrices;
}

export class JournaledContext implements RunContext {
  readonly draft: RunContext['draft'] = { content: '' };
  readonly shown: RunContext['shown'] = { history: [] };

  readonly timers: Timers;
  readonly log: Log;
  readonly media: MediaContents;
  readonly pastSessions: PastSessions;
  readonly memories: UserMemories;
  readonly learnings: Learnings;
  readonly prices: ModelPrices;
  readonly options: RunOptions;
  private readonly journal: RunJournal;
  /** What the keys of its steps and events begin with: empty for a run of its own. */
  private readonly prefix: string;

  constructor(
    private readonly live: LiveRun,
    private readonly queue: WriteQueue,
    private readonly surroundings: RunSurroundings,
    private readonly inside: ChildRun | null = null,
  ) {
    this.timers = surroundings.timers;
    this.log = surroundings.log;
    this.media = surroundings.media;
    this.pastSessions = surroundings.pastSessions;
    this.memories = surroundings.memories;
    this.learnings = surroundings.learnings;
    this.prices = surroundings.prices ?? {};
    this.journal = surroundings.journal;
    this.prefix = inside === null ? '' : childPrefix(inside.key);
    this.options = inside === null ? optionsOf(live) : optionsInside(live, inside.run);
  }

  get entry(): RunEntry {
    return this.inside?.entry ?? this.live.entry;
  }

  get run(): Run {
    return this.inside?.run ?? this.live.run;
  }

  get root(): Run {
    return this.live.run;
  }

  get origin(): EventOrigin {
    return this.inside?.origin ?? this.live.origin;
  }

  child(child: ChildRun): RunContext {
    const key = this.prefix + child.key;
    const signal = child.signal ?? this.inside?.signal;
    const inside = { ...child, key, ...(signal !== undefined && { signal }) };
    return new JournaledContext(this.live, this.queue, this.surroundings, inside);
  }

  get depth(): number {
    return (this.inside?.origin ?? this.live.origin).depth;
  }

  get signal(): AbortSignal {
    return this.inside?.signal ?? this.live.abort.signal;
  }

  get state(): SessionState {
    return this.live.state;
  }

  steps(): readonly StepRecord[] {
    const own = this.live.stepsOf(this.prefix);
    if (this.inside === null) return own;
    const { runId } = this.run;
    return own.map((step) => ({ ...relativeStep(step, this.prefix), runId }));
  }

  allSteps(): readonly StepRecord[] {
    const all = this.live.allSteps();
    return this.inside === null ? all : stepsUnder(all, this.prefix);
  }

  idempotencyKey(key: string): string {
    return `${this.live.runId}:${this.prefix}${key}`;
  }

  recorded(key: string): StepRecord | undefined {
    const step = this.live.step(this.prefix + key);
    return this.inside === null || step === undefined ? step : { ...step, key, runId: this.run.runId };
  }

  emit(event: RunEvent, key: string): void {
    this.live.emit(event, this.prefix + key, this.inside?.origin);
  }

  emitDelta(event: RunEvent, text: string): void {
    this.live.emitDelta(event, text, this.inside?.origin);
  }

  congestion(): Promise<void> | undefined {
    return this.live.log.congested ? this.queue.flush(this.live) : undefined;
  }

  async step<T extends Json>(
    relativeKey: string,
    spec: StepSpec<T>,
    work: (scope: StepScope) => Promise<T>,
  ): Promise<T> {
    const key = this.prefix + relativeKey;
    const recorded = this.live.step(key);
    if (recorded?.status === 'completed') return recorded.output as T;
    if (recorded?.status === 'running' && spec.interrupted !== undefined) {
      const settled = await this.settleInterrupted(recorded, spec.interrupted);
      if (settled !== undefined) return settled;
    }
    this.signal.throwIfAborted();
    const begun = this.begin(key, spec, recorded);
    if (spec.interrupted !== undefined) {
      await this.queue.flush(this.live);
      // the run may have been cancelled meanwhile: what has not begun does not begin
      this.signal.throwIfAborted();
    }
    return this.perform(begun, work);
  }

  async wait<Answer extends Json>(requirement: Requirement): Promise<Answer> {
    const key = `${this.prefix}wait:${requirement.key}`;
    const recorded = this.live.step(key);
    if (recorded?.status === 'completed') return recorded.output as Answer;
    if (recorded === undefined) {
      const { kind, data, dueAt, approval } = requirement;
      const input = withDueTime(data, dueAt);
      this.begin(key, { kind: 'wait', name: kind, input }, undefined);
      if (approval !== undefined) this.live.putApproval({ kind: 'record', approval });
    }
    throw new RunPaused([requirement]);
  }

  async history(count: number): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]> {
    // what a run inside of another one said before is the other one's to know
    if (this.inside !== null) return [];
    const { sessionId, kind, componentId, createdAt, runId, lineage } = this.run;
    const query = { sessionId, kind, componentId, before: createdAt, count, exceptRunId: runId };
    const earlier = await this.journal.history(query);
    // a copy stands in the place of what it was made from
    const source = lineage?.forkedFromRunId;
    return source === undefined ? earlier : earlier.filter(({ run }) => run.runId !== source);
  }

  runs(runIds: readonly string[]): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]> {
    return this.journal.loadAll(runIds);
  }

  sessionSummary(): Promise<SessionSummary | undefined> {
    return this.journal.summary(this.run.sessionId);
  }

  putSessionSummary(summary: SessionSummary): void {
    this.live.putSummary(summary);
  }

  private begin(
    key: string,
    spec: Omit<StepSpec<Json>, 'interrupted'>,
    earlier: StepRecord | undefined,
  ): StepRecord {
    const step: StepRecord = {
      runId: this.live.runId,
      seq: earlier?.seq ?? this.live.nextSeq(),
      key,
      kind: spec.kind,
      name: spec.name,
      parentKey: spec.parentKey === undefined ? (this.inside?.key ?? null) : this.prefix + spec.parentKey,
      status: 'running',
      attempt: this.live.run.attempt,
      input: spec.input ?? null,
      output: null,
      error: null,
      startedAt: this.timers.now(),
      endedAt: null,
    };
    this.live.putStep(step);
    return step;
  }

  private async perform<T extends Json>(
    begun: StepRecord,
    work: (scope: StepScope) => Promise<T>,
  ): Promise<T> {
    const { key } = begun;
    try {
      const output = await work({
        key: key.slice(this.prefix.length),
        signal: this.signal,
        idempotencyKey: this.idempotencyKey(key.slice(this.prefix.length)),
      });
      this.live.putStep({ ...begun, status: 'completed', output, endedAt: this.timers.now() });
      return output;
    } catch (error) {
      // an aborted step did not end: whether it took effect is for the next execution to find out
      if (!this.signal.aborted && !(error instanceof RunPaused)) {
        this.live.putStep({ ...begun, status: 'error', error: describe(error), endedAt: this.timers.now() });
      }
      throw error;
    }
  }

  /** The process died inside this step. Answers with its outcome, or undefined when it is to be done again. */
  private async settleInterrupted<T extends Json>(
    recorded: StepRecord,
    interrupted: InterruptedPolicy<T>,
  ): Promise<T | undefined> {
    const message = `The process stopped while '${recorded.name}' was at work; whether it took effect is not known.`;
    const answer: OutcomeAnswer =
      interrupted.policy === 'fail'
        ? { outcome: 'failed', message }
        : await this.wait<OutcomeAnswer>({
            // a step that was done again and interrupted again is another question
            key: `${recorded.key.slice(this.prefix.length)}:outcome:${recorded.attempt}`,
            kind: 'unknown_outcome',
            data: { step: recorded.key, name: recorded.name, started_at: recorded.startedAt, message },
            ...interrupted.question?.(message),
          });
    if (answer.outcome === 'retry') return undefined;
    const output = answer.outcome === 'done' ? (answer.output as T) : interrupted.lost(answer.message);
    this.live.putStep({ ...recorded, status: 'completed', output, endedAt: this.timers.now() });
    return output;
  }
}

function optionsOf(live: LiveRun): RunOptions {
  const { options } = live.run.input;
  const continuations = continuationsOf(live.stepsOf(''));
  return continuations.length === 0
    ? options
    : Object.assign({}, options, ...continuations.map((continuation) => continuation.options));
}

/** How the outermost run is followed now is how the runs inside of it are. */
function optionsInside(live: LiveRun, { input }: Run): RunOptions {
  return { ...input.options, stream: optionsOf(live).stream };
}

function describe(error: unknown): Json {
  if (!(error instanceof Error)) return { message: String(error) };
  return { name: error.name, message: error.message };
}
