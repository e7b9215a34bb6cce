import { z } from 'zod';
import { priorities } from '../../core/runs/leases/priority.js';
import { hopsHeader } from '../../core/runs/run.js';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import {
  formBoolean,
  formInteger,
  identifier,
  jsonArrayField,
  jsonObjectField,
  uploadedFiles,
} from '../../platform/http/request/fields.js';
import { jsonMayBe } from '../../platform/http/request/json-body.js';
import { largestPage } from '../../platform/http/request/pagination.js';
import { wireFormatHeader } from '../../platform/http/response/wire-format.js';
import { maxListedEvents } from './events/listed-events.js';

const mediaArray = (what: string) =>
  jsonArrayField()
    .optional()
    .meta({ description: `A JSON array of ${what}, each with exactly one of url or content (base64).` });

/** What a caller may set for a new run, and again for one that continues. */
const optionFields = () => ({
  dependencies: jsonObjectField()
    .optional()
    .meta({
      description: 'A JSON object; its values fill {key} in the instructions.',
      examples: ['{"city":"Paris"}'],
    }),
  metadata: jsonObjectField().optional().meta({ description: 'A JSON object kept with the run.' }),
  knowledge_filters: z.string().optional().meta({
    description:
      'Restricts the knowledge search: a JSON object, a filter expression, or an array of expressions.',
    contentMediaType: 'application/json',
  }),
  output_schema: jsonObjectField()
    .optional()
    .meta({ description: 'A JSON schema that the answer must match; content is then an object.' }),
  use_json_schema: formBoolean().optional().meta({
    description:
      'true: the output_schema of this request has the form {"type":"json_schema","json_schema":{"name","schema"}} and is passed to the provider unchanged. Without output_schema it has no effect.',
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
});

/** How the caller wants to follow the run. */
const followFields = () => ({
  stream: formBoolean()
    .optional()
    .meta({
      description:
        'true: the response is a stream of events; false: one JSON body. Default: true, or false with background.',
      default: true,
      // an API browser shows an answer when it has ended
      examples: [false],
    }),
  stream_events: formBoolean().optional().meta({
    description: 'false: the stream carries only content, and the failure or pause of the run.',
    default: true,
  }),
  on_disconnect: z
    .enum(['continue', 'cancel'])
    .optional()
    .meta({ description: 'What happens to the run when its client disconnects.' }),
});

/** The form of a new run. Fields that are not named here are kept as text and are visible to hooks. */
export const createRunForm = lazySchema(() =>
  z
    .object({
      message: z.string().meta({
        description: 'The message to the agent or team, or the input of the workflow.',
        examples: ['Calculate 17 * 25'],
        [jsonMayBe]: 'object',
      }),
      ...followFields(),
      background: formBoolean().optional().meta({
        description:
          'true: the run is stored and continues in the background; without stream the response is 202 and the caller polls.',
        default: false,
      }),
      session_id: identifier().optional().meta({
        description: 'The session to continue; an unknown id creates one. If omitted: a new session.',
      }),
      user_id: identifier().optional().meta({ description: 'The user that the run belongs to.' }),
      files: uploadedFiles().optional().meta({
        description:
          'Files to work with: images, audio, video, documents. Repeat the field for more than one.',
      }),
      version: formInteger({ min: 1 })
        .optional()
        .meta({ description: 'A version of a stored component. Components registered in code have none.' }),
      // read for a factory alone, which has a status of its own for what is wrong with it
      factory_input: z
        .string()
        .optional()
        .meta({
          description: 'A JSON object for a component that a factory builds for each run; others ignore it.',
          contentMediaType: 'application/json',
          contentSchema: { type: 'object' },
        }),
      monitor: formBoolean()
        .optional()
        .meta({ description: 'Accepted for older clients; it has no effect.' }),
      session_state: jsonObjectField()
        .optional()
        .meta({
          description: 'A JSON object merged over the state of the session.',
          examples: ['{"name":"Ada"}'],
        }),
      ...optionFields(),
      images: mediaArray('image objects'),
      audio: mediaArray('audio objects'),
      videos: mediaArray('video objects'),
      input_files: mediaArray('document objects'),
      priority: z.enum(priorities).optional().meta({
        description:
          'How urgent the run is while it waits for a free slot; as the component says when omitted. high needs the scope runs:prioritize.',
        'x-addition': true,
      }),
      run_id: identifier()
        .optional()
        .meta({ description: 'Your own identifier for the run; 409 if it is taken.' }),
      debug_mode: formBoolean()
        .optional()
        .meta({ description: 'Accepted for older clients; the log level is a setting of the service.' }),
    })
    .catchall(z.unknown()),
);

type CreateRunForm = z.output<typeof createRunForm>;

/** How a form says that its caller follows the run. */
export type FollowFields = Pick<CreateRunForm, keyof ReturnType<typeof followFields> | 'background'>;

/** The form of a new run of a workflow. Fields that are not named here reach a workflow that is one function. */
export const createWorkflowRunForm = lazySchema(() =>
  z
    .object({
      ...createRunForm.omit({
        knowledge_filters: true,
        output_schema: true,
        use_json_schema: true,
        add_history_to_context: true,
      }).shape,
      additional_data: z
        .string()
        .optional()
        .meta({ description: 'Text that every step receives in addition to the input.' }),
    })
    .catchall(z.unknown()),
);

/** What starts a run, whatever it is a run of. */
export type CreateForm = CreateRunForm | z.output<typeof createWorkflowRunForm>;

/** The answers to what a run waits for: JSON, but what is wrong with it has a status of its own. */
const answersField = (what: string) =>
  z
    .string()
    .optional()
    .meta({
      description: `The \`${what}\` of the paused run as a JSON array, with the answers filled in. All other fields are ignored.`,
      contentMediaType: 'application/json',
      contentSchema: { type: 'array' },
    });

/** The form that continues a run. Fields that are not named here are kept as text and are visible to hooks. */
export const continueRunForm = lazySchema(() =>
  z
    .object({
      tools: answersField('tools'),
      requirements: answersField('requirements'),
      session_id: identifier()
        .optional()
        .meta({ description: 'If given, the run must belong to this session.' }),
      user_id: identifier()
        .optional()
        .meta({ description: 'If given, the run must belong to this user or to none.' }),
      ...followFields(),
      background: formBoolean().optional().meta({
        description:
          'true: the run continues in the background; without stream the response is 202 and the caller polls.',
        default: false,
      }),
      input: z.string().optional().meta({ description: 'The next message of the user.' }),
      continue_from: z
        .string()
        .optional()
        .meta({
          description:
            'Where to continue the conversation: `end`, `last_user`, or after this number of messages. Every tool call keeps its result.',
          default: 'end',
          [jsonMayBe]: 'number',
        }),
      fork: formBoolean()
        .optional()
        .meta({ description: 'true: a copy of the run continues under a new id.', default: false }),
      regenerate: formBoolean()
        .optional()
        .meta({ description: 'true: a copy of the run answers again.', default: false }),
      replace_original: formBoolean().optional().meta({
        description:
          'With regenerate. true (the default): once the new answer is complete, the old run becomes `regenerated` and is left out of the history.',
      }),
      additional_instructions: z
        .string()
        .optional()
        .meta({ description: 'With regenerate: the message of the user for the new answer.' }),
      ...optionFields(),
    })
    .catchall(z.unknown()),
);

export type ContinueRunForm = z.output<typeof continueRunForm>;

/** Workflows take it also with their reads and when they continue, in the older interface. */
const factoryInputField = lazySchema(() => z.string().optional(), {
  description: 'Accepted for older clients; workflows registered in code ignore it.',
});

/** The form that continues a run of a workflow. */
export const continueWorkflowRunForm = lazySchema(() =>
  z
    .object({
      step_requirements: answersField('step_requirements'),
      error_requirements: answersField('error_requirements').meta({ 'x-addition': true }),
      continue_from: z.string().min(1).max(500).optional().meta({
        description:
          'The name of a step: a new run starts there, with what the steps before it made in this run. If omitted, the run itself continues: where it paused, or with the step that failed.',
        'x-addition': true,
      }),
      session_id: continueRunForm.shape.session_id,
      user_id: continueRunForm.shape.user_id,
      ...followFields(),
      background: continueRunForm.shape.background,
      factory_input: factoryInputField,
    })
    .catchall(z.unknown()),
);

export type ContinueWorkflowRunForm = z.output<typeof continueWorkflowRunForm>;

/** What continues a run, whatever it is a run of. */
export type ContinueForm = ContinueRunForm | ContinueWorkflowRunForm;

const conversationForms = { create: createRunForm, continue: continueRunForm };

/** The forms of a run, by its kind. */
export const runForms = {
  agent: conversationForms,
  team: conversationForms,
  workflow: { create: createWorkflowRunForm, continue: continueWorkflowRunForm },
};

export const resumeForm = lazyObject(() => ({
  last_event_index: formInteger().optional().meta({
    description: 'The index of the last event that you received; if omitted or -1, all events are sent.',
  }),
  session_id: identifier().optional().meta({ description: 'If given, the run must belong to this session.' }),
}));

export const createRunHeaders = lazyObject(() => ({
  ...wireFormatHeader(),
  'idempotency-key': z.string().min(1).max(255).optional().meta({
    description:
      'Your own key for this request, kept for 24 hours. A repeated request with the same form returns the same run; with another form it is rejected (409).',
    'x-addition': true,
  }),
  traceparent: z.string().optional().meta({
    description:
      'The trace of your system that the run joins, in W3C Trace Context format. Malformed values are ignored.',
    'x-addition': true,
  }),
  [hopsHeader]: z.string().optional().meta({
    description:
      'How many services have passed the run on, each with a remote component, which sends this. Malformed values are ignored.',
    'x-addition': true,
  }),
}));

export const followHeaders = lazyObject(() => ({
  'last-event-id': z
    .string()
    // an EventSource that has seen no event yet may send it empty
    .regex(/^(-?\d{1,15})?$/)
    .optional()
    .meta({
      description: 'The id of the last event that you received. An EventSource sends it automatically.',
    }),
}));

export const followQuery = lazyObject(() => ({
  last_event_index: formInteger()
    .optional()
    .meta({ description: 'The same for clients that cannot set the header. The header takes precedence.' }),
  session_id: z.string().optional().meta({ description: 'If given, the run must belong to this session.' }),
}));

export const runQuery = lazyObject(() => ({
  session_id: z.string().optional().meta({ description: 'If given, the run must belong to this session.' }),
}));

/** In lists of runs. */
export const includeEvents = lazySchema(() => formBoolean().default(true), {
  description: `false: omits the events of streamed runs. true: each run has its first and last ${maxListedEvents / 2} events.`,
  'x-addition': true,
});

export const listRunsQuery = lazyObject(() => ({
  session_id: z.string().optional().meta({
    description:
      'Only runs of this session, oldest first. If omitted: all runs of the component, newest first.',
  }),
  status: z
    .string()
    .optional()
    .meta({ description: 'Only runs with this status, case-insensitive.', examples: ['completed'] }),
  limit: formInteger({ min: 1, max: largestPage })
    .optional()
    .meta({ description: `The maximum number of runs. Default: ${largestPage} with session_id, else 20.` }),
  page: formInteger({ min: 1 }).optional().meta({ description: 'The page number, starting at 1.' }),
  include_events: includeEvents,
}));

export const workflowRunQuery = lazyObject(() => ({
  ...runQuery.shape,
  factory_input: factoryInputField,
}));

export const listWorkflowRunsQuery = lazyObject(() => ({
  ...listRunsQuery.shape,
  factory_input: factoryInputField,
}));

export const forkQuery = lazyObject(() => ({
  user_id: z
    .string()
    .optional()
    .meta({ description: 'If given, the session must belong to this user or to none.' }),
  before_run_id: z.string().optional().meta({
    description: 'Copies only the runs that started before this run, without the summary.',
    'x-addition': true,
  }),
}));

const longestEventName = 200;

export const eventBody = lazyObject(
  () => ({
    name: z
      .string()
      .min(1)
      .max(longestEventName)
      .meta({ description: 'The name that the workflow waits for.', examples: ['paid'] }),
    data: z.json().optional().meta({ description: 'The data of the event; null if omitted.' }),
    event_id: z
      .string()
      .min(1)
      .max(longestEventName)
      .optional()
      .meta({ description: 'The same event sent again with this id counts once.' }),
  }),
  { id: 'SendEvent', examples: [{ name: 'paid', data: { euros: 80 }, event_id: 'invoice-17' }] },
);

export const eventReceipt = lazyObject(
  () => ({
    run_id: z.string(),
    event_id: z.string(),
    status: z.enum(['delivered', 'kept']).meta({
      description: 'delivered: the run continues with the event. kept: the run gets it when it waits for it.',
    }),
  }),
  { id: 'EventReceipt' },
);
