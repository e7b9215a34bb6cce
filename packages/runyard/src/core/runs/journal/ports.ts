import type { JsonObject } from '../../json.js';
import type { ApprovalWrite } from '../approval.js';
import type { Run, RunInput, RunKind, RunResult, RunStatus, StepRecord } from '../run.js';
import type { NewText } from './long-texts.js';

/**
 * The durable facts about runs, and the only truth about them. An implementation keeps the promises in these comments;
 * the conformance suite checks them on every database.
 */
export interface RunJournal {
  /**
   * Writes everything in one transaction that is durable when the promise resolves. Each write stands alone:
   * one that is refused leaves the others untouched and is named in the answer.
   */
  commit(writes: readonly RunWrite[]): Promise<readonly RefusedWrite[]>;

  load(runId: string): Promise<{ run: Run; steps: readonly StepRecord[] } | undefined>;

  /** Those of the runs that are still there, in the order of the ids. */
  loadAll(runIds: readonly string[]): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]>;

  /** The stored blocks that hold events with an index of at least `fromIndex`, in order, at most `limit`. */
  eventBlocks(runId: string, fromIndex: number, limit: number): Promise<readonly EventBlock[]>;

  /** The parts of a long text of a run, from number `from` on, at most `limit`: its JSON without the quotes. */
  textParts(runId: string, textId: string, from: number, limit: number): Promise<readonly string[]>;

  /** All long texts of a run. */
  longTexts(runId: string): Promise<readonly StoredText[]>;

  /** How many stored events have an index of at least `fromIndex` and below `toIndex`. */
  countEvents(runId: string, fromIndex: number, toIndex: number): Promise<number>;

  /** Status and next event index as stored: what a reader in another process needs to know. */
  progress(runId: string): Promise<{ status: RunStatus; nextEventIndex: number } | undefined>;

  /**
   * Stores the request to cancel a run, one for each user who asks. A repeated request changes nothing, unless it names
   * another component or session. Removes old requests of runs that have ended or never existed.
   */
  requestCancellation(request: CancelRequest): Promise<void>;

  /** The requests after `since` to cancel runs that have not ended, or ids that no run has. */
  cancellations(since: number): Promise<readonly CancelRequest[]>;

  /** A request after `since` to cancel this run. Of several, one whose user could see the stored run comes first. */
  cancellation(runId: string, since: number): Promise<CancelRequest | undefined>;

  /** The run that was started under this key, if it was after `since`. */
  idempotentRun(key: IdempotencyKey, since: number): Promise<StartedUnderKey | undefined>;

  /**
   * The last `count` completed runs of this component, or of all agents and teams, that come before a run in the order of the session, oldest
   * first. A run that is not stored yet will come after all that are.
   */
  history(query: HistoryQuery): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]>;

  /** The stored state of a session; an unknown session is undefined. */
  session(sessionId: string): Promise<SessionSnapshot | undefined>;

  /** The summary of a session, if it has one. */
  summary(sessionId: string): Promise<SessionSummary | undefined>;
}

/**
 * The request to cancel a run that this process does not execute: another one does, or the run is not stored yet. It
 * names its user, so that no user cancels a run that they cannot see.
 */
export interface CancelRequest {
  readonly runId: string;
  readonly kind: RunKind;
  readonly componentId: string;
  /** Set when the request names a session. */
  readonly sessionId: string | null;
  /** Whose runs it may end; null for a caller who may act for all users. */
  readonly userId: string | null;
  readonly reason: string;
  readonly requestedAt: number;
}

/** A key that a client chose, within one user and one component. */
export interface IdempotencyKey {
  readonly userId: string | null;
  readonly kind: RunKind;
  readonly componentId: string;
  readonly key: string;
}

export interface StartedUnderKey {
  readonly runId: string;
  /** A hash of what was asked for. */
  readonly payload: string;
}

export interface HistoryQuery {
  readonly sessionId: string;
  readonly kind: RunKind;
  readonly componentId: string;
  /** `session`: the runs of all agents and teams count, not those of the component alone. */
  readonly from?: 'own' | 'session';
  readonly count: number;
  /** The run that asks. */
  readonly runId: string;
  /** What it was made from: it stands in the place of that one. */
  readonly copyOf?: string;
}

export interface SessionSnapshot {
  readonly sessionId: string;
  readonly userId: string | null;
  readonly name: string | null;
  readonly state: JsonObject;
  /** It was made beforehand: nothing has run in it yet. */
  readonly unused?: true;
}

/** What a session was about so far. */
export interface SessionSummary {
  readonly summary: string;
  readonly topics: readonly string[];
  readonly updatedAt: number;
  /** Higher than that of every summary that this one was made from. */
  readonly coversUntil: number;
}

