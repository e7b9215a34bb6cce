import { z } from 'zod';
import {
  formBoolean,
  formInteger,
  identifier,
  jsonArrayField,
  jsonObjectField,
  uploadedFiles,
} from '../../platform/http/fields.js';

export const agentParams = z.object({
  agent_id: z.string().meta({ description: 'The identifier of the agent.', examples: ['assistant'] }),
});

export const agentRunParams = agentParams.extend({
  run_id: z.string().meta({ description: 'The identifier of the run.' }),
});

const mediaArray = (what: string) =>
  jsonArrayField()
    .optional()
    .meta({ description: `A JSON array of ${what}, each with exactly one of url or content (base64).` });

/** The form of a new run. Fields that are not named here are kept as text and are visible to hooks. */
export const createRunForm = z
  .object({
    message: z.string().meta({ description: 'What to say to the agent.', examples: ['Calculate 17 * 25'] }),
    stream: formBoolean().optional().meta({
      description:
        'true: the answer is a stream of events; false: one JSON body. Left out: true, or false with background.',
      default: true,
    }),
    background: formBoolean().optional().meta({
      description:
        'true: the run is stored and goes on by itself; without stream the answer is 202 and the caller polls.',
      default: false,
    }),
    session_id: identifier().optional().meta({
      description:
        'The session to go on with; an unknown one is created under this id. Left out: a new session.',
    }),
    user_id: identifier().optional().meta({ description: 'Who the run belongs to.' }),
    files: uploadedFiles().optional().meta({
      description:
        'Files for the agent: images, audio, video, documents. Repeat the field for more than one.',
    }),
    version: formInteger({ min: 1 })
      .optional()
      .meta({ description: 'A version of a stored component. Agents registered in code have none.' }),
    // read for a factory alone, which has a status of its own for what is wrong with it
    factory_input: z
      .string()
      .optional()
      .meta({
        description: 'A JSON object for an agent that is built per request; other agents ignore it.',
        contentMediaType: 'application/json',
        contentSchema: { type: 'object' },
      }),
    monitor: formBoolean().optional().meta({ description: 'Accepted for older clients; it has no effect.' }),
    session_state: jsonObjectField()
      .optional()
      .meta({
        description: 'A JSON object merged over the state of the session.',
        examples: ['{"name":"Ada"}'],
      }),
    dependencies: jsonObjectField()
      .optional()
      .meta({
        description: 'A JSON object; its values fill {key} in the instructions.',
        examples: ['{"city":"Paris"}'],
      }),
    metadata: jsonObjectField().optional().meta({ description: 'A JSON object kept with the run.' }),
    knowledge_filters: z.string().optional().meta({
      description:
        'Limits what is searched in the knowledge: a JSON object, a filter expression, or an array of expressions.',
    }),
    output_schema: jsonObjectField()
      .optional()
      .meta({ description: 'A JSON schema that the answer has to fit; content is then an object.' }),
    use_json_schema: formBoolean().optional().meta({
      description:
        'true: output_schema has the form {"type":"json_schema","json_schema":{"name","schema"}} and is handed on as it is.',
    }),
    images: mediaArray('image objects'),
    audio: mediaArray('audio objects'),
    videos: mediaArray('video objects'),
    input_files: mediaArray('document objects'),
    add_history_to_context: formBoolean()
      .optional()
      .meta({ description: 'Overrides the setting of the agent for this run.' }),
    add_dependencies_to_context: formBoolean()
      .optional()
      .meta({ description: 'Overrides the setting of the agent for this run.' }),
    add_session_state_to_context: formBoolean()
      .optional()
      .meta({ description: 'Overrides the setting of the agent for this run.' }),
    stream_events: formBoolean().optional().meta({
      description: 'false: the stream carries only content (and how the run failed or paused).',
      default: true,
    }),
    run_id: identifier()
      .optional()
      .meta({ description: 'An identifier of your own for the run; 409 when it is taken.' }),
    debug_mode: formBoolean()
      .optional()
      .meta({ description: 'Accepted for older clients; the log level is a setting of the service.' }),
    on_disconnect: z
      .enum(['continue', 'cancel'])
      .optional()
      .meta({ description: 'What happens to the run when the client of its stream goes away.' }),
  })
  .catchall(z.unknown());

export type CreateRunForm = z.output<typeof createRunForm>;

export const runQuery = z.object({
  session_id: z
    .string()
    .optional()
    .meta({ description: 'When given, the run has to belong to this session.' }),
});

export const listRunsQuery = z.object({
  session_id: z.string().optional().meta({
    description: 'Only runs of this session, oldest first. Left out: all runs of the agent, newest first.',
  }),
  status: z
    .string()
    .optional()
    .meta({ description: 'Only runs with this status, in any case.', examples: ['completed'] }),
  limit: formInteger({ min: 1, max: 1000 })
    .optional()
    .meta({ description: 'How many runs at the most. Default: 1000 of a session, else 20.' }),
  page: formInteger({ min: 1 }).optional().meta({ description: 'Which page, beginning with 1.' }),
});

const status = z.enum(['pending', 'running', 'completed', 'error', 'cancelled', 'paused', 'regenerated']);

/** The top of a run body. Further fields depend on what the run did. */
export const runBody = z
  .looseObject({
    run_id: z.string(),
    session_id: z.string(),
    user_id: z.string().nullable(),
    agent_id: z.string(),
    agent_name: z.string().optional(),
    status: z
      .union([status, z.string()])
      .meta({ description: 'Lower case; upper case only with the compatibility switch.' }),
    content: z.unknown().meta({
      description: 'The answer: a text, or an object when a schema was asked for. Empty until there is one.',
    }),
    content_type: z.string().optional(),
    created_at: z.union([z.iso.datetime(), z.int()]),
    model: z.string().optional(),
    model_provider: z.string().optional(),
    input: z.looseObject({ input_content: z.string() }),
    messages: z.array(z.looseObject({ id: z.string(), role: z.string() })).optional(),
    tools: z.array(z.looseObject({ tool_call_id: z.string(), tool_name: z.string() })).optional(),
    metrics: z.looseObject({}).optional(),
    session_state: z.looseObject({}).optional(),
    metadata: z.looseObject({}).optional(),
    events: z.array(z.looseObject({ event: z.string() })).optional(),
  })
  .meta({
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
  });

export const startedRun = z
  .object({ run_id: z.string(), session_id: z.string(), status: z.string() })
  .meta({ id: 'StartedRun', description: 'A run that goes on in the background.' });

export const listedRun = z
  .looseObject({
    run_id: z.string(),
    parent_run_id: z.string(),
    agent_id: z.string(),
    user_id: z.string(),
    status: z.string(),
    run_input: z.string(),
    content: z.unknown(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'ListedRun', description: 'A run in a list.' });
