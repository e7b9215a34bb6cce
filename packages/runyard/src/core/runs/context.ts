import type { Abortable } from '../async/abort.js';
import type { Receiver } from '../async/receiver.js';
import type { PieceEvent, RunEvent } from '../events/run-event.js';
import type { Json, JsonObject } from '../json.js';
import type { Log } from '../log.js';
import type { Message } from '../models/message.js';
import type { ModelPrices } from '../models/prices.js';
import type { Timers } from '../timers.js';
import type { ApprovalRecord } from './approval.js';
import type { EventOrigin } from './events/event-origin.js';
import type { CallApplication } from './execution/code-owner.js';
import type { RunObserver } from './execution/run-observer.js';
import type { SessionState } from './execution/session-state.js';
import type { Codec } from './journal/codec.js';
import type { Difference, ExpectedStep, StepIdentity } from './journal/journal-match.js';
import type { SessionSummary } from './journal/ports.js';
import type { ExecutionGuard, Limited } from './limits/run-limits.js';
import type { Run, RunEntry, RunOptions, StepKind, StepRecord } from './run.js';
import type { RunPorts } from './run-ports.js';

export interface StepSpec<T> {
  readonly kind: StepKind;
  readonly name: string;
  /** What its output is. */
  readonly record: Codec<T>;
  /** Decides whether a record answers for this step, where its kind and name say too little or too much. */
  readonly identity?: StepIdentity;
  /** Its work consists of steps: outside of them it runs nothing of the application, and costs nothing. */
  readonly contains?: boolean;
  /** What is new in this step's input; what can be rebuilt from earlier steps is left out. */
  readonly input?: unknown;
  /** The step that it is a part of. Left out: the run that it is a step of. */
  readonly parentKey?: string;
  /** Whether its output is a failure that the run continues with. Left out: never. */
  readonly failed?: (output: T) => boolean;
  /** What to do with a step that had begun when its process died. Left out: it is done again. */
  readonly interrupted?: InterruptedPolicy<T>;
}

/** What of a step is known when it begins. */
export type BegunStep = Pick<StepSpec<unknown>, 'kind' | 'name' | 'identity' | 'input' | 'parentKey'>;

/**
 * For work that must not happen twice. Its start is durable before it begins; if its process dies during it, `ask`
 * pauses the run until a person says how it ended, `fail` continues with `lost` as the outcome.
 */
export interface InterruptedPolicy<T> {
  readonly policy: 'ask' | 'fail';
  /** The outcome to record for work whose effect is unknown. */
  lost(message: string): T;
  /** The recorded start ended with a question, so that nothing is unknown: the work is done again. */
  readonly paused?: boolean;
  /** The question as those who answer are to see it. Left out: the step's name and when it began. */
  question?(message: string): Promise<Pick<Requirement, 'data' | 'approval'>>;
}

/** A call that failed and is made again. */
export interface FailedTry {
  readonly name: string;
  readonly error: unknown;
  readonly startedAt: number;
  /** How long it takes until the next one. */
  readonly delayMs: number;
  /** What is called, where that is not what the step says. */
  readonly model?: { readonly id: string; readonly provider: string };
}

export interface StepScope {
  readonly key: string;
  readonly signal: AbortSignal;
  /** Aborted with the signal, and there without one. */
  readonly stop?: Abortable;
  /** The same for every execution of this step: outside systems can use it to do the work once. */
  readonly idempotencyKey: string;
}

/** Does the work of a step, and passes on its outcome. */
export type StepWork<T> = (scope: StepScope, outcome: Receiver<T>) => void;

/** Something that has to be answered from outside before the run can continue. */
export interface Requirement {
  readonly key: string;
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Decides whether a recorded question is this one. Left out: it has the same kind. */
  readonly identity?: StepIdentity;
  /** The step that the question is a part of. Left out: the run that asks. */
  readonly parentKey?: string;
  /** When the question answers itself with `timedOut`, as `RunContext.deadline` returns it; left out: never. */
  readonly dueAt?: number;
  /** Stored as pending together with the question: then only an approver can answer. */
  readonly approval?: ApprovalRecord;
}

