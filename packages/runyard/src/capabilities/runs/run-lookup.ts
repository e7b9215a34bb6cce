import { errors } from '../../core/errors/errors.js';
import type { Run, RunKind, StepRecord } from '../../core/runs/run.js';
import { type Caller, type DataScope, isWithin } from '../../platform/auth/caller.js';
import type { RunSpace, Spaces } from '../capability.js';
import type { Component, ComponentsService } from '../components/service.js';

/** What runs, and where its runs are stored. */
export interface FoundComponent {
  readonly component: Component;
  readonly space: RunSpace;
}

export interface FoundRun {
  readonly run: Run;
  readonly space: RunSpace;
  /** Undefined when it is not registered: the run can be read and ended, and nothing else. */
  readonly component: Component | undefined;
}

/** Names the runs of a component, or those of them in one session. */
export interface RunsPlace {
  readonly kind: RunKind;
  readonly componentId: string;
  readonly sessionId?: string | undefined;
}

/** Names a run as a path does. When a session is given, the run has to belong to it. */
export interface RunPlace extends RunsPlace {
  readonly runId: string;
}

/**
 * Finds components and runs. A run is found by a caller who may see it, below its own component, and nowhere else; also
 * when that component is no longer registered.
 */
export class RunLookup {
  constructor(
    private readonly components: ComponentsService,
    private readonly spaces: Spaces,
  ) {}

  async component({ kind, componentId }: RunsPlace, caller?: Caller): Promise<FoundComponent> {
    const component = this.components.find(kind, componentId) ?? this.components.missing(kind, caller);
    return { component, space: await this.spaceOf(component) };
  }

  async run(caller: Caller, place: RunPlace): Promise<FoundRun> {
    const found = await this.find(caller, place);
    if (found === undefined) throw errors.runNotFound();
    return found;
  }

  /** The run at this place, if the caller may see it. Throws when there is neither such a run nor such a component. */
  async find(caller: Caller, place: RunPlace): Promise<FoundRun | undefined> {
    const component = this.components.find(place.kind, place.componentId);
    const spaces = component === undefined ? await this.spaces.all() : [await this.spaceOf(component)];
    for (const space of spaces) {
      const run = await this.visible(space, caller, place);
      if (run !== undefined) return { run, space, component };
    }
    if (component === undefined) this.components.missing(place.kind, caller);
    return undefined;
  }

  /**
   * Where the runs of a component are: in its database, or, when it is not registered, in the first database that has
   * runs of it which the caller may see.
   */
  async spaceWith(
    scope: DataScope,
    { kind, componentId, sessionId }: RunsPlace,
    caller?: Caller,
  ): Promise<RunSpace> {
    const component = this.components.find(kind, componentId);
    if (component !== undefined) return this.spaceOf(component);
    const any = { kind, componentId, sessionId, limit: 1, offset: 0, order: 'desc' } as const;
    for (const space of await this.spaces.all()) {
      if ((await space.runs.ids(scope, any)).length > 0) return space;
    }
    return this.components.missing(kind, caller);
  }

  private spaceOf({ settings }: Component): Promise<RunSpace> {
    return this.spaces.get(settings.database);
  }

  private async visible(space: RunSpace, caller: Caller, place: RunPlace): Promise<Run | undefined> {
    const run = await this.visibleIn(space, caller, place.runId);
    if (run?.kind !== place.kind || run.componentId !== place.componentId) return undefined;
    return place.sessionId === undefined || run.sessionId === place.sessionId ? run : undefined;
  }

  async visibleIn(space: RunSpace, caller: Caller, runId: string): Promise<Run | undefined> {
    return (await space.runs.find(caller.scope, runId)) ?? liveRun(space, caller, runId);
  }

  /** The run at this place with its steps, both as they were at one moment. */
  async runWithSteps(
    caller: Caller,
    place: RunPlace,
  ): Promise<FoundRun & { readonly steps: readonly StepRecord[] }> {
    const found = await this.run(caller, place);
    return { ...found, ...((await found.space.runs.load(place.runId)) ?? { steps: [] }) };
  }
}

/** A run that has just begun may be not stored yet. */
function liveRun({ engine }: RunSpace, { scope }: Caller, runId: string): Run | undefined {
  const run = engine.handle(runId)?.run;
  return run !== undefined && isWithin(scope, run.userId) ? run : undefined;
}
