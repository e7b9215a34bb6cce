import { z } from 'zod';
import { lazySchema } from '../../../core/schemas/lazy-schema.js';
import { endingFields, stepOutput } from './response-schema.js';

const object = () => z.looseObject({});
const objects = () => z.array(object());

const listedFields = () => ({
  run_id: z.string(),
  status: z.string(),
  run_input: z.string().meta({ description: 'The input; an object as JSON text.' }),
  content: z.unknown().optional(),
  metrics: object().nullish(),
  events: objects().nullish().meta({
    description:
      'The events of a streamed run; content deltas only for workflows. Null or absent if the run was not streamed.',
  }),
  created_at: z.iso.datetime(),
  reasoning_content: z.string().nullish(),
  reasoning_steps: objects().nullish(),
  reasoning_messages: objects().nullish(),
  references: objects().nullish(),
  ...endingFields(),
  images: objects().nullish(),
  videos: objects().nullish(),
  audio: objects().nullish(),
  files: objects().nullish(),
  response_audio: object().nullish(),
});

const conversationFields = () => ({
  ...listedFields(),
  user_id: z.string().meta({ description: 'Empty if the run has no user.' }),
  parent_run_id: z.string().meta({ description: 'Empty if the run has no parent.' }),
  run_response_format: z.string().nullish().meta({ description: 'text, or json for an object.' }),
  messages: objects().nullish(),
  tools: objects().nullish(),
  session_state: object().nullish().meta({ description: 'The state at the end of the run.' }),
  input_media: object().nullish(),
  followups: z.array(z.string()).nullish(),
  forked_from_run_id: z.string().nullish(),
  forked_from_message_index: z.int().nullish(),
  forked_from_session_id: z.string().nullish(),
  regenerated_from: z.string().nullish(),
  last_checkpoint_at_message_index: z.int().nullish(),
});

export const listedRun = lazySchema(() => z.looseObject({ ...conversationFields(), agent_id: z.string() }), {
  id: 'ListedRun',
  description: 'A run in a list.',
});

export const listedTeamRun = lazySchema(
  () => z.looseObject({ ...conversationFields(), team_id: z.string() }),
  { id: 'ListedTeamRun', description: 'A run of a team in a list.' },
);

export const listedWorkflowRun = lazySchema(
  () =>
    z.looseObject({
      ...listedFields(),
      workflow_id: z.string(),
      user_id: z.string(),
      content_type: z.string().nullish(),
      step_results: z.array(stepOutput),
      step_executor_runs: objects().nullish(),
      step_requirements: objects().nullish(),
      pause_kind: z.string().nullish(),
      paused_step_name: z.string().nullish(),
      paused_step_index: z.int().nullish(),
    }),
  { id: 'ListedWorkflowRun', description: 'A run of a workflow in a list.' },
);
