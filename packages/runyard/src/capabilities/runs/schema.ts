import { z } from 'zod';
import {
  formBoolean,
  formInteger,
  identifier,
  jsonArrayField,
  jsonObjectField,
  uploadedFiles,
} from '../../platform/http/fields.js';
import { jsonMayBe } from '../../platform/http/json-body.js';
import { largestPage } from '../../platform/http/pagination.js';
import { wireFormatHeader } from '../../platform/http/wire-format.js';
import { maxListedEvents } from './told-events.js';

const mediaArray = (what: string) =>
  jsonArrayField()
    .optional()
    .meta({ description: `A JSON array of ${what}, each with exactly one of url or content (base64).` });

/** What a caller may set for a new run, and again for one that goes on. */
const optionFields = {
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
    contentMediaType: 'application/json',
  }),
  output_schema: jsonObjectField()
    .optional()
    .meta({ description: 'A JSON schema that the answer has to fit; content is then an object.' }),
  use_json_schema: formBoolean().optional().meta({
    description:
      'true: output_schema has the form {"type":"json_schema","json_schema":{"name","schema"}} and is handed on as it is.',
  }),
  add_history_to_context: formBoolean()
    .optional()
    .meta({ description: 'Overrides the setting of the agent for this run.' }),
  add_dependencies_to_context: formBoolean()
    .optional()
    .meta({ description: 'Overrides the setting of the agent for this run.' }),
  add_session_state_to_context: formBoolean()
    .optional()
    .meta({ description: 'Overrides the setting of the agent for this run.' }),
};

export type OptionFields = z.output<z.ZodObject<typeof optionFields>>;

/** How the caller wants to follow the run. */
const followFields = {
  stream: formBoolean()
    .optional()
    .meta({
      description:
        'true: the answer is a stream of events; false: one JSON body. Left out: true, or false with background.',
      default: true,
      // an API browser shows an answer when it has ended
      examples: [false],
    }),
  stream_events: formBoolean().optional().meta({
    description: 'false: the stream carries only content (and how the run failed or paused).',
    default: true,
  }),
  on_disconnect: z
    .enum(['continue', 'cancel'])
    .optional()
    .meta({ description: 'What happens to the run when the client of its stream goes away.' }),
};

/** The form of a new run. Fields that are not named here are kept as text and are visible to hooks. */
export const createRunForm = z
  .object({
    message: z.string().meta({
      description: 'What to say to the agent or the team, or what the workflow is to work on.',
      examples: ['Calculate 17 * 25'],
      [jsonMayBe]: 'object',
    }),
    ...followFields,
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
      description: 'Files to work with: images, audio, video, documents. Repeat the field for more than one.',
    }),
    version: formInteger({ min: 1 })
      .optional()
      .meta({ description: 'A version of a stored component. What is registered in code has none.' }),
    // read for a factory alone, which has a status of its own for what is wrong with it
    factory_input: z
      .string()
      .optional()
      .meta({
        description: 'A JSON object for an agent that is built per request; all others ignore it.',
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
    ...optionFields,
    images: mediaArray('image objects'),
    audio: mediaArray('audio objects'),
    videos: mediaArray('video objects'),
    input_files: mediaArray('document objects'),
    run_id: identifier()
      .optional()
      .meta({ description: 'An identifier of your own for the run; 409 when it is taken.' }),
    debug_mode: formBoolean()
      .optional()
      .meta({ description: 'Accepted for older clients; the log level is a setting of the service.' }),
  })
  .catchall(z.unknown());

export type CreateRunForm = z.output<typeof createRunForm>;

/** The form of a new run of a workflow. Fields that are not named here reach a workflow that is one function. */
export const createWorkflowRunForm = createRunForm
  .omit({
    knowledge_filters: true,
    output_schema: true,
    use_json_schema: true,
    add_history_to_context: true,
  })
  .extend({
    additional_data: z
      .string()
      .optional()
      .meta({ description: 'A text that every step is given beside the input.' }),
  });

export type CreateWorkflowRunForm = z.output<typeof createWorkflowRunForm>;

/** What starts a run, whatever it is a run of. */
export type CreateForm = CreateRunForm | CreateWorkflowRunForm;

/** The answers to what a run waits for: JSON, but what is wrong with it has a status of its own. */
const answersField = (what: string) =>
  z
    .string()
    .optional()
    .meta({
      description: `The \`${what}\` of the paused run as a JSON array, with the answers filled in. Only the answers are read.`,
      contentMediaType: 'application/json',
      contentSchema: { type: 'array' },
    });

