import type { Receiver } from '../../async/receiver.js';
import { errors } from '../../errors/errors.js';
import { reasonOf } from '../../errors/reason.js';
import { thrownError } from '../../errors/thrown-error.js';
import { silentLog } from '../../log.js';
import type { Timers } from '../../timers.js';
import {
  type BegunStep,
  type ChildRun,
  type ReplaySite,
  type RunContext,
  RunPaused,
  type StepSpec,
  type StepWork,
  type WithinCode,
} from '../context.js';
import { nothingSent } from '../events/sent-events.js';
import { type Executable, RunCancelled, RunFailed } from '../executable.js';
import { JournaledContext, type RunSurroundings } from '../execution/journaled-context.js';
import { LiveRun } from '../execution/live-run.js';
import { fingerprintIn } from '../journal/journal-format.js';
import {
  type Difference,
  type ExpectedStep,
  expectedInWords,
  recordInWords,
} from '../journal/journal-match.js';
import { inheritedAttempt, type Run, type StepKind, type StepRecord } from '../run.js';
import type { RunPorts } from '../run-ports.js';

/** The code of the error, and the type of the failure, of a run that its code no longer fits. */
export const definitionChanged = 'definition_changed';

/** Whether a run failed because its code had changed. */
export function isUnfit({ status, result }: Run): boolean {
  return status === 'error' && result?.error?.type === definitionChanged;
}

/** The result of replaying a run with the code. */
export interface ReplayResult {
  /** The first place where the journal and the code do not fit together; undefined when they do. */
  readonly difference?: Difference;
  /** What could not be compared without executing it, in words. */
  readonly leftOut: readonly string[];
  /** Why the comparison ended before its end, in words. */
  readonly brokeOff?: string;
}

/** What a replay has seen. Shared by the contexts of all runs inside. */
class ReplayTrail {
  /** The keys that the code asked for. */
  readonly visited = new Set<string>();
  /** What the code asked for and the run has not recorded, by key. */
  readonly missing = new Map<string, ExpectedStep>();
  /** Steps whose work would have had to be executed: what is within them was not checked. */
  readonly unopened = new Set<string>();
  /** The steps that application code makes which was not executed, by their parents. */
  readonly withinCode = new Map<string, WithinCode>();
  readonly leftOut = new Set<string>();
  difference: Difference | undefined;
}

/** Where a replay has to stop: the run has got no further, or what follows would execute something. */
class ReplayEnd extends RunPaused {
  constructor() {
    super([{ key: 'replay', kind: 'confirmation', data: { kind: 'confirmation', toolName: '' } }]);
  }
}

/** A context that answers from the journal alone. What it writes goes to a copy that is never stored. */
class ReplayContext extends JournaledContext {
  override readonly replay: ReplaySite;

  constructor(
    live: LiveRun,
    private readonly around: RunSurroundings,
    private readonly trail: ReplayTrail,
    inside: ChildRun | null = null,
  ) {
    super(live, { flush: async () => {} }, around, undefined, inside);
    this.replay = {
      stop: (within) => {
        if (within !== undefined) trail.withinCode.set(this.prefix + within.parentKey, within);
        throw new ReplayEnd();
      },
      leaveOut: (what) => trail.leftOut.add(what),
    };
  }

  override child(child: ChildRun): RunContext {
    return new ReplayContext(this.live, this.around, this.trail, this.placed(child));
  }

  override definitionChanged(difference: Difference): Error {
    this.trail.difference ??= difference;
    return super.definitionChanged(difference);
  }

  override emit(): void {}
  override emitDelta(): void {}

  override async history(): Promise<readonly never[]> {
    return [];
  }

  override async runs(): Promise<readonly never[]> {
    return [];
  }

  override async sessionSummary(): Promise<undefined> {}

  protected override matched(key: string, expected: ExpectedStep): StepRecord | undefined {
    const recorded = super.matched(key, expected);
    this.trail.visited.add(key);
    return recorded;
  }

  protected override begin(key: string, spec: BegunStep, earlier: StepRecord | undefined): StepRecord {
    if (earlier === undefined) this.trail.missing.set(key, spec);
    return super.begin(key, spec, earlier);
  }

  protected override perform<T>(
    begun: StepRecord,
    spec: StepSpec<T>,
    work: StepWork<T>,
    receiver: Receiver<T>,
  ): void {
    if (spec.contains === true) {
      super.perform(begun, spec, work, receiver);
      return;
    }
    // a call has members inside only when it delegates, and then it is looked into
    if (spec.kind !== 'tool') this.trail.unopened.add(begun.key);
    receiver.failed(new ReplayEnd());
  }
}

