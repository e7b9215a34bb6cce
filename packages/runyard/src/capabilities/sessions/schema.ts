import { z } from 'zod';
import type { Json, JsonObject } from '../../core/json.js';
import { maxStateKeyLength } from '../../core/runs/execution/session-state.js';
import { sizeFault, stateSize } from '../../core/runs/execution/state-size.js';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { databaseQuery } from '../../platform/http/request/database-query.js';
import { formInteger, identifier } from '../../platform/http/request/fields.js';
import { pageBody, pageQuery } from '../../platform/http/request/pagination.js';

const kind = lazySchema(() => z.enum(['agent', 'team', 'workflow']));

const object = () => z.record(z.string(), z.custom<Json>());

const stateObject = () =>
  object()
    .refine((state) => Object.keys(state).every((key) => key.length <= maxStateKeyLength), {
      error: `a key of session_state has at most ${maxStateKeyLength} characters`,
    })
    .refine((state) => sizeFault(stateSize(state)) === undefined, {
      // only what is an object comes to this check
      error: ({ input }) => sizeFault(stateSize(input as JsonObject)),
    });

const seconds = (what: string) =>
  formInteger()
    .optional()
    .meta({
      description: `Only sessions created at this time or ${what}, in Unix seconds.`,
      'x-addition': true,
    });

export const listSessionsQuery = lazyObject(() => ({
  type: kind.optional().meta({ description: 'Only sessions of this kind of component.' }),
  component_id: z.string().optional().meta({
    description: 'Only sessions with this agent, team or workflow. Members and steps do not count.',
  }),
  user_id: z.string().optional().meta({ description: 'Only sessions of this user.' }),
  session_name: z.string().optional().meta({
    description:
      'Part of the name, case-insensitive, whether the name was set or comes from the first message.',
  }),
  ...pageQuery({ default: 20, firstPage: 0 }),
  sort_by: z
    .string()
    .default('created_at')
    .meta({
      description:
        'created_at, updated_at, session_id, user_id, session_type, agent_id, team_id or workflow_id. Other values ' +
        'mean created_at.',
    }),
  sort_order: z.enum(['asc', 'desc']).default('desc'),
  created_after: seconds('later'),
  created_before: seconds('earlier'),
  ...databaseQuery(),
}));

export const createSessionQuery = lazyObject(() => ({
  type: kind.default('agent').meta({ description: 'The kind of component that the session is with.' }),
  db_id: databaseQuery().db_id,
}));

export const sessionParams = lazyObject(() => ({
  session_id: z.string().meta({ description: 'The identifier of the session.' }),
}));

/** Names a session: who has to own it, and in which database it is. */
export const sessionQuery = lazyObject(() => ({
  type: kind
    .optional()
    .meta({ description: 'A hint. The response has the format of the actual session type.' }),
  user_id: z.string().optional().meta({ description: 'The user that the session must belong to.' }),
  ...databaseQuery(),
}));

export const deleteQuery = lazySchema(() => sessionQuery.omit({ type: true }));

export const createSessionBody = lazyObject(
  () => ({
    session_id: identifier()
      .nullish()
      .meta({ description: 'If omitted or empty, the service generates one.' }),
    session_name: z
      .string()
      .nullish()
      .meta({ description: 'If omitted, the first message becomes the name.' }),
    session_state: stateObject().nullish(),
    metadata: object().nullish(),
    user_id: identifier()
      .nullish()
      .meta({ description: "Whose session it is. An authenticated caller's own." }),
    agent_id: identifier().nullish(),
    team_id: identifier().nullish(),
    workflow_id: identifier().nullish(),
  }),
  { id: 'CreateSession', examples: [{ session_name: 'Trip to Rome', user_id: 'ada' }] },
);

const isoTime = () =>
  z.string().refine((text) => timeOf(text) !== undefined, { error: 'this is not a valid ISO 8601 time' });

