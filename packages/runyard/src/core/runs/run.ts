import type { Json, JsonObject } from '../json.js';
import type { Media } from '../media/media.js';
import type { Message } from '../models/message.js';
import type { AnswerEnding } from '../models/model.js';
import type { CallerInput } from './caller-input.js';
import type { Priority } from './leases/priority.js';

/**
 * One state of a stored configuration that never changes. A published version has one; each save of a draft makes
 * another revision of its version.
 */
export interface ConfigVersion {
  readonly version: number;
  readonly revision: number;
}

export type RunKind = 'agent' | 'team' | 'workflow';

/**
 * The kind of jobs (`jobs/job.ts`). The heart executes them like runs. `RunKind` names the kinds of components, so that
 * everything that lists components lists them all; jobs are in tables of their own, and no such list ever sees one.
 */
export const jobKind = 'job' as string as RunKind;

export function isJob({ kind }: { readonly kind: RunKind }): boolean {
  return kind === jobKind;
}

export type RunStatus =
  | 'pending'
  | 'running'
  | 'completed'
  | 'error'
  | 'cancelled'
  | 'paused'
  | 'regenerated';

/** What an execution of a run is: its first one, one after a request to continue it, or one after a crash. */
export type RunEntry = 'started' | 'continued' | 'recovered';

/** What a caller asked for. It never changes once the run exists. */
export interface RunInput {
  readonly content: string;
  readonly media: readonly Media[];
  /** Runtime parameters as the caller gave them; the component decides what each means. */
  readonly options: RunOptions;
  /**
   * Random, and never shown: what the ids of the steps of a workflow are made from, so that knowing a run does not
   * mean knowing them. Runs inside others have none, and neither have those from before there was one.
   */
  readonly salt?: string;
}

export interface RunOptions {
  readonly sessionState?: JsonObject;
  readonly dependencies?: JsonObject;
  readonly metadata?: JsonObject;
  readonly knowledgeFilters?: Json;
  readonly outputSchema?: JsonObject;
  readonly useJsonSchema?: boolean;
  /** Streams the JSON of an answer with a shape as intermediate content. */
  readonly partialObjects?: boolean;
  readonly addHistoryToContext?: boolean;
  readonly addDependenciesToContext?: boolean;
  readonly addSessionStateToContext?: boolean;
  readonly version?: number;
  /** The states of the stored components that the run began with, by `componentKey`: it continues with the same. */
  readonly configs?: Readonly<Record<string, ConfigVersion>>;
  /** What is removed with the end of the run: a setting of its component, which the run has from its start. */
  readonly forgets?: Forgets;
  readonly factoryInput?: JsonObject;
  /** The state of the session that a factory was given, for a factory that builds the component again. Never shown. */
  readonly factoryState?: JsonObject;
  /** What the caller's token said, for a factory that builds the component again. Never shown. */
  readonly claims?: JsonObject;
  readonly fixed?: FixedValues;
  /** The model, as `provider:id`, that a copy of the component runs on in place of its own: that of an eval. */
  readonly model?: string;
  /** The schedule that started the run, and the record of its attempt. */
  readonly schedule?: { readonly scheduleId: string; readonly scheduleRunId: string };
  /** The run around this one looks after what is to be remembered of its user. */
  readonly remembersOutside?: boolean;
  /** The message of the client as an interface has to show it again: its id, and its parts. Nothing else reads it. */
  readonly clientMessage?: JsonObject;
  readonly callerInput?: CallerInput;
  /** How urgent the run is while it waits for a free slot. Left out: `normal`. */
  readonly priority?: Priority;
  /** How many services have passed the run on, each with a remote component. */
  readonly hops?: number;
  /** Form fields that Runyard does not know: visible to hooks. */
  readonly extra?: JsonObject;
  /** Whether the model is asked to stream, so that those who follow the run see it grow. */
  readonly stream: boolean;
  /** False when the model streams but the caller polls: no stream was promised. */
  readonly streamed?: false;
}

/** What a run does not keep once it has ended. */
export interface Forgets {
  /** The arguments and results of its tool calls. */
  readonly toolMessages?: true;
  /** The content of the media that it was given or made. */
  readonly media?: true;
}

/** What only the caller's token says about a run. Nothing else gives these names a value: no form, no state, no tool. */
export interface FixedValues {
  /** Names of dependencies; their values, as far as the token has some, are among those of the run. */
  readonly dependencies: readonly string[];
  /** Keys of the session state, and the values of those that the token has. */
  readonly stateKeys: readonly string[];
  readonly state: JsonObject;
  /**
   * Of a caller who is isolated: the claims that searches of knowledge are bound to, as far as the token has them.
   * Undefined for any other caller, whose searches are bound to nothing.
   */
  readonly claims?: JsonObject;
}

