import { errors } from '../../core/errors/errors.js';
import type { LiveEval } from '../../core/evals/live-eval.js';
import { ComponentFactory } from '../../core/factories/component-factory.js';
import type { Model } from '../../core/models/model.js';
import type { RunKind } from '../../core/runs/run.js';
import type { Component, ComponentsService } from '../components/service.js';

/** A live eval of this service. */
export interface RegisteredLiveEval {
  readonly liveEval: LiveEval;
  /** Where the runs that it grades are. Undefined: in the service's own database. */
  readonly databaseId: string | undefined;
  readonly judge: Model | undefined;
}

/** Refuses evals of components that are not registered, and those that cannot be distinguished. */
export async function registeredLiveEvals(
  liveEvals: readonly LiveEval[],
  components: ComponentsService,
): Promise<RegisteredLiveEval[]> {
  const names = new Set<string>();
  const registered: RegisteredLiveEval[] = [];
  for (const liveEval of liveEvals) {
    const { name, kind, componentId } = liveEval;
    if (names.has(name))
      throw errors.invalidConfig(`Two live evals have the name '${name}'. Give one of them another name.`);
    names.add(name);
    const component = await components.shown(kind, componentId);
    if (component === undefined)
      throw errors.invalidConfig(
        `Live eval '${name}': no ${kind} with the id '${componentId}' is registered or stored. ` +
          `Registered: ${idsOf(kind, components).join(', ') || 'none'}.`,
      );
    const { database: databaseId } = component.settings;
    registered.push({ liveEval, databaseId, judge: liveEval.judge ?? modelOf(component) });
  }
  return registered;
}

/** A workflow has no model, and a factory none before it builds something. */
function modelOf(component: Component): Model | undefined {
  if (component instanceof ComponentFactory || component.kind === 'workflow') return undefined;
  return component.model ?? undefined;
}

function idsOf(kind: RunKind, components: ComponentsService): string[] {
  const lists: Readonly<Record<RunKind, readonly Component[]>> = {
    agent: components.listAgents(),
    team: components.listTeams(),
    workflow: components.listWorkflows(),
  };
  return lists[kind].map(({ id }) => id);
}
