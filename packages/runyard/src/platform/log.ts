import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { errorCode } from '../core/errors/error-code.js';
import { fieldsOf } from '../core/objects.js';
import { withoutSecretsInText } from '../core/secret-names.js';
import { escapeUnseen } from './log-escape.js';
import { prettyStream } from './log-pretty.js';
import { withoutSecrets } from './log-secrets.js';

export interface LogOptions {
  readonly level: string;
  readonly format: 'auto' | 'pretty' | 'json';
  /** Where lines go instead of standard output. */
  readonly destination?: DestinationStream;
}

/** The logger of a service: one line per event, secrets removed before anything is written. */
export function createLog(options: LogOptions): Logger {
  const log = pino(loggerOptions(options.level), destinationOf(options));
  const { child } = log;
  // pino does not format the bindings of children; theirs are cleaned here, and grandchildren inherit this.
  log.child = function childWithoutSecrets(this: Logger, bindings, childOptions) {
    return child.call(this, fieldsOf(withoutSecrets(bindings)), childOptions);
  } as typeof log.child;
  return log;
}

function loggerOptions(level: string): LoggerOptions {
  return {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label) => ({ level: label }),
      log: (fields) => ({ ...fieldsOf(withoutSecrets(fields)) }),
    },
    serializers: { err: (error) => describeError(error), error: (error) => describeError(error) },
    hooks: {
      logMethod(args, method) {
        const last = args.length - 1;
        const message: unknown = args[last];
        if (typeof message === 'string') args[last] = withoutSecretsInText(message);
        method.apply(this, args);
      },
      // in JSON the escape means the same character: nothing is lost
      streamWrite: (line) => escapeUnseen(line),
    },
  };
}

function destinationOf({ format, destination }: LogOptions): DestinationStream {
  const pretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY === true);
  if (pretty) {
    const colors = !destination && process.stdout.isTTY === true && !process.env.NO_COLOR;
    return prettyStream(destination ?? process.stdout, colors);
  }
  // Buffered, so that a busy service does not wait for its log; pino writes the rest when the process ends.
  return destination ?? pino.destination({ fd: 1, sync: false });
}

/** Causes beyond this many are left out: an error may be its own cause. */
const deepestCause = 5;

/** Name, text, code, stack and causes. Other properties of an error (requests, headers) may hold secrets. */
function describeError(error: unknown, depth = 0): unknown {
  try {
    return described(error, depth);
  } catch {
    // application code may throw values that throw when they are read
    return { type: 'Error', message: 'An error that cannot be read' };
  }
}

function described(error: unknown, depth: number): unknown {
  if (!(error instanceof Error)) return withoutSecrets(error);
  const code = errorCode(error);
  return {
    type: error.name,
    message: withoutSecretsInText(error.message),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack ? { stack: withoutSecretsInText(error.stack) } : {}),
    ...(error.cause === undefined || depth === deepestCause
      ? {}
      : { cause: describeError(error.cause, depth + 1) }),
  };
}