export const updateSessionBody = lazyObject(
  () => ({
    session_name: z.string().nullish(),
    session_state: stateObject().nullish().meta({ description: 'Replaces the whole state.' }),
    metadata: object().nullish().meta({ description: 'Replaces the whole metadata.' }),
    summary: z
      .strictObject({
        summary: z.string(),
        topics: z.array(z.string()).nullish(),
        updated_at: isoTime().nullish(),
      })
      .nullish(),
  }),
  {
    id: 'UpdateSession',
    description: 'Omitted and null fields keep their values.',
    examples: [{ session_name: 'Trip to Rome', session_state: { budget: 900 } }],
  },
);

export const renameSessionBody = lazyObject(
  () => ({
    session_name: z.preprocess((name) => (name === null ? undefined : name), z.string()),
  }),
  { id: 'RenameSession', examples: [{ session_name: 'Trip to Rome' }] },
);

export const deleteSessionsBody = lazyObject(
  () => ({
    session_ids: z.array(z.string()).min(1),
    session_types: z
      .array(kind)
      .min(1)
      .meta({ description: 'One type per id. Sessions are found by id alone.' }),
  }),
  { id: 'DeleteSessions', examples: [{ session_ids: ['rome'], session_types: ['agent'] }] },
);

const time = () => z.iso.datetime();

const summary = lazyObject(() => ({
  summary: z.string(),
  topics: z.array(z.string()).optional(),
  updated_at: z.string().optional(),
}));

const usage = lazySchema(
  () => z.looseObject({ total_tokens: z.int().optional(), cost: z.number().optional() }),
  { id: 'SessionUsage', description: 'The total usage of all runs. Zero values are left out.' },
);

const listedSession = lazyObject(
  () => ({
    session_id: z.string(),
    session_name: z.string(),
    session_state: z.looseObject({}).optional(),
    session_type: kind,
    user_id: z.string().optional(),
    agent_id: z.string().optional(),
    team_id: z.string().optional(),
    workflow_id: z.string().optional(),
    session_summary: summary.optional(),
    metrics: usage.optional(),
    total_tokens: z.int().optional(),
    metadata: z.looseObject({}).optional(),
    created_at: time(),
    updated_at: time(),
  }),
  { id: 'ListedSession', description: 'A session in a list.' },
);

export const sessionsPage = pageBody(listedSession, 'SessionsPage');

const message = lazySchema(() => z.looseObject({ id: z.string(), role: z.string(), created_at: z.int() }));

/** What has no value is null, or left out: it depends on the call. */
export const sessionDetail = lazyObject(
  () => ({
    session_id: z.string(),
    session_name: z.string(),
    user_id: z.string().nullish(),
    session_state: z.looseObject({}).nullish(),
    metadata: z.looseObject({}).nullish(),
    agent_session_id: z.string().optional(),
    agent_id: z.string().nullish(),
    agent_data: z.looseObject({}).nullish(),
    team_id: z.string().nullish(),
    team_data: z.looseObject({}).nullish(),
    workflow_id: z.string().nullish(),
    workflow_name: z.string().nullish(),
    workflow_data: z.looseObject({}).optional(),
    session_data: z.looseObject({}).optional(),
    session_summary: summary.nullish(),
    metrics: usage.nullish(),
    total_tokens: z.int().nullish(),
    chat_history: z
      .array(message)
      .optional()
      .meta({ description: 'The messages of the last 200 runs, without system and tool messages.' }),
    created_at: time(),
    updated_at: time(),
  }),
  {
    id: 'SessionDetail',
    description:
      'A session. It has the fields of its kind: agent_*, team_* or workflow_*. session_summary, metrics, ' +
      'total_tokens and chat_history of a workflow session are additions.',
  },
);

export type ListSessionsQuery = z.output<typeof listSessionsQuery>;
export type SessionQuery = z.output<typeof sessionQuery>;
export type CreateSessionBody = z.output<typeof createSessionBody>;
export type UpdateSessionBody = z.output<typeof updateSessionBody>;

/** A time in ISO form, as milliseconds; without an offset it is UTC. */
export function timeOf(text: string): number | undefined {
  const form = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/.exec(text);
  if (form === null) return undefined;
  const given = Date.parse(form[1] === undefined || form[4] !== undefined ? text : `${text}Z`);
  return Number.isNaN(given) ? undefined : given;
}
