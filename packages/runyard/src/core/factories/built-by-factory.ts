import type { CodeRuns, CodeRunTypes, RunSite } from '../components/code-runs.js';
import { standIn } from '../components/stand-in.js';
import type { RunEvent } from '../events/run-event.js';
import type { JsonObject } from '../json.js';
import type { RunContext } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import type { CallApplication } from '../runs/execution/code-owner.js';
import type { AnyLimits } from '../runs/limits/run-limits.js';
import type { Continuation, ContinueFrom } from '../runs/resume/continuation.js';
import { assertFits } from '../runs/resume/replay.js';
import type { Run, RunKind, RunOptions, RunResult, StepRecord } from '../runs/run.js';

/** What a factory can build: an agent, a team or a workflow. */
export interface Buildable<Types extends CodeRunTypes = CodeRunTypes> extends Executable {
  readonly fingerprint: string;
  readonly settings: { readonly database?: string };
  inCode(site: RunSite): CodeRuns<Types>;
}

interface FactoryName {
  readonly kind: RunKind;
  readonly id: string;
  readonly name: string;
}

/** What comes out of a factory runs under the name of the factory. */
abstract class FactoryMade implements Executable {
  readonly kind: RunKind;
  readonly id: string;
  readonly name: string;
  readonly eventFields: JsonObject;
  abstract readonly model: Executable['model'];
  abstract readonly initialState: JsonObject;

  constructor({ kind, id, name }: FactoryName) {
    this.kind = kind;
    this.id = id;
    this.name = name;
    this.eventFields = { [`${kind}_id`]: id, [`${kind}_name`]: name };
  }

  /** What knows how a run of it ends: what was built, or what stands in for it. */
  protected abstract by(run: Run): Executable;

  abstract execute(context: RunContext): Promise<RunResult>;

  inside(run: Run, around: RunContext): Executable | undefined {
    return this.by(around.run).inside?.(run, around);
  }

  metrics(context: RunContext): JsonObject {
    return this.by(context.run).metrics?.(context) ?? {};
  }

  leave(context: RunContext, end: RunEnd): void {
    this.by(context.run).leave?.(context, end);
  }

  endEvents(end: RunEnd, context: RunContext): readonly RunEvent[] {
    return this.by(context.run).endEvents(end, context);
  }
}

/** The component that a factory has built for a run. */
export class BuiltByFactory<Built extends Buildable = Buildable> extends FactoryMade {
  constructor(
    factory: FactoryName,
    readonly built: Built,
    /** Closes what was opened for this run alone. */
    readonly done: () => void,
  ) {
    super(factory);
  }

  get model(): Executable['model'] {
    return this.built.model;
  }

  get fingerprint(): string {
    return this.built.fingerprint;
  }

  get initialState(): JsonObject {
    return this.built.initialState;
  }

  get sessionMetadata(): JsonObject | undefined {
    return this.built.sessionMetadata;
  }

  get introduction(): string | undefined {
    return this.built.introduction;
  }

  get changesInput(): boolean {
    return this.built.changesInput ?? false;
  }

  get forgets(): RunOptions['forgets'] {
    return this.built.forgets;
  }

  get limits(): AnyLimits | undefined {
    return this.built.limits;
  }

  get priority(): Executable['priority'] {
    return this.built.priority;
  }

  assertRuns(): void {
    this.built.assertRuns?.();
  }

  async acceptInput(message: string, call?: CallApplication): Promise<string> {
    return (await this.built.acceptInput?.(message, call)) ?? message;
  }

  continuation(run: Run, steps: readonly StepRecord[], from: ContinueFrom): Continuation | undefined {
    return this.built.continuation?.(run, steps, from);
  }

  execute(context: RunContext): Promise<RunResult> {
    return this.built.execute(context);
  }

  protected by(): Executable {
    return this.built;
  }
}

/**
 * A placeholder for the component of a stored run until the run is executed: what goes wrong with the factory then is
 * the end of that run, and a factory that never answers blocks only that run, which can be cancelled.
 */
export class RebuiltByFactory extends FactoryMade {
  readonly model = null;
  readonly initialState = {};
  private built: BuiltByFactory | undefined;
  private isDone = false;

  constructor(
    factory: FactoryName,
    /** A copy of the run forgets the same. */
    readonly forgets: RunOptions['forgets'],
    private readonly build: (call: CallApplication) => Promise<BuiltByFactory>,
  ) {
    super(factory);
  }

  async execute(context: RunContext): Promise<RunResult> {
    this.built ??= await this.build(context.callApplication);
    // the run may have ended before the factory has built what it needs
    if (this.isDone) this.built.done();
    context.signal.throwIfAborted();
    // nothing of what it is made of was known when the run was taken up
    await assertFits(this.built, context.run, context.allSteps(), context.timers);
    const { limits } = this.built;
    if (limits !== undefined) context.guard?.limit(limits);
    return this.built.execute(context);
  }

  done(): void {
    this.isDone = true;
    this.built?.done();
  }

  protected by(run: Run): Executable {
    return this.built ?? standIn(run);
  }
}
