import { z } from 'zod';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { teamModes } from '../../core/teams/settings.js';
import { formInteger } from '../../platform/http/request/fields.js';

const settingsGroup = lazySchema(() => z.looseObject({}));

const limit = lazySchema(() => z.number().nullable().optional());

const limits = lazyObject(
  () => ({
    turns: limit,
    steps: limit,
    tool_calls: limit,
    tokens: limit,
    cost: limit,
    time_ms: limit,
    bytes: limit,
  }),
  {
    description: 'The limits that the definition sets for a run; null: no limit.',
    'x-addition': true,
  },
);

export const agentParams = lazyObject(() => ({
  agent_id: z.string().meta({ description: 'The identifier of the agent.', examples: ['assistant'] }),
}));

export const teamParams = lazyObject(() => ({
  team_id: z.string().meta({ description: 'The identifier of the team.', examples: ['newsroom'] }),
}));

export const workflowParams = lazyObject(() => ({
  workflow_id: z.string().meta({ description: 'The identifier of the workflow.', examples: ['publish'] }),
}));

const version = lazySchema(() => formInteger({ min: 1 }).optional(), {
  description: 'A version of a stored component. Components registered in code have none.',
});

export const workflowQuery = lazyObject(() => ({ version }));

/** The same for agents and teams, whose reference does not read it. */
export const versionQuery = lazyObject(() => ({ version: version.meta({ 'x-addition': true }) }));

/** Where a component comes from. */
const originFields = () => ({
  is_factory: z.boolean().meta({ description: 'Whether it is built anew for each request.' }),
  factory_input_schema: settingsGroup.optional(),
  is_component: z.boolean().meta({ description: 'Whether it comes from the component store.' }),
  current_version: z
    .int()
    .optional()
    .meta({ description: 'The published version that runs when a request names none. Only in lists.' }),
  stage: z.string().optional().meta({ description: 'Whether this version is a draft or published.' }),
  version: z
    .int()
    .optional()
    .meta({ description: 'The version of the stored component that is shown.', 'x-addition': true }),
  degraded: z.string().optional().meta({
    description:
      'Why a stored component cannot run. Only in lists: other requests are refused with the reason.',
    'x-addition': true,
  }),
});

/** What an agent and the leader of a team have in common. Settings that have their default value are left out. */
const leaderFields = () => ({
  id: z.string(),
  name: z.string(),
  db_id: z.string().optional().meta({ description: 'The database that holds its sessions.' }),
  description: z.string().optional(),
  role: z.string().optional(),
  model: z
    .object({ name: z.string().optional(), model: z.string().optional(), provider: z.string().optional() })
    .optional(),
  tools: settingsGroup.optional(),
  sessions: settingsGroup.optional(),
  knowledge: settingsGroup.optional(),
  memory: settingsGroup.optional(),
  reasoning: settingsGroup.optional(),
  default_tools: settingsGroup.optional(),
  system_message: settingsGroup.optional(),
  response_settings: settingsGroup.optional(),
  introduction: z.string().optional(),
  streaming: settingsGroup.optional(),
  limits: limits.optional(),
  metadata: settingsGroup.optional(),
  input_schema: settingsGroup.optional(),
  ...originFields(),
});

/** An agent as clients see it. */
export const agentBody = lazyObject(
  () => ({
    ...leaderFields(),
    extra_messages: settingsGroup.optional(),
  }),
  {
    id: 'Agent',
    description: 'An agent that can be run.',
    examples: [
      {
        id: 'assistant',
        name: 'Assistant',
        db_id: 'default',
        is_factory: false,
        model: { name: 'Offline', model: 'offline', provider: 'Runyard' },
        sessions: { session_table: 'sessions', add_history_to_context: true },
        is_component: false,
      },
    ],
  },
);

const teamMember: z.ZodType = lazySchema(() => z.union([agentBody, teamBody]));

/** A team as clients see it: its leader as an agent, and its members. */
export const teamBody = lazyObject(
  () => ({
    ...leaderFields(),
    mode: z
      .enum(teamModes)
      .optional()
      .meta({ description: 'How its leader works with its members. A factory shows none.' }),
    members: z
      .array(teamMember)
      .optional()
      .meta({ description: 'Agents, and teams with their own members. A factory shows none.' }),
  }),
  {
    id: 'Team',
    description: 'A team that can be run.',
    examples: [
      {
        id: 'newsroom',
        name: 'Newsroom',
        db_id: 'default',
        is_factory: false,
        mode: 'coordinate',
        model: { name: 'Offline', model: 'offline', provider: 'Runyard' },
        streaming: { stream_member_events: true },
        members: [{ id: 'writer', name: 'Writer', is_factory: false, is_component: false }],
        is_component: false,
      },
    ],
  },
);

/** A component as data, in the fields that `POST /components` takes. */
export const componentCopy = lazyObject(
  () => ({
    component_id: z.string(),
    component_type: z.enum(['agent', 'team', 'workflow']),
    name: z.string(),
    version: z.int().optional().meta({ description: 'Of a stored component.' }),
    revision: z.int().optional(),
    stage: z.string().optional(),
    config: settingsGroup,
  }),
  { id: 'ComponentCopy', description: 'A component as data.' },
);

const summaryFields = () => ({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  db_id: z.string().optional().meta({ description: 'The database that holds its sessions.' }),
  ...originFields(),
});

export const workflowSummary = lazyObject(summaryFields, {
  id: 'WorkflowSummary',
  description: 'A workflow that can be run.',
});

/** A step, or a group of steps with those inside. */
const workflowStep = lazySchema(
  () =>
    z.looseObject({
      name: z.string(),
      description: z.string().optional(),
      type: z.enum(['Step', 'Steps', 'Loop', 'Parallel', 'Foreach', 'Condition', 'Router', 'Workflow']),
      agent: agentBody.optional().meta({ description: 'The agent that executes the step.' }),
      team: teamBody.optional().meta({ description: 'The team that executes the step.' }),
      workflow_id: z.string().optional().meta({ description: 'The workflow that executes the step.' }),
      get steps(): z.ZodOptional<z.ZodArray<typeof workflowStep>> {
        return z
          .array(workflowStep)
          .optional()
          .meta({ description: 'The steps of a group, or the choices of a router.' });
      },
      get else_steps(): z.ZodOptional<z.ZodArray<typeof workflowStep>> {
        return z
          .array(workflowStep)
          .optional()
          .meta({ description: 'The steps that run when the condition is not met.' });
      },
      review: settingsGroup
        .optional()
        .meta({ description: 'What a person must review.', 'x-addition': true }),
    }),
  {
    id: 'WorkflowStep',
    description: 'A step of a workflow. Limits and conditions depend on its type.',
  },
);

export const workflowBody = lazyObject(
  () => ({
    ...summaryFields(),
    input_schema: settingsGroup.optional(),
    steps: z.array(workflowStep),
    agent: agentBody.optional().meta({ description: 'The agent in front of the workflow.' }),
    team: teamBody.optional(),
    limits: limits.optional(),
    metadata: settingsGroup.optional(),
    workflow_agent: z.boolean().meta({ description: 'Whether an agent stands in front of the workflow.' }),
  }),
  { id: 'Workflow', description: 'A workflow with its steps.' },
);
