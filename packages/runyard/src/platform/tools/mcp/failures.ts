import { driverFaultOf } from '../../../core/errors/driver-fault.js';
import { thrownError } from '../../../core/errors/thrown-error.js';
import { fieldsOf } from '../../../core/objects.js';
import { notOffered } from './server-requests.js';

/**
 * The outcome of a failed call. `answered`: the server refused it. `unsent`: it never reached the server, so it
 * can be made again. `lost`: its outcome is unknown.
 */
export type CallFailure = 'answered' | 'unsent' | 'lost';

const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'NOT_CONNECTED', 'EPIPE']);
const lostCodes = new Set([
  'ECONNRESET',
  'UND_ERR_SOCKET',
  'CONNECTION_CLOSED',
  'SEND_FAILED',
  'REQUEST_TIMEOUT',
]);

/** Our own code for a request whose answer can no longer come. */
export const streamEnded = -32_099;

/** Reads the errors of the client by their codes: its classes exist only once it is loaded. */
export function callFailureOf(error: unknown): CallFailure {
  const { code, status, cause } = fieldsOf(error);
  // A session that a restarted server does not know is refused before anything is done.
  if (status === 404 || status === 400) return 'unsent';
  if (typeof code === 'number') return code === streamEnded ? 'lost' : 'answered';
  if (typeof code === 'string' && unsentCodes.has(code)) return 'unsent';
  if (typeof code === 'string' && lostCodes.has(code)) return 'lost';
  if (fieldsOf(cause).code !== undefined) return callFailureOf(cause);
  return error instanceof TypeError ? 'lost' : 'answered';
}

/** What the server wanted, and the source does not offer, worded so that the reader can act on it. */
export function unofferedIn(error: unknown): Error | undefined {
  const { code, data } = fieldsOf(error);
  const { method, requiredCapabilities } = fieldsOf(data);
  // a server that looks at what is offered refuses the call itself
  const [lacking] = Object.keys(requiredCapabilities ?? {});
  const asked = code === 'CAPABILITY_NOT_SUPPORTED' ? method : lacking;
  return asked === undefined ? undefined : notOffered(String(asked));
}

const unsupportedVersion = -32022;

export function isUnsupportedVersion(error: unknown): boolean {
  return fieldsOf(error).code === unsupportedVersion;
}

/** The server cannot be used; what it said about itself is the best hint at why. */
export function unavailable(sourceName: string, error: unknown, lastWords: string): Error {
  const said = lastWords === '' ? '' : ` It wrote: ${lastWords}`;
  return new Error(`MCP server '${sourceName}' cannot be reached: ${reasonOf(error)}.${said}`, {
    cause: error,
  });
}

/** The message, with the code of the system at the bottom of it; the system's own words name hosts and paths. */
export function reasonOf(error: unknown): string {
  const thrown = thrownError(error);
  const fault = driverFaultOf(thrown);
  const message = fault?.code ?? thrown.message;
  let bottom = fieldsOf(error);
  while (typeof bottom.cause === 'object' && bottom.cause !== null) bottom = fieldsOf(bottom.cause);
  const { code } = bottom;
  const isNamed = typeof code !== 'string' || message.includes(code);
  return (isNamed ? message : `${message} (${code})`).replace(/\.$/, '');
}