/** The form that lets a run go on. Fields that are not named here are kept as text and are visible to hooks. */
export const continueRunForm = z
  .object({
    tools: answersField('tools'),
    requirements: answersField('requirements'),
    session_id: identifier()
      .optional()
      .meta({ description: 'When given, the run has to belong to this session.' }),
    user_id: identifier()
      .optional()
      .meta({ description: 'When given, the run has to belong to this user, or to nobody.' }),
    ...followFields,
    background: formBoolean().optional().meta({
      description: 'true: the run goes on by itself; without stream the answer is 202 and the caller polls.',
      default: false,
    }),
    input: z.string().optional().meta({ description: 'What the user says next.' }),
    continue_from: z
      .string()
      .optional()
      .meta({
        description:
          'Where in the conversation to go on: `end`, `last_user`, or after so many messages. No tool call is left without its result.',
        default: 'end',
        [jsonMayBe]: 'number',
      }),
    fork: formBoolean()
      .optional()
      .meta({ description: 'true: a copy of the run goes on, under an id of its own.', default: false }),
    regenerate: formBoolean()
      .optional()
      .meta({ description: 'true: a copy of the run answers again.', default: false }),
    replace_original: formBoolean().optional().meta({
      description:
        'With regenerate. true (the default): when the new answer is there, the old run is `regenerated` and left out of the history.',
    }),
    additional_instructions: z
      .string()
      .optional()
      .meta({ description: 'With regenerate: what the user says to the new try.' }),
    ...optionFields,
  })
  .catchall(z.unknown());

export type ContinueRunForm = z.output<typeof continueRunForm>;

/** Workflows take it also with their reads and when they go on, in the older interface. */
const factoryInputField = z
  .string()
  .optional()
  .meta({ description: 'Accepted for older clients; workflows that are registered in code ignore it.' });

/** The form that lets a run of a workflow go on. */
export const continueWorkflowRunForm = z
  .object({
    step_requirements: answersField('step_requirements'),
    error_requirements: answersField('error_requirements').meta({ 'x-addition': true }),
    session_id: continueRunForm.shape.session_id,
    user_id: continueRunForm.shape.user_id,
    ...followFields,
    background: continueRunForm.shape.background,
    factory_input: factoryInputField,
  })
  .catchall(z.unknown());

export type ContinueWorkflowRunForm = z.output<typeof continueWorkflowRunForm>;

/** What lets a run go on, whatever it is a run of. */
export type ContinueForm = ContinueRunForm | ContinueWorkflowRunForm;

export const resumeForm = z.object({
  last_event_index: formInteger()
    .optional()
    .meta({ description: 'The index of the last event that you have; left out or -1: all are sent.' }),
  session_id: identifier()
    .optional()
    .meta({ description: 'When given, the run has to belong to this session.' }),
});

export const createRunHeaders = z.object({
  ...wireFormatHeader,
  'idempotency-key': z.string().min(1).max(255).optional().meta({
    description:
      'A key of your own for this request, kept 24 hours: sent again with the same form it answers with the same run; with another form it is refused (409).',
    'x-addition': true,
  }),
  traceparent: z.string().optional().meta({
    description:
      'The trace of your own system that the run is to be a part of, as W3C Trace Context writes it. One that is malformed is ignored.',
    'x-addition': true,
  }),
});

export const followHeaders = z.object({
  'last-event-id': z
    .string()
    // an EventSource that has seen no event yet may send it empty
    .regex(/^(-?\d{1,15})?$/)
    .optional()
    .meta({ description: 'The id of the last event that you have; an EventSource sends it by itself.' }),
});

export const followQuery = z.object({
  last_event_index: formInteger()
    .optional()
    .meta({ description: 'The same for clients that cannot set the header, which wins.' }),
  session_id: z
    .string()
    .optional()
    .meta({ description: 'When given, the run has to belong to this session.' }),
});

export const runQuery = z.object({
  session_id: z
    .string()
    .optional()
    .meta({ description: 'When given, the run has to belong to this session.' }),
});

/** In lists of runs. */
export const includeEvents = formBoolean()
  .default(true)
  .meta({
    description: `false: without the events of streamed runs. Else each has the first and the last ${maxListedEvents / 2} of them.`,
    'x-addition': true,
  });

export const listRunsQuery = z.object({
  session_id: z.string().optional().meta({
    description:
      'Only runs of this session, oldest first. Left out: all runs of the component, newest first.',
  }),
  status: z
    .string()
    .optional()
    .meta({ description: 'Only runs with this status, in any case.', examples: ['completed'] }),
  limit: formInteger({ min: 1, max: largestPage })
    .optional()
    .meta({ description: `How many runs at the most. Default: ${largestPage} of a session, else 20.` }),
  page: formInteger({ min: 1 }).optional().meta({ description: 'Which page, beginning with 1.' }),
  include_events: includeEvents,
});

export const workflowRunQuery = runQuery.extend({ factory_input: factoryInputField });

export const listWorkflowRunsQuery = listRunsQuery.extend({ factory_input: factoryInputField });

export const forkQuery = z.object({
  user_id: z
    .string()
    .optional()
    .meta({ description: 'When given, the session has to belong to this user, or to nobody.' }),
});
