import { errors } from '../errors.js';
import { newId } from '../ids.js';
import type { RunCopy, RunEngine, StartRun } from './engine.js';
import type { Executable } from './executable.js';
import type { RunHandle } from './executor.js';
import type { RunJournal, SessionSnapshot } from './ports.js';
import type { RunInput } from './run.js';

export interface RunRequest {
  readonly executable: Executable;
  readonly input: RunInput;
  readonly sessionId?: string;
  readonly userId: string | null;
  readonly runId?: string;
  /** Nobody waits: the run is stored before it is acknowledged. */
  readonly background: boolean;
  readonly idempotency?: StartRun['idempotency'];
  /** Set for a run that begins with what another one did. */
  readonly copy?: RunCopy;
  /** The trace that the caller's own system began, as a W3C `traceparent`. */
  readonly traceParent?: string;
}

const sessionNameLength = 80;

/** Begins a run in its session. The one way in, whichever interface asks and however the caller waits. */
export async function startRun(
  engine: RunEngine,
  journal: RunJournal,
  request: RunRequest,
): Promise<RunHandle> {
  const { executable, input, userId } = request;
  const session =
    request.sessionId === undefined ? undefined : await ownSession(journal, request.sessionId, userId);
  return engine.start({
    executable,
    input,
    userId,
    runId: request.runId,
    sessionId: request.sessionId ?? newId(),
    session,
    sessionName: nameFrom(input.content),
    state: { ...(session === undefined ? executable.initialState : {}), ...input.options.sessionState },
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

function nameFrom(message: string): string {
  const first = message.trim().split('\n', 1)[0] ?? '';
  // an object is written over many lines, of which the first says nothing
  const line = first === '{' ? message.slice(0, 2 * sessionNameLength).replace(/\s+/g, ' ') : first;
  const characters = [...line];
  return characters.length <= sessionNameLength
    ? line
    : `${characters.slice(0, sessionNameLength - 1).join('')}…`;
}
