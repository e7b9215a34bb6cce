import { errors } from '../errors/errors.js';
import { newId } from '../ids.js';
import type { JsonObject } from '../json.js';
import type { RunEngine, StartRun } from './engine.js';
import type { Executable } from './executable.js';
import type { RunHandle } from './execution/executor.js';
import { sizeFault, stateSize } from './execution/state-size.js';
import type { RunCopy } from './journal/copied-steps.js';
import type { RunJournal, SessionSnapshot } from './journal/ports.js';
import type { RunInput } from './run.js';

export interface RunRequest {
  readonly executable: Executable;
  readonly input: RunInput;
  readonly sessionId?: string;
  readonly userId: string | null;
  /** Who asks for it, as `Run.askers`; nobody by name when left out. */
  readonly askers?: readonly string[];
  readonly runId?: string;
  /** Nobody waits: the run is stored before it is acknowledged. */
  readonly background: boolean;
  readonly idempotency?: StartRun['idempotency'];
  /** Set for a run that begins with what another one did. */
  readonly copy?: RunCopy;
  /** The trace that the caller's own system began, as a W3C `traceparent`. */
  readonly traceParent?: string;
}

const sessionNameLength = 255;

/** Begins a run in its session. The one way in, whichever interface asks and however the caller waits. */
export async function startRun(
  engine: RunEngine,
  journal: RunJournal,
  request: RunRequest,
): Promise<RunHandle> {
  const { executable, input, userId } = request;
  const session =
    request.sessionId === undefined ? undefined : await ownSession(journal, request.sessionId, userId);
  const state = { ...initialState(executable, session), ...input.options.sessionState };
  checkState(session?.state ?? {}, state);
  return engine.start({
    executable,
    input,
    userId,
    askers: request.askers ?? [],
    runId: request.runId,
    sessionId: request.sessionId ?? newId(),
    session,
    sessionName: nameFrom(executable, input.content),
    state,
    // ids that clients choose can clash with another caller's: that has to be known before anything is done
    durableFirst:
      request.background ||
      request.runId !== undefined ||
      (request.sessionId !== undefined && session === undefined),
    ...(request.idempotency !== undefined && { idempotency: request.idempotency }),
    ...(request.copy !== undefined && { copy: request.copy }),
    ...(request.traceParent !== undefined && { traceParent: request.traceParent }),
  });
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

/** What somebody said first names a session; a workflow that nobody said anything to lends it its own name. */
function nameFrom({ kind, name, id }: Executable, message: string): string | null {
  if (message.trim() === '') return kind === 'workflow' ? `New ${name ?? id} Session` : null;
  const text = onOneLine(message);
  const characters = [...text.slice(0, 2 * sessionNameLength + 2)];
  return characters.length <= sessionNameLength
    ? text
    : `${characters.slice(0, sessionNameLength - 1).join('')}…`;
}

/** An object that is written over many lines is shown on one. */
function onOneLine(message: string): string {
  if (!/^\{\r?\n/.test(message)) return message;
  try {
    return JSON.stringify(JSON.parse(message));
  } catch {
    return message;
  }
}
