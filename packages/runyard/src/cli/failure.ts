import { errorCode } from '../core/errors/error-code.js';
/** A failure that the person at the terminal can fix: its text is shown, its stack is not. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';

  constructor(
    message: string,
    /** What the command ends with. */
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

/** What `replay` ends with when it could not compare; 1 says that a run does not fit. */
export const notCompared = 2;

/** What `eval` ends with when the command line or a file is faulty; 1 says that an eval is below its thresholds. */
export const usageError = 2;

/** How the person at the terminal can fix the cause of an error. The services that raise it know no terminal. */
const hints: Readonly<Record<string, string>> = {
  address_unavailable: 'Use --host and --port, or RUNYARD_HOST, PORT and RUNYARD_PROBE_PORT.',
  database_unavailable: 'Use --data-dir or --database, or RUNYARD_DATA_DIR or RUNYARD_DATABASE_URL.',
};

/** What to print for anything that ended a command. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof CommandFailure) return error.message;
  // By name and not by class: the application may bring its own copy of Runyard.
  if (error.name !== 'RunyardError') return error.stack ?? error.message;
  const hint = hints[errorCode(error) ?? ''];
  return hint === undefined ? error.message : `${error.message.replace(/([^.?!])$/, '$1.')} ${hint}`;
}
