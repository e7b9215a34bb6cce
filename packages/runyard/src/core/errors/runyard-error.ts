/** One fault of a request, in the form of the wire contract. */
export interface ValidationItem {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Record<string, unknown>;
}

export class RunyardError extends Error {
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    readonly options: {
      readonly items?: readonly ValidationItem[];
      readonly headers?: Record<string, string>;
      /** What a program needs to act on the error, in the words of the wire: `run_id`, for one. */
      readonly fields?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
      /** The log has a line about what is behind it: one for an incident, not one for each caller. */
      readonly reported?: boolean;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'RunyardError';
  }

  get isReported(): boolean {
    return this.options.reported ?? false;
  }

  /** What the wire shows under `detail`: the list of faults, or the text. */
  get detail(): string | readonly ValidationItem[] {
    return this.options.items ?? this.message;
  }
}

/** Whether the log has a line about what is behind the error already. */
export function isReported(error: unknown): boolean {
  return error instanceof RunyardError && error.isReported;
}

/** Whether another process has the run. */
export function isFenced(error: unknown): boolean {
  return error instanceof RunyardError && error.code === 'run_fenced';
}

/** Whether the database refuses what a run has to store, however often it is tried. */
export function isUnstorable(error: unknown): error is RunyardError {
  return error instanceof RunyardError && error.code === 'not_storable';
}

/** An entry of the catalogue. */
export function define<Arguments extends unknown[]>(
  code: string,
  status: number,
  text: (...args: Arguments) => string,
) {
  return (...args: Arguments) => new RunyardError(code, status, text(...args));
}

/** An entry of the catalogue about one run, whose id comes first. */
export function defineForRun<Arguments extends unknown[]>(
  code: string,
  status: number,
  text: (runId: string, ...args: Arguments) => string,
) {
  return (runId: string, ...args: Arguments) =>
    new RunyardError(code, status, text(runId, ...args), { fields: { run_id: runId } });
}