/**
 * Takes a stored run through the code at hand without executing anything and without writing anything: steps answer
 * from the journal, and where the run has got no further, the replay ends.
 */
export async function replayRun(
  executable: Executable,
  run: Run,
  steps: readonly StepRecord[],
  timers: Timers,
): Promise<ReplayResult> {
  const trail = new ReplayTrail();
  const live = scratchRun(run, steps, executable, timers);
  const brokeOff = await failureIn(executable, new ReplayContext(live, surroundings(timers), trail));
  live.close();
  const difference = trail.difference ?? (brokeOff === undefined ? leftOver(steps, trail) : undefined);
  return {
    ...(difference !== undefined && { difference }),
    ...(brokeOff !== undefined && { brokeOff }),
    leftOut: [...trail.leftOut],
  };
}

/**
 * Refuses to continue a run whose journal does not fit the code. Nothing is checked when the definition is the one
 * that the run was executed with last.
 */
export async function assertFits(
  executable: Executable,
  run: Run,
  steps: readonly StepRecord[],
  timers: Timers,
): Promise<void> {
  const { fingerprint } = executable;
  if (fingerprint === undefined || fingerprint === fingerprintIn(run)) return;
  const { difference } = await replayRun(executable, run, steps, timers);
  if (difference !== undefined) throw errors.definitionChanged(run.runId, run, difference);
}

/** What broke the replay off: it says nothing about what comes after that place. */
async function failureIn(executable: Executable, context: RunContext): Promise<string | undefined> {
  try {
    await executable.execute(context);
    return undefined;
  } catch (thrown) {
    const error = thrownError(thrown);
    const isEnd = error instanceof RunPaused || error instanceof RunFailed || error instanceof RunCancelled;
    return isEnd ? undefined : `${error.name}: ${reasonOf(error)}`;
  }
}

/** Kinds that the code has to ask for again. The others are stages of the framework, or records beside the steps. */
const askedForAgain: ReadonlySet<StepKind> = new Set<StepKind>([
  'step',
  'member',
  'tool',
  'decision',
  'hook',
  'wait',
]);

/** Something that the run has done or asked, and that the code did not come to. */
function leftOver(steps: readonly StepRecord[], trail: ReplayTrail): Difference | undefined {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const found = steps.find(
    (step) =>
      askedForAgain.has(step.kind) &&
      step.attempt !== inheritedAttempt &&
      !trail.visited.has(step.key) &&
      !isPartOfEnded(step, byKey, trail),
  );
  if (found === undefined) return undefined;
  // what runs beside the conversation is asked for first: the code stopped at the last one; a further model call is
  // how a conversation continues
  const isNew = ([key, { kind }]: [string, ExpectedStep]) => kind !== 'model' && isBeside(key, found.key);
  const added = [...trail.missing].findLast(isNew);
  if (added === undefined) return { key: found.key, was: recordInWords(found), is: null };
  return { key: added[0], was: null, is: expectedInWords(added[1]) };
}

/** Whether both are steps of the same run. */
function isBeside(key: string, other: string): boolean {
  return runOf(key) === runOf(other);
}

function runOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

/** What is inside a step that has ended is not asked for again, and what was not opened shows nothing. */
function isPartOfEnded(
  step: StepRecord,
  byKey: ReadonlyMap<string, StepRecord>,
  trail: ReplayTrail,
): boolean {
  const { parentKey } = step;
  if (parentKey === null) return false;
  if (trail.withinCode.get(parentKey)?.includes(step)) return true;
  const parent = byKey.get(parentKey);
  if (parent === undefined) return false;
  if (trail.unopened.has(parent.key)) return true;
  if (parent.status !== 'running' && trail.visited.has(parent.key)) return true;
  return isPartOfEnded(parent, byKey, trail);
}

function scratchRun(run: Run, steps: readonly StepRecord[], executable: Executable, timers: Timers): LiveRun {
  const start = {
    run,
    steps,
    entry: 'recovered' as const,
    // no other process is about to execute it
    leaseMs: Number.POSITIVE_INFINITY,
    session: null,
    sessionState: {},
    sentEvents: nothingSent,
    eventFields: executable.eventFields,
  };
  return new LiveRun(start, () => {}, timers);
}

/** Everything that a run can reach is out of reach: the replay ends where the code reaches for it. */
function surroundings(timers: Timers): RunSurroundings {
  return {
    timers,
    log: silentLog,
    journal: outOfReach(),
    leases: outOfReach(),
    // whatever is asked of it ends the comparison, so that it needs nothing of its type
    ports: new Proxy({} as RunPorts, { get: () => outOfReach() }),
  };
}

function outOfReach<T extends object>(): T {
  // as above
  return new Proxy({} as T, {
    get() {
      throw new ReplayEnd();
    },
  });
}