/** What a run ended with, and how the model call ended that wrote the content. */
export interface RunResult extends Partial<AnswerEnding> {
  readonly content: Json;
  /** `str`, `dict`, or the name of the schema that the content fits. */
  readonly contentType: string;
  /** The content is the beginning of an answer that was broken off. */
  readonly partial?: true;
  readonly reasoningContent?: string;
  readonly modelProviderData?: JsonObject;
  /** What the run made beside its content. */
  readonly media?: readonly Media[];
  readonly metrics?: JsonObject;
  readonly metadata?: JsonObject;
  readonly sessionState?: JsonObject;
  readonly error?: RunFailure;
  /** What the model had said of its answer when a limit ended the run. */
  readonly brokenOff?: string;
  /** For how many milliseconds the run was executed before it paused or ended. */
  readonly executedMs?: number;
  /** Everything else that a component adds to the run body, in wire form (references, followups …). */
  readonly extra?: JsonObject;
}

export interface RunFailure {
  /** snake_case slug, e.g. `model_provider_error` */
  readonly type: string;
  readonly id?: string;
  readonly message: string;
  readonly additionalData?: Json;
}

/** A run is a row; its steps and events are rows of their own. Times are milliseconds since the epoch. */
export interface Run {
  readonly runId: string;
  readonly kind: RunKind;
  readonly componentId: string;
  readonly componentName: string | null;
  readonly sessionId: string;
  readonly userId: string | null;
  /** All who started, continued or edited it, and the person behind each: none of them may approve its calls. */
  readonly askers: readonly string[];
  readonly parentRunId: string | null;
  readonly model: string | null;
  readonly modelProvider: string | null;
  readonly input: RunInput;
  readonly createdAt: number;
  readonly status: RunStatus;
  readonly result: RunResult | null;
  /**
   * Counts the executions of this run; a writer with an old number is refused. 0 for a run that has not begun because
   * all slots are taken: the process that has a free one claims it.
   */
  readonly attempt: number;
  readonly leaseOwner: string | null;
  readonly leaseExpiresAt: number | null;
  /** The index that the next event gets. */
  readonly nextEventIndex: number;
  readonly updatedAt: number;
  /** When a paused run continues without an answer; null for one that waits for as long as it takes. */
  readonly wakeAt: number | null;
  /** What the run was made from; null for one that began with its own input. */
  readonly lineage: RunLineage | null;
  /** The trace that the caller's own system began, as a W3C `traceparent`; null when it said nothing of one. */
  readonly traceParent: string | null;
  /** The fingerprint of the definition that it was executed with last; null for one from before there were any. */
  readonly definition: string | null;
}

/** Where a run that began as a copy comes from. */
export interface RunLineage {
  readonly forkedFromRunId?: string;
  /** How many messages of that run were kept. */
  readonly forkedFromMessageIndex?: number;
  /** The session that the run was first made in, for a copy that came with a whole session. */
  readonly forkedFromSessionId?: string;
  /** What it did up to this attempt was done before its session was copied: it was paid for there. */
  readonly paidAttempt?: number;
  readonly regeneratedFrom?: string;
  /** The run that gives way to this one when this one completes. */
  readonly replaces?: string;
}

/** The attempt of a step that a run was copied with: it was paid for by another run. */
export const inheritedAttempt = 0;

/**
 * A step of the journal. `output` holds what is new in it, never what can be rebuilt. What `input` and `output` hold is
 * read through the codec of the record (`journal/codec.ts`).
 */
export interface StepRecord {
  readonly runId: string;
  /** Order in which the steps began. */
  readonly seq: number;
  /** The same when the run is executed again. */
  readonly key: string;
  readonly kind: StepKind;
  readonly name: string;
  readonly parentKey: string | null;
  readonly status: 'running' | 'completed' | 'error';
  readonly attempt: number;
  readonly input: unknown;
  readonly output: unknown;
  readonly error: Json;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

/**
 * `model` and `tool` steps are the conversation; `auxiliary` ones are model calls beside it (reasoning, summaries,
 * follow-ups), `hook` ones are the application's own code; `answer` is what the conversation keeps as its last word;
 * `wait` is a question to a person or program outside, and `continue` what came with the request to continue;
 * `decision` is which way a workflow takes, and `try` a call of a model, a tool or a function that failed and was made
 * again; `memory` is what the run changed about the memories of its user, and `knowledge` what was found for a message;
 * `work` is a part of a job; `remote` is what a run at another service did until it ended or paused.
 */
export type StepKind =
  | 'introduction'
  | 'context'
  | 'model'
  | 'auxiliary'
  | 'tool'
  | 'hook'
  | 'answer'
  | 'continue'
  | 'member'
  | 'step'
  | 'decision'
  | 'wait'
  | 'try'
  | 'memory'
  | 'knowledge'
  | 'work'
  | 'remote';

/** The header of HTTP by which a service says how many have passed a run on. */
export const hopsHeader = 'x-runyard-hops';

export const terminalStatuses: ReadonlySet<RunStatus> = new Set([
  'completed',
  'error',
  'cancelled',
  'regenerated',
]);

/** A run that has ended or paused, and that is durable. */
export interface EndedRun {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
  /** The messages of earlier runs that the model was shown. */
  readonly history: readonly Message[];
}
