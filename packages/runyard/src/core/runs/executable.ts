import type { Receiver } from '../async/receiver.js';
import type { RunEvent } from '../events/run-event.js';
import type { JsonObject } from '../json.js';
import type { Knowledge } from '../knowledge/knowledge.js';
import type { ToolSource } from '../tools/tool-source.js';
import type { Requirement, RunContext } from './context.js';
import type { CallApplication } from './execution/code-owner.js';
import type { Priority } from './leases/priority.js';
import type { AnyLimits } from './limits/run-limits.js';
import type { Continuation, ContinueFrom } from './resume/continuation.js';
import type { Run, RunFailure, RunKind, RunOptions, RunResult, StepRecord } from './run.js';

/** What the heart can execute: an agent, a team, a workflow. */
export interface Executable {
  readonly kind: RunKind;
  readonly id: string;
  readonly name: string | null;
  readonly model: { readonly id: string; readonly provider: string } | null;
  /**
   * Identifies the structure that a journal has to fit: the same text for the same steps, members, hooks and gates.
   * Left out: it cannot be compared with a journal before it is executed.
   */
  readonly fingerprint?: string;
  /** The states of the stored components that it was built from, as `RunOptions.configs`. Left out: code defines it. */
  readonly configs?: RunOptions['configs'];
  /** What its runs do not keep, as `RunOptions.forgets`. Left out: they keep all. */
  readonly forgets?: RunOptions['forgets'];
  /** How urgent its runs are, unless a request says otherwise. Left out: `normal`. */
  readonly priority?: Priority | undefined;
  /** The state that a new session begins with. */
  readonly initialState: JsonObject;
  /** What a session that has no metadata is given by the first run in it. */
  readonly sessionMetadata?: JsonObject | undefined;
  /** Stored as the first run of a new session. */
  readonly introduction?: string | undefined;
  /** Whether hooks may change the input of a run: what they leave of it names the session. Left out: none do. */
  readonly changesInput?: boolean;
  /** How much a run of it may do. Left out: the defaults of its kind. */
  readonly limits?: AnyLimits | undefined;
  /** The knowledge bases that it and what runs inside it search. Left out: none. */
  readonly knowledgeBases?: readonly Knowledge[];
  /** Where its tools, and those of what runs inside it, come from. Left out: from nowhere that is connected to. */
  readonly toolSources?: readonly ToolSource[];
  /** Fields that each of its events carries. */
  readonly eventFields: JsonObject;
  /** Throws when it lacks something that a run of it needs. Left out: it lacks nothing. */
  assertRuns?(): void;
  /** Checks what a caller says and answers with the input of the run. Left out: any text will do. */
  acceptInput?(message: string, call?: CallApplication): string | Promise<string>;
  execute(context: RunContext): Promise<RunResult>;
  /** The same without a promise, for runs that may wait for long. Left out: there is only `execute`. */
  executeFor?(context: RunContext, receiver: Receiver<RunResult>): void;
  /**
   * What of a run is kept when it, or a copy of it, continues from there; undefined when it cannot. Left out: runs of
   * this kind continue only where they paused. Throws when there is no such place.
   */
  continuation?(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation | undefined;
  /** What the run has cost so far, in wire form: for one that does not complete. */
  metrics?(context: RunContext): JsonObject;
  /** What executes a run within one of this component's, whose context is `around`. */
  inside?(run: Run, around: RunContext): Executable | undefined;
  /** Whether functions of it, or of what runs inside it, may read the claims of the caller. Left out: none do. */
  readonly readsClaims?: boolean;
  /** A run has ended before its work has: lets go of what it began elsewhere. Nothing waits for it. Left out: nothing. */
  leave?(context: RunContext, end: RunEnd): void;
  /**
   * The run that it was made for is no longer executed in this process, or is not going to be: lets go of what was
   * opened for this run. Nothing waits for it. Left out: it was made for no single run.
   */
  done?(): void;
  /** The last events of a run that ended this way, in the words of the wire. */
  endEvents(end: RunEnd, context: RunContext): readonly RunEvent[];
}

/** What was made for a run that does not begin is let go of. */
export function unlessRefused<T>(
  made: Pick<Executable, 'done'>,
  begin: () => T | Promise<T>,
): T | Promise<T> {
  // what was made for no single run stays
  return made.done === undefined ? begin() : beginOrLetGo(made, begin);
}

async function beginOrLetGo<T>(made: Pick<Executable, 'done'>, begin: () => T | Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (error) {
    made.done?.();
    throw error;
  }
}

/** How an execution ended, and its output. */
export type RunEnd =
  | { readonly status: 'completed'; readonly result: RunResult }
  | { readonly status: 'error'; readonly result: RunResult; readonly failure: RunFailure }
  | { readonly status: 'cancelled'; readonly result: RunResult; readonly reason: string }
  | { readonly status: 'paused'; readonly result: RunResult; readonly requirements: readonly Requirement[] };

/** Thrown by an executor that knows why it failed. */
export class RunFailed extends Error {
  constructor(
    readonly failure: RunFailure,
    options?: { cause?: unknown },
  ) {
    super(failure.message, options);
    this.name = 'RunFailed';
  }
}

/** The reason of the abort signal of a cancelled run. */
export class RunCancelled extends Error {
  constructor(readonly reason: string) {
    super(reason);
    this.name = 'RunCancelled';
  }
}

/** The reason of the abort signal of a run that this process releases so that another can take it over. */
export class RunReleased extends Error {
  constructor() {
    super('The service is stopping; the run continues when it is back.');
    this.name = 'RunReleased';
  }
}
