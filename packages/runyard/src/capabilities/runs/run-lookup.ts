import { errors } from '../../core/errors.js';
import type { Run, RunKind, StepRecord } from '../../core/runs/run.js';
import { type Caller, isWithin } from '../../platform/auth/caller.js';
import type { Component, ComponentsService } from '../components/service.js';
import type { RunSpace, RunSpaces } from './run-spaces.js';

/** What runs, and where its runs are stored. */
export interface FoundComponent {
  readonly component: Component;
  readonly space: RunSpace;
}

export interface FoundRun extends FoundComponent {
  readonly run: Run;
}

/** Names a run as a path does. */
export interface RunPlace {
  readonly kind: RunKind;
  readonly componentId: string;
  readonly runId: string;
  /** When given, the run has to belong to this session. */
  readonly sessionId?: string | undefined;
}

/** Finds components and runs. A run is found by whoever may see it, below its own component, and nowhere else. */
export class RunLookup {
  constructor(
    private readonly components: ComponentsService,
    private readonly spaces: RunSpaces,
  ) {}

  async component(kind: RunKind, id: string): Promise<FoundComponent> {
    const component = this.components.find(kind, id);
    if (component === undefined) throw errors.componentNotFound(kind);
    return { component, space: await this.spaces.get(component.settings.database) };
  }

  async run(caller: Caller, place: RunPlace): Promise<FoundRun> {
    const found = await this.component(place.kind, place.componentId);
    const run = await this.visible(found.space, caller, place);
    if (run === undefined) throw errors.runNotFound();
    return { ...found, run };
  }

  /** The run at this place, if the caller may see it. */
  async visible(space: RunSpace, caller: Caller, place: RunPlace): Promise<Run | undefined> {
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
