import type { Json, JsonObject } from '../json.js';
import type { Log } from '../log.js';

/** The state of the session, as a tool may read and change it. Changes are stored with the run. */
export interface SessionState {
  get(key: string): Json | undefined;
  set(key: string, value: Json): void;
  delete(key: string): void;
  /** A copy of the whole. */
  all(): JsonObject;
}

/** What a tool is told about the call that it serves. */
export interface ToolContext {
  readonly runId: string;
  readonly sessionId: string;
  readonly userId: string | null;
  readonly toolCallId: string;
  /** The same whenever this very call is executed again, so that its effect can be had only once. */
  readonly idempotencyKey: string;
  /** Aborted when the run is cancelled or the tool's time is up. */
  readonly signal: AbortSignal;
  readonly state: SessionState;
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
  /** Sends an event of your own to whoever follows the run. */
  emit(customEvent: JsonObject): void;
  readonly log: Log;
}
