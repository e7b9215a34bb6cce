import { z } from 'zod';
import { finishReasons } from '../../../core/models/model.js';
import { priorities } from '../../../core/runs/leases/priority.js';
import { lazyObject, lazySchema } from '../../../core/schemas/lazy-schema.js';

const status = lazySchema(() =>
  z.enum(['pending', 'running', 'completed', 'error', 'cancelled', 'paused', 'regenerated']),
);

const source = lazySchema(() =>
  z.looseObject({
    url: z.string().optional(),
    title: z.string().optional(),
    cited_text: z.string().optional(),
    file_id: z.string().optional(),
    file_name: z.string().optional(),
    document_index: z.int().optional(),
    start_index: z.int().optional(),
    end_index: z.int().optional(),
  }),
);

/** How the model call ended that wrote the content. */
export const endingFields = () => ({
  finish_reason: z.enum(finishReasons).nullish().meta({
    description: 'Why the model that wrote the content stopped; tool_calls if a tool ended the run.',
    'x-addition': true,
  }),
  finish_message: z.string().nullish().meta({
    description: 'The explanation of the provider.',
    'x-addition': true,
  }),
  citations: z
    .looseObject({
      urls: z.array(z.looseObject({ url: z.string(), title: z.string().optional() })).optional(),
      documents: z
        .array(
          z.looseObject({
            document_title: z.string().optional(),
            cited_text: z.string().optional(),
            file_name: z.string().optional(),
          }),
        )
        .optional(),
      search_queries: z.array(z.string()).optional(),
      sources: z.array(source).optional(),
    })
    .nullish()
    .meta({ description: 'The sources that the content cites, in the same format for all providers.' }),
});

/** What every run body has, whatever ran. Further fields depend on what the run did. */
const runFields = () => ({
  run_id: z.string(),
  session_id: z.string(),
  user_id: z.string().nullable(),
  agent_id: z.string().meta({ description: 'The identifier of the agent, team or workflow.' }),
  version: z.int().optional().meta({
    description: 'The version of the stored component that ran.',
    'x-addition': true,
  }),
  priority: z.enum(priorities).optional().meta({
    description: 'How urgent the run is while it waits for a free slot, if it or its component says so.',
    'x-addition': true,
  }),
  status: z
    .union([status, z.string()])
    .meta({ description: 'Lower case; upper case with `agentos` compatibility.' }),
  content: z.unknown().meta({
    description:
      'The answer: text, or an object if the request has a schema. Empty until the run has an answer.',
  }),
  content_type: z.string().optional(),
  ...endingFields(),
  created_at: z.union([z.iso.datetime(), z.int()]),
  error_type: z.string().optional().meta({ description: 'The kind of failure, for status error.' }),
  error_id: z.string().optional(),
  additional_data: z.unknown().optional(),
  metrics: z.looseObject({}).optional(),
  session_state: z.looseObject({}).optional(),
  metadata: z.looseObject({}).optional(),
  events: z.array(z.looseObject({ event: z.string() })).optional(),
});

/** What a run has that is a conversation: that of an agent, or of the leader of a team. */
const conversationFields = () => ({
  model: z.string().optional(),
  model_provider: z.string().optional(),
  input: z.looseObject({ input_content: z.string() }),
  messages: z.array(z.looseObject({ id: z.string(), role: z.string() })).optional(),
  tools: z.array(z.looseObject({ tool_call_id: z.string(), tool_name: z.string() })).optional(),
  requirements: z
    .array(z.looseObject({ id: z.string(), created_at: z.string(), tool_execution: z.looseObject({}) }))
    .optional()
    .meta({ description: 'What the run waits for or has waited for.' }),
  forked_from_run_id: z.string().optional(),
  forked_from_message_index: z.int().optional(),
  forked_from_session_id: z.string().optional(),
  regenerated_from: z.string().optional(),
  last_checkpoint_at_message_index: z.int().optional(),
});

export const runBody = lazySchema(
  () =>
    z.looseObject({
      ...runFields(),
      agent_name: z.string().optional(),
      ...conversationFields(),
    }),
  {
    id: 'Run',
    description: 'A run of an agent.',
    examples: [
      {
        run_id: '019a8502-7f3e-7cc1-8d40-5a7b1a6f2c11',
        session_id: '019a8502-7f3e-7cc1-8d40-5a7b1a6f2c10',
        user_id: null,
        agent_id: 'assistant',
        status: 'completed',
        content: '17 * 25 = 425',
        created_at: '2026-11-15T09:30:00.000Z',
        input: { input_content: 'Calculate 17 * 25' },
      },
    ],
  },
);

