import { Agent, type AnyAgent } from '../../agents/agent.js';
import { errors } from '../../errors/errors.js';
import type { Model } from '../../models/model.js';
import type { Shape } from '../../options/kind.js';
import { instanceOf } from '../../options/kinds.js';
import { isRemote } from '../../remote/remote-component.js';
import { type AnyTeam, Team } from '../../teams/team.js';
import { type AnyWorkflow, Workflow } from '../../workflows/workflow.js';
import { type EvalSubject, evaluatedRunOf } from '../evaluated-run.js';

/** What is evaluated: one of the three. */
export interface ComponentToEvaluate {
  readonly agent?: AnyAgent;
  readonly team?: AnyTeam;
  readonly workflow?: AnyWorkflow;
}

export type AnyComponent = AnyAgent | AnyTeam | AnyWorkflow;

export const componentShape: Shape<ComponentToEvaluate> = {
  agent: instanceOf(Agent, 'an agent, made with agent()'),
  team: instanceOf(Team, 'a team, made with team()'),
  workflow: instanceOf(Workflow, 'a workflow, made with workflow()'),
};

export function componentIn(owner: string, { agent, team, workflow }: ComponentToEvaluate): AnyComponent {
  const [component, ...others] = [agent, team, workflow].filter((one) => one !== undefined);
  if (component === undefined || others.length > 0)
    throw errors.invalidConfig(`${owner}: give one of agent, team and workflow: what is evaluated.`);
  return component;
}

/** The model that judges when none is given: that of an agent or of the leader of a team. */
export function ownModel(component: AnyComponent): Model | undefined {
  return component instanceof Workflow || isRemote(component) ? undefined : (component.model ?? undefined);
}

/** Runs a component where its runs are: in the service that registers it, else in this process. */
export function subjectOf(component: AnyComponent): EvalSubject {
  const { kind, id, name, model } = component;
  return {
    kind,
    id,
    name,
    model: model && { id: model.id, provider: model.provider },
    async run({ runId, input, sessionId, sessionState, dependencies, signal }) {
      const { run, steps, prices } = await component.runAs(runId, input, {
        sessionId,
        signal,
        ...(sessionState !== undefined && { sessionState }),
        ...(dependencies !== undefined && { dependencies }),
      });
      signal.throwIfAborted();
      return evaluatedRunOf(run, steps, prices);
    },
  };
}
