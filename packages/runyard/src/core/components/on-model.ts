import type { AnyAgent } from '../agents/agent.js';
import type { ModelLike } from '../models/resolve.js';
import { isRemote } from '../remote/remote-component.js';
import type { AnyTeam } from '../teams/team.js';
import type { AnyWorkflow } from '../workflows/workflow.js';

/**
 * A copy of a component that another model leads: runs of the component itself are not touched. Of a team, that is the
 * model of its leader. Undefined for a workflow, which has no model, and for what another service executes.
 */
export function onModel(
  component: AnyAgent | AnyTeam | AnyWorkflow,
  model: ModelLike,
): AnyAgent | AnyTeam | undefined {
  // the models of a remote component are at its service
  return isRemote(component) || component.kind === 'workflow' ? undefined : component.with({ model });
}