/** A nested run: its times are seconds, and it has no `agent_id` unless an agent ran. */
const nestedRun = lazySchema(() =>
  z.looseObject({ run_id: z.string(), status: z.string(), created_at: z.int() }),
);

export const teamRunBody = lazySchema(
  () =>
    z.looseObject({
      ...runFields(),
      team_id: z.string(),
      team_name: z.string().optional(),
      ...conversationFields(),
      member_responses: z
        .array(nestedRun)
        .meta({ description: 'The runs of the members, in the order of delegation.' }),
    }),
  { id: 'TeamRun', description: 'A run of a team.' },
);

export const stepOutput = lazySchema(() =>
  z.looseObject({
    content: z.unknown(),
    step_name: z.string(),
    step_id: z.string(),
    success: z.boolean(),
  }),
);

const stepRequirement = lazySchema(() =>
  z.looseObject({
    step_id: z.string(),
    step_name: z.string(),
    step_index: z.union([z.int(), z.array(z.int())]),
  }),
);

export const workflowRunBody = lazySchema(
  () =>
    z.looseObject({
      ...runFields(),
      workflow_id: z.string(),
      workflow_name: z.string().optional(),
      input: z.unknown().meta({ description: 'Text, or an object if the workflow has an input schema.' }),
      step_results: z
        .array(stepOutput)
        .optional()
        .meta({ description: 'The results of the top-level steps, in order.' }),
      step_executor_runs: z
        .array(nestedRun)
        .optional()
        .meta({ description: 'The runs of agents, teams and workflows that executed steps, in order.' }),
      workflow_agent_run: nestedRun.optional().meta({ description: 'The run of the workflow agent.' }),
      step_requirements: z
        .array(stepRequirement)
        .optional()
        .meta({ description: 'What steps have waited for, followed by what the run waits for.' }),
      error_requirements: z
        .array(stepRequirement)
        .optional()
        .meta({ description: 'Failed steps that wait or have waited for a decision.' }),
      paused_step_index: z.int().optional(),
      paused_step_name: z.string().optional(),
      pause_kind: z.enum(['step', 'executor']).optional(),
      waiting_for: z
        .array(z.looseObject({ kind: z.enum(['event', 'sleep']), step_name: z.string() }))
        .optional()
        .meta({
          description: 'The events and times that functions of a paused workflow wait for.',
          'x-addition': true,
        }),
      step_states: z
        .array(z.looseObject({ key: z.string(), step_id: z.string(), status: z.string() }))
        .optional()
        .meta({
          description: 'The outcome of each started step, also during the run.',
          'x-addition': true,
        }),
      images: z.array(z.looseObject({})),
      videos: z.array(z.looseObject({})),
      audio: z.array(z.looseObject({})),
      files: z.array(z.looseObject({})),
    }),
  { id: 'WorkflowRun', description: 'A run of a workflow.' },
);

export const startedRun = lazyObject(
  () => ({
    run_id: z.string(),
    session_id: z.string(),
    status: z.string(),
  }),
  { id: 'StartedRun', description: 'A run that continues in the background.' },
);

export const emptyBody = lazyObject(() => ({}), { id: 'Empty', description: 'Done.' });

const checkpoint = lazyObject(
  () => ({
    checkpoint_id: z.string().nullable(),
    run_id: z.string(),
    session_id: z.string(),
    message_index: z.int(),
    continue_from: z.int(),
    status: z.string(),
    reason: z.enum(['checkpoint', 'end', 'snapshot']),
    created_at: z.int(),
    message_id: z.string().nullable(),
    message_role: z.string().nullable(),
    message_preview: z.string().nullable(),
    is_latest: z.boolean(),
  }),
  { id: 'Checkpoint', description: 'A point in the conversation from which a run can continue.' },
);

export const checkpointsBody = lazyObject(
  () => ({
    run_id: z.string(),
    session_id: z.string(),
    checkpoints: z.array(checkpoint),
  }),
  { id: 'Checkpoints', description: 'The checkpoints of a run, in the order of the conversation.' },
);

export const checkpointBody = lazyObject(() => ({ checkpoint, snapshot: runBody }), {
  id: 'CheckpointSnapshot',
  description: 'A run as it was at a checkpoint.',
});

export const teamCheckpointBody = lazyObject(() => ({ checkpoint, snapshot: teamRunBody }), {
  id: 'TeamCheckpointSnapshot',
  description: 'A run of a team as it was at a checkpoint.',
});

export const forkedSessionBody = lazyObject(
  () => ({
    session_id: z.string(),
    forked_from_session_id: z.string(),
  }),
  { id: 'ForkedSession', description: 'The copy of a session.' },
);