/** All that is new about one run since its last write. */
export interface RunWrite {
  readonly runId: string;
  readonly attempt: number;
  /**
   * Creates the session if it is not there; refused when the session belongs to another user. Without `insert` it gives a
   * session without a name the one that its run has for it.
   */
  readonly session?: SessionWrite;
  /** The first write of a run, which gives it its place in the order of its session. Refused when the id is taken. */
  readonly insert?: Run;
  /** With `insert`. Refused when another run was started under this key after `since`. */
  readonly idempotency?: IdempotencyKey & StartedUnderKey & { readonly since: number; readonly now: number };
  /** Later writes. Refused when the stored attempt is another. */
  readonly update?: RunUpdate;
  /** The lease that `insert` or `update` names ends this long after the write is stored. Left out: when they say. */
  readonly leaseMs?: number;
  /**
   * The first write of a further attempt of a run that rested: `attempt` is stored instead of the one that is named
   * here. Comes with `update`. Refused (`fenced`) when the run is not as it is described, or when a process
   * holds a lease on it.
   */
  readonly claims?: RestingRun;
  /** New and changed steps, by `seq`. */
  readonly steps: readonly StepRecord[];
  /** The `seq` of steps that no longer belong to the run. */
  readonly removedSteps?: readonly number[];
  readonly approvals?: readonly ApprovalWrite[];
  /** A completed run that becomes `regenerated` together with this write. */
  readonly replaces?: string;
  readonly events?: EventBlock;
  readonly forgotten?: ForgottenWrite;
  /** Set when the steps, the result or the events of this write may refer to long texts. */
  readonly texts?: TextsWrite;
  readonly state?: StateChange;
  readonly summary?: SummaryWrite;
  /** About how many bytes it takes: a batch of writes is bounded. */
  readonly size?: number;
  /** What the run has used in all, including the runs inside it. Comes with the write that ends its execution. */
  readonly usage?: UsageWrite;
}

/** What a run that ends no longer keeps: comes with the write that ends it. */
export interface ForgottenWrite {
  /** Stored blocks of events, as they are from now on. */
  readonly blocks: readonly EventBlock[];
  /** The ids of stored long texts to remove. */
  readonly texts: readonly string[];
  /** The input as it is from now on, if that changes. */
  readonly input?: RunInput | undefined;
  /** The bytes that belong to the run are to be removed. */
  readonly media?: boolean;
}

export type StoredText = Pick<NewText, 'id' | 'text'>;

/** The long texts of a run: each is stored once, and steps, result and events refer to it. */
export interface TextsWrite {
  readonly added: readonly NewText[];
  /** The id of a text of the steps or of the result. */
  readonly idOf: (text: string) => string;
}

/** What a run used. */
export interface RunUsage {
  /** How many runs it counts for, by their main models: itself, and those of the members of a team. */
  readonly runs: readonly CountedRuns[];
  readonly models: readonly ModelUsage[];
}

/** Runs with the same main model; both names are empty for those that have none. */
export interface CountedRuns {
  readonly provider: string;
  readonly model: string;
  readonly count: number;
}

/** Replaces what was stored of the run before. */
export interface UsageWrite extends RunUsage {
  readonly run: Pick<Run, 'sessionId' | 'kind' | 'userId' | 'createdAt'>;
}

/** What one model was used for one purpose. */
export interface ModelUsage {
  /** As the wire's metrics name it: `model`, `memory_model` … */
  readonly purpose: string;
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly audioInputTokens: number;
  readonly audioOutputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** US dollars; null when no price is known. */
  readonly cost: number | null;
}

/**
 * Replaces the summary of the session, unless the stored one covers more: a run that ends late, or is executed again,
 * does not take the session back.
 */
export interface SummaryWrite extends SessionSummary {
  readonly sessionId: string;
}

/** A run that no process executes: it waits for an answer or for a free slot, or it failed. */
export interface RestingRun {
  readonly attempt: number;
  readonly status: RunStatus;
  /** The run as it continues, for records about it in other tables, which may be removed by then. */
  readonly run?: Run;
}

export interface RunUpdate {
  readonly status: RunStatus;
  readonly result: RunResult | null;
  readonly leaseOwner: string | null;
  readonly leaseExpiresAt: number | null;
  readonly nextEventIndex: number;
  readonly updatedAt: number;
  readonly wakeAt: number | null;
  readonly definition: string | null;
  readonly askers: readonly string[];
}

export interface SessionWrite {
  readonly sessionId: string;
  readonly kind: 'agent' | 'team' | 'workflow';
  readonly componentId: string;
  readonly userId: string | null;
  /** Given to a session that has no name yet. */
  readonly name: string | null;
  /** Given to a session that has none yet. */
  readonly metadata?: JsonObject | null;
  /** The session was there when the run began: one that was removed since then is not made again. */
  readonly existing?: boolean;
  readonly now: number;
}

/** Top-level keys of the session state that a run set or removed; parallel runs do not undo each other. */
export interface StateChange {
  readonly sessionId: string;
  readonly set: JsonObject;
  readonly remove: readonly string[];
}

/** Consecutive events of one run as one row; `payload` is opaque to storage. */
export interface EventBlock {
  readonly firstIndex: number;
  readonly count: number;
  readonly payload: string;
}

export interface RefusedWrite {
  readonly runId: string;
  readonly reason: 'run_exists' | 'fenced' | 'foreign_session' | 'key_taken';
}
