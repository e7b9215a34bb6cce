import type { JsonObject } from '../json.js';
import type { Media } from '../media/media.js';
import type { RunOptions, RunStatus } from '../runs/run.js';

/** A run at a remote service, by the ids that this side chose. */
export interface RemoteRef {
  readonly runId: string;
  readonly sessionId: string;
  /** The id that the service gave it, where it gives one; undefined while that is not known. */
  readonly taskId?: string;
}

/** A medium of the input, with its bytes unless it is at a URL. */
export interface RemoteMedia {
  readonly media: Media;
  readonly bytes?: Uint8Array;
}

/** What a remote run is started with. */
export interface RemoteStart extends RemoteRef {
  readonly message: string;
  readonly media: readonly RemoteMedia[];
  /** Undefined: the run belongs to the holder of the token. */
  readonly userId: string | undefined;
  readonly options: RunOptions;
  /** How many services have passed the run on, this one included. */
  readonly hops: number;
}

/** The answers to what a remote run waits for: its whole lists, with the answers filled in. */
export interface RemoteAnswers {
  readonly tools: readonly JsonObject[];
  readonly requirements: readonly JsonObject[];
  /** False when the run waits for what is decided at its service alone. */
  readonly given: boolean;
}

/** The name of an event by which a service says which id it gave the run: `task_id`. It is recorded, and shown to nobody. */
export const taskEvent = 'remote_task';

/** An event of a remote run, in the words of the wire. */
export interface RemoteEvent {
  readonly name: string;
  /** Its place among the events of the run; undefined for one that does not say. */
  readonly index: number | undefined;
  readonly fields: JsonObject;
}

/** A remote run as its service shows it. */
export interface RemoteRun {
  readonly status: RunStatus;
  /** The body of the run, in the words of the wire. */
  readonly body: JsonObject;
}

/**
 * The runs of one component at another service. The wire is the adapter's business. Each method throws a `RemoteFault`
 * when the service does not do what it is asked.
 */
export interface RemoteService {
  /** Where it is, for messages: without credentials. */
  readonly address: string;
  /** Starts a run and yields its events until it ends or pauses, or until the connection does. */
  start(start: RemoteStart, signal: AbortSignal): AsyncIterable<RemoteEvent>;
  /** The events after the one with this index, and then those to come. Fault `absent`: the service has no such run. */
  resume(ref: RemoteRef, afterIndex: number, signal: AbortSignal): AsyncIterable<RemoteEvent>;
  continue(ref: RemoteRef, answers: RemoteAnswers, signal: AbortSignal): AsyncIterable<RemoteEvent>;
  /** Undefined: the service has no such run. */
  read(ref: RemoteRef, signal: AbortSignal): Promise<RemoteRun | undefined>;
  cancel(ref: RemoteRef, signal: AbortSignal): Promise<void>;
}

/**
 * `unreachable`: no answer, or one of a service that is down; it may come back. `absent`: there is no such run.
 * `conflict`: the run is elsewhere than the request assumes. `refused`: the service says no, and will say so again.
 */
export type RemoteFaultKind = 'unreachable' | 'absent' | 'conflict' | 'refused';

/** Why a remote service did not do what it was asked. The message may be shown: it holds no credentials. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault';

  constructor(
    readonly kind: RemoteFaultKind,
    message: string,
    /** The status of the answer, where there was one. */
    readonly status?: number,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
