import { ComponentFactory } from '../../core/factories/component-factory.js';
import type { RegisteredWorkflow } from '../../core/factories/registered.js';
import type { JsonObject } from '../../core/json.js';
import type { Executable } from '../../core/runs/executable.js';
import { jsonSchemaOf } from '../../core/schemas/value-schema.js';
import type { TeamMember } from '../../core/teams/settings.js';
import { workflowTree } from '../../core/workflows/definition/workflow-tree.js';
import type { AnyWorkflow } from '../../core/workflows/workflow.js';
import {
  agentBodyOf,
  type Fields,
  factoryBodyOf,
  limitsBody,
  originFields,
  type ShownDatabases,
  withoutEmpty,
} from './agent-body.js';
import { memberBodyOf } from './team-body.js';

/** A workflow or a factory of workflows in a list. */
export function registeredWorkflowSummary(workflow: RegisteredWorkflow, databases: ShownDatabases): Fields {
  if (!(workflow instanceof ComponentFactory)) return workflowSummaryOf(workflow, databases);
  const { input_schema: _input, metadata: _metadata, ...summary } = factoryBodyOf(workflow, databases);
  return summary;
}

/** The same alone: which steps a factory makes is not known before it is asked. */
export async function registeredWorkflowBody(
  workflow: RegisteredWorkflow,
  databases: ShownDatabases,
): Promise<Fields> {
  if (!(workflow instanceof ComponentFactory)) return workflowBodyOf(workflow, databases);
  return { ...factoryBodyOf(workflow, databases), steps: [], workflow_agent: false };
}

/** A workflow in a list. */
export function workflowSummaryOf(workflow: AnyWorkflow, databases: ShownDatabases): Fields {
  const { id, name, settings } = workflow;
  return withoutEmpty({
    id,
    name,
    description: settings.description,
    db_id: databases.own,
    is_factory: false,
    ...originFields(workflow),
  });
}

/** A workflow with the tree of its steps. */
async function workflowBodyOf(workflow: AnyWorkflow, databases: ShownDatabases): Promise<Fields> {
  const { settings, nodes } = workflow;
  const { agent, inputSchema, metadata } = settings;
  return withoutEmpty({
    ...workflowSummaryOf(workflow, databases),
    input_schema: inputSchema && jsonSchemaOf(inputSchema),
    steps: await workflowTree(nodes, (component) => executorBodyOf(component, databases)),
    agent: agent && agentBodyOf(agent, databases),
    limits: limitsBody(workflow.limits),
    metadata,
    workflow_agent: agent !== undefined,
  });
}

/** Who executes a step: an agent or a team; a workflow is drawn as its steps. */
function executorBodyOf(component: Executable, databases: ShownDatabases): JsonObject {
  // a step has no other components, and the body is made of JSON
  return memberBodyOf(component as TeamMember, databases) as JsonObject;
}