/** What an executor (agent, team, workflow) is given. */
export interface RunContext {
  readonly run: Run;
  /** The outermost run around this one, whose journal this is; a run of its own is that itself. */
  readonly root: Run;
  /** What its events say about whose they are. */
  readonly origin: EventOrigin;
  /** What this execution of the run is: its first one, one after a request to continue, or one after a crash. */
  readonly entry: RunEntry;
  /**
   * The attempt that began with the last request to continue the whole run. What was answered since is new, though a
   * later attempt may be the first to execute it: the run waited for a free slot, or its process died.
   */
  readonly continuedIn: number;
  /** What the caller asked for, overridden by what came with each request to continue. */
  readonly options: RunOptions;
  /** How many runs it is nested in, as its events show. */
  readonly depth: number;
  readonly signal: AbortSignal;
  readonly state: SessionState;
  readonly log: Log;
  readonly ports: RunPorts;
  readonly timers: Timers;
  /** What the tokens of a model cost, over the list prices. */
  readonly prices: ModelPrices;
  /** Counts what happens; undefined where nothing is counted. */
  readonly observer: RunObserver | undefined;
  /** What the run has to show if it ends here: kept up to date by the executor. */
  readonly draft: { content: string; extra?: JsonObject };
  /**
   * What only the caller who waits for this very execution gets; it is not stored with the run. An object, because a
   * context may be derived from another: what is assigned to the one does not reach the other.
   */
  readonly shown: { history: readonly Message[] };
  /** What holds this execution to its limits; undefined where nothing is executed. */
  readonly guard: ExecutionGuard | undefined;
  /** Ends the run when it, or a run around it, may not make so many more steps of a kind. */
  admit(kind: StepKind, count: number): void;
  /** Whether limits leave tokens and costs for a model call that the run can do without. */
  affords(): boolean;
  step<T>(key: string, spec: StepSpec<T>, work: (scope: StepScope) => Promise<T>): Promise<T>;
  /** The same without promises, for work that a run waits for most of its life. */
  stepFor<T>(key: string, spec: StepSpec<T>, work: StepWork<T>, receiver: Receiver<T>): void;
  /** Calls a function of the application on behalf of this run. */
  readonly callApplication: CallApplication;
  /** Writes down that the work of a step failed and is tried again. */
  noteTry(key: string, failed: FailedTry): void;
  /** Sends an event, once for each key. */
  emit(event: RunEvent, key: string): void;
  /**
   * Sends an event of the application's own and resolves when there is room for more. After the end of the run it does
   * nothing. An event that cannot be written is logged; code that waits for the promise gets the error.
   */
  report(event: () => RunEvent, key: string): Promise<void>;
  /** Sends a piece of streamed content; pass the same `event` object for all pieces of one call. */
  emitDelta(event: PieceEvent, text: string): void;
  /** Undefined, or a promise to wait for because more is produced than can be stored. */
  congestion(): Promise<void> | undefined;
  /** Resolves when all that was done so far is durable: for effects outside of the journal that depend on it. */
  stored(): Promise<void>;
  /** Does work that only waits, and leaves the slot of the run to others in that time. */
  idle<T>(work: () => Promise<T>): Promise<T>;
  /** The time in `ms` milliseconds, by the clock that decides when a question is due. */
  deadline(ms: number): Promise<number>;
  /** Pauses the run until the requirement is answered; answers at once when it has been. */
  wait(requirement: Requirement): Promise<Json>;
  wait<Answer>(requirement: Requirement, answer: Codec<Answer>): Promise<Answer>;
  /**
   * The steps recorded so far, in order: the journal that the run's answer is folded from. Those of one kind are found
   * without looking at the others.
   */
  steps(kind?: StepKind): readonly StepRecord[];
  /** The same with the steps of the runs within this one. */
  allSteps(): readonly StepRecord[];
  /** The failed tries of the step with this key, and the steps that have it as their parent. */
  partsOf(key: string): readonly StepRecord[];
  /** The steps of the run that is the work of the step with this key, with the keys that they have there. */
  stepsInside(key: string): readonly StepRecord[];
  /** What outside systems know the work of a step by: the same whenever the step is executed again. */
  idempotencyKey(key: string): string;
  /**
   * One recorded step. With `expected`, a record of something else ends the run as `definition_changed`: give it
   * wherever the record decides what is done.
   */
  recorded(key: string, expected?: ExpectedStep): StepRecord | undefined;
  /** Ends the run as `definition_changed`: what it has recorded and the code no longer fit together. */
  definitionChanged(difference: Difference): Error;
  /** Set while a run is only compared with the code; null in an execution. */
  readonly replay: ReplaySite | null;
  /**
   * Earlier completed runs in the session, oldest first: of this component, or with `from` of all agents and teams. A
   * session is that of one user.
   */
  history(
    count: number,
    from?: 'own' | 'session',
  ): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]>;
  /** Those of these runs that are still there, in this order. */
  runs(runIds: readonly string[]): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]>;
  /** What the session was about so far, as stored. */
  /** Calls a session that has no name after this message. A run within another one names none. */
  nameSession(message: string): void;
  sessionSummary(): Promise<SessionSummary | undefined>;
  /** Stores a new summary of the session together with the run. */
  putSessionSummary(summary: SessionSummary): void;
  /** The context of a run within this one: what it does is part of this run's journal and stream. */
  child(child: ChildRun): RunContext;
}

/** Steps that application code makes: those of this parent that it includes. */
export interface WithinCode {
  readonly parentKey: string;
  includes(step: StepRecord): boolean;
}

/**
 * A replay takes a run through the code without executing anything: steps answer from the journal, and where there is
 * no answer, it stops.
 */
export interface ReplaySite {
  /**
   * Call it before application code that is outside of a step, and before anything that costs. `within`: the steps
   * that this code makes, which are then not compared.
   */
  stop(within?: WithinCode): never;
  /** Notes something that cannot be compared without executing it, in words. */
  leaveOut(what: string): void;
}

/** A run within another one: a member of a team, what executes a step of a workflow. */
export interface ChildRun {
  /** The key of the step that it is the work of; its own steps stand under it. */
  readonly key: string;
  readonly run: Run;
  readonly entry: RunEntry;
  readonly origin: EventOrigin;
  /** Ends this run alone. Left out: it ends with the run around it. */
  readonly signal?: AbortSignal;
  /** Whose limits hold for it; left out for a run that is not executed. */
  readonly limited?: Limited;
}

/** The step that this execution has just made or found under a key. */
export function recordedStep(context: RunContext, key: string): StepRecord {
  const step = context.recorded(key);
  if (step === undefined) throw new Error(`The step '${key}' is not in the journal of its run.`);
  return step;
}

/** Ends an execution that has to wait for an answer. Executors let it pass. */
export class RunPaused extends Error {
  constructor(readonly requirements: readonly Requirement[]) {
    super('The run waits for an answer');
    this.name = 'RunPaused';
  }
}
