/** What a driver or the system failed with. Its own words name hosts, ports, paths and statements. */
export interface DriverFault {
  /** `unreachable`: another try may succeed. `refused`: it will fail again. */
  readonly kind: 'unreachable' | 'refused';
  /** `ECONNREFUSED`, `42P01`; undefined when the driver gave none. */
  readonly code: string | undefined;
}

/** Codes of the system and of its DNS that mean: no server answers there now. */
export const unreachableCodes: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** SQL states of a database that is unavailable, starting, stopping or busy; those of class 08 are too. */
const passingSqlStates: ReadonlySet<string> = new Set(
  '40001 40P01 25006 53300 55P03 57014 57P01 57P02 57P03'.split(' '),
);
const systemCode = /^E[A-Z0-9_]{2,}$/;
const sqlState = /^[0-9A-Z]{5}$/;
/** `connect ECONNREFUSED 10.0.0.5:5432`: how the system writes it, also in the middle of a driver's own words. */
const systemText = /\b(?:connect|getaddrinfo|query[A-Z]\w*|read|write|spawn(?: \S+)?) (E[A-Z_]{3,})\b/;
const driverText =
  /^(?:Connection terminated|Connection ended unexpectedly|timeout exceeded when trying to connect|Query read timeout|Client .*not queryable)/;

interface DriverError {
  readonly message: string;
  readonly code?: unknown;
  readonly errcode?: unknown;
  readonly errors?: unknown;
  readonly severity?: unknown;
  readonly sqlState?: unknown;
  readonly sqlMessage?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
}

/** What kind of fault it is, when a driver or the system says it; undefined for the application's own errors. */
export function driverFaultOf(error: Error): DriverFault | undefined {
  try {
    return faultOf(error);
  } catch {
    // its getters throw: that is the application's own doing
    return undefined;
  }
}

function faultOf(error: DriverError): DriverFault | undefined {
  const { code, message, cause } = error;
  if (typeof code === 'string') {
    const fault = faultByCode(error, code);
    if (fault !== undefined) return fault;
  }
  if (error instanceof AggregateError)
    return error.errors
      .map((inner: unknown) => (inner instanceof Error ? faultOf(inner) : undefined))
      .find(Boolean);
  // fetch hides what it met behind these words
  if (message === 'fetch failed')
    return (cause instanceof Error ? faultOf(cause) : undefined) ?? { kind: 'unreachable', code: undefined };
  const written = systemText.exec(message)?.[1];
  if (written !== undefined) return faultOfSystem(written);
  return driverText.test(message) ? { kind: 'unreachable', code: undefined } : undefined;
}

function faultByCode(error: DriverError, code: string): DriverFault | undefined {
  if (unreachableCodes.has(code) || code.startsWith('UND_ERR_')) return { kind: 'unreachable', code };
  if (typeof error.syscall === 'string' && systemCode.test(code)) return { kind: 'refused', code };
  const isSql = [error.severity, error.sqlState, error.sqlMessage].some((part) => typeof part === 'string');
  if (isSql && (sqlState.test(code) || code.startsWith('ER_'))) {
    const passing = code.startsWith('08') || passingSqlStates.has(code);
    return { kind: passing ? 'unreachable' : 'refused', code };
  }
  if (typeof error.errcode === 'number' || code.startsWith('SQLITE_')) {
    const busy = /^SQLITE_(?:BUSY|LOCKED)/.test(code) || [5, 6].includes(Number(error.errcode) & 0xff);
    return { kind: busy ? 'unreachable' : 'refused', code };
  }
  return undefined;
}

function faultOfSystem(code: string): DriverFault {
  return { kind: unreachableCodes.has(code) ? 'unreachable' : 'refused', code };
}
