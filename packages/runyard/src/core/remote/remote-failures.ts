import { RunFailed } from '../runs/executable.js';
import type { RunFailure } from '../runs/run.js';
import type { RemoteRest } from './journal-records.js';
import { RemoteFault } from './remote-service.js';

/** The failure of a run whose remote service cannot be reached: the remote run may be in progress. */
export const unreachable = 'remote_unreachable';

/** The failure of a run whose remote service does not do what it is asked. */
export const refused = 'remote_refused';

export function remoteTimeout(where: string, timeoutMs: number): RunFailed {
  return new RunFailed({
    type: 'remote_timeout',
    message: `${where} did not end within ${timeoutMs} ms (timeoutMs).`,
  });
}

/** What a run fails with because of what its remote service did or did not do. */
export function remoteFailure(where: string, error: unknown): unknown {
  if (!(error instanceof RemoteFault)) return error;
  return new RunFailed(failureOf(where, error), { cause: error });
}

function failureOf(where: string, { kind, message, status }: RemoteFault): RunFailure {
  if (kind === 'unreachable') return { type: unreachable, message: `${where} cannot be reached: ${message}` };
  const facts = status === undefined ? {} : { additionalData: { status } };
  if (status === 401 || status === 403)
    return { type: 'remote_unauthorized', message: `${where} refuses the token: ${message}`, ...facts };
  if (status === 404 || kind === 'absent')
    return { type: 'remote_not_found', message: `${where} does not exist there: ${message}`, ...facts };
  return { type: refused, message: `${where} refuses the request: ${message}`, ...facts };
}

/** What a run fails with because its remote run failed or was cancelled. */
export function failureOfRest(where: string, { status, error, content }: RemoteRest): RunFailed {
  const said = error?.message ?? (typeof content === 'string' ? content : '');
  if (status === 'cancelled')
    return new RunFailed({
      type: 'remote_cancelled',
      message: `${where} was cancelled there. ${said}`.trim(),
    });
  return new RunFailed({
    type: 'remote_run_failed',
    message: `${where} failed: ${said === '' ? 'it gives no reason' : said}`,
    ...(error?.type !== undefined && { additionalData: { error_type: error.type } }),
  });
}
