import { errors } from '../errors/errors.js';
import { newId } from '../ids.js';
import type { JsonObject } from '../json.js';
import type { Executable } from './executable.js';
import { sessionNameOf } from './execution/session-name.js';
import { sizeFault, stateSize } from './execution/state-size.js';
import type { RunCopy } from './journal/copied-steps.js';
import type { IdempotencyKey, RunJournal, SessionSnapshot } from './journal/ports.js';
import type { RunInput } from './run.js';

/**
 * What a caller asks for. A form, a WebSocket frame and a call in code are each read once into this value, and
 * `RunEngine.start` makes the run from it.
 */
export interface RunRequest {
  readonly input: RunInput;
  readonly userId: string | null;
  /** Who asks for it, as `Run.askers`; empty when left out. */
  readonly askers?: readonly string[];
  /** Left out: the run begins a new session. */
  readonly sessionId?: string | undefined;
  /** Chosen by the client; refused when it is taken. */
  readonly runId?: string | undefined;
  /** Made by the service for this very run: it is no other run's, and need not be stored before the run begins. */
  readonly newRunId?: string | undefined;
  /** No caller waits: the run is stored before it is acknowledged. */
  readonly background: boolean;
  /** A run that was started under this key before is not started again. */
  readonly idempotency?: RunKey | undefined;
  /** Set for a run that begins with what another one did. */
  readonly copy?: RunCopy;
  /** The trace that the caller's own system began, as a W3C `traceparent`. */
  readonly traceParent?: string | undefined;
}

/** A key that a client chose, with a hash of everything that came with it. */
export type RunKey = IdempotencyKey & { readonly payload: string };

/** The session that a new run belongs to. */
export interface RunSession {
  readonly sessionId: string;
  /** As it is stored; undefined when this run creates it. */
  readonly stored: SessionSnapshot | undefined;
  /** For a session without a name. */
  readonly name: string | null;
  /** The state that the run adds. */
  readonly state: JsonObject;
}

/** The session of a request as it is stored, or a new one. */
export function sessionOf(
  stored: SessionSnapshot | undefined,
  executable: Executable,
  { sessionId, input }: RunRequest,
): RunSession {
  const state = { ...initialState(executable, stored), ...input.options.sessionState };
  checkState(stored?.state ?? {}, state);
  return { sessionId: sessionId ?? newId(), stored, name: nameFrom(executable, input.content), state };
}

/** A session that this user may run in: their own, or undefined for one that is yet to be made. */
export async function ownSession(
  journal: RunJournal,
  sessionId: string,
  userId: string | null,
): Promise<SessionSnapshot | undefined> {
  const session = await journal.session(sessionId);
  if (session !== undefined && session.userId !== userId) throw errors.foreignSession(sessionId);
  return session;
}

/** What a request adds to the state of its session is refused before anything is done when it is too much. */
function checkState(stored: JsonObject, given: JsonObject): void {
  if (Object.keys(given).length === 0) return;
  const fault = sizeFault(stateSize({ ...stored, ...given }), stateSize(stored));
  if (fault === undefined) return;
  const msg = `Value error, ${fault}`;
  throw errors.invalidRequest([{ type: 'value_error', loc: ['body', 'session_state'], msg, input: null }]);
}

/** What a session begins with; what it was given before its first run stays. */
function initialState({ initialState: given }: Executable, session: SessionSnapshot | undefined): JsonObject {
  if (session === undefined) return given;
  if (!session.unused) return {};
  return Object.fromEntries(Object.entries(given).filter(([key]) => !Object.hasOwn(session.state, key)));
}

/** The first message names a session; without a message, the session of a workflow has the workflow's name. */
function nameFrom({ kind, name, id, changesInput }: Executable, message: string): string | null {
  // what hooks leave of the message names it: they may remove what nobody is to see
  if (changesInput === true) return null;
  return sessionNameOf(message) ?? (kind === 'workflow' ? `New ${name ?? id} Session` : null);
}

/**
 * A run of a stored component continues with the configurations that it began with, whatever is published since, and a
 * run forgets what its component said when it began: whatever ends the run finds that in it.
 */
export function inputOf({ configs, forgets, priority }: Executable, input: RunInput): RunInput {
  const isSaid = priority === undefined || input.options.priority !== undefined;
  if (configs === undefined && forgets === undefined && isSaid && input.options.forgets === undefined)
    return input;
  const { forgets: _ofOriginal, ...options } = input.options;
  return {
    ...input,
    options: {
      ...options,
      ...(configs !== undefined && { configs }),
      ...(forgets !== undefined && { forgets }),
      ...(!isSaid && { priority }),
    },
  };
}
