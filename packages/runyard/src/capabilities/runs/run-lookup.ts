import { isPromise } from '../../core/async/promises.js';
import { errors } from '../../core/errors/errors.js';
import type { Run, RunKind, StepRecord } from '../../core/runs/run.js';
import { type Caller, type DataScope, isWithin } from '../../platform/auth/caller.js';
import type { RunSpace, Spaces } from '../capability.js';
import type { Component, ComponentsService, MeantState } from '../components/service.js';

/** What runs, and where its runs are stored. */
export interface FoundComponent {
  readonly component: Component;
  readonly space: RunSpace;
}

export interface FoundRun {
  readonly run: Run;
  readonly space: RunSpace;
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
 * when that component is no longer registered, or cannot be built from what is stored: to read and to end a run needs
 * nothing of it.
 */
export class RunLookup {
  constructor(
    private readonly components: ComponentsService,
    private readonly spaces: Spaces,
  ) {}

  /** Throws when there is no such component, and when a stored one cannot be built. */
  component(
    { kind, componentId }: RunsPlace,
    caller?: Caller,
    state?: MeantState,
  ): FoundComponent | Promise<FoundComponent> {
    // what code registers is at hand
    const registered = state?.configs === undefined ? this.components.find(kind, componentId) : undefined;
    if (registered !== undefined) return this.inItsSpace(registered);
    return this.components
      .get(kind, componentId, caller, state)
      .then((component) => this.inItsSpace(component));
  }

  private inItsSpace(component: Component): FoundComponent | Promise<FoundComponent> {
    const opening = this.spaces.get(component.settings.database);
    return isPromise(opening)
      ? opening.then((space) => ({ component, space }))
      : { component, space: opening };
  }

  /** Where new runs of a component are stored. Nothing is built. Throws when there is no such component. */
  async home({ kind, componentId }: RunsPlace, caller?: Caller): Promise<RunSpace> {
    const home = await this.components.home(kind, componentId);
    return home === undefined
      ? this.components.missing(kind, componentId, caller)
      : this.spaces.get(home.database);
  }

  async run(caller: Caller, place: RunPlace): Promise<FoundRun> {
    const found = await this.find(caller, place);
    if (found === undefined) throw errors.runNotFound();
    return found;
  }

  /** The run at this place, if the caller may see it. Throws when there is neither such a run nor such a component. */
  async find(caller: Caller, place: RunPlace): Promise<FoundRun | undefined> {
    const { kind, componentId } = place;
    const component = this.components.find(kind, componentId);
    for (const space of await this.spacesOf(component)) {
      const run = await this.visible(space, caller, place);
      if (run !== undefined) return { run, space };
    }
    if ((await this.components.home(kind, componentId)) === undefined)
      await this.components.missing(kind, componentId, caller);
    return undefined;
  }

  /**
   * Where the runs of a component are: in its database, or, when it is not registered, in the first database that has
   * runs of it which the caller may see. The versions of a stored component may name different databases.
   */
  async spaceWith(
    scope: DataScope,
    { kind, componentId, sessionId }: RunsPlace,
    caller?: Caller,
  ): Promise<RunSpace> {
    const component = this.components.find(kind, componentId);
    if (component !== undefined) return this.spaces.get(component.settings.database);
    const any = { kind, componentId, sessionId, limit: 1, offset: 0, order: 'desc' } as const;
    for (const space of await this.spaces.all()) {
      if ((await space.runs.ids(scope, any)).length > 0) return space;
    }
    return this.home({ kind, componentId }, caller);
  }

  private async spacesOf(component: Component | undefined): Promise<readonly RunSpace[]> {
    return component === undefined ? this.spaces.all() : [await this.spaces.get(component.settings.database)];
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
