import { randomBytes, randomUUID } from 'node:crypto';
import type { Field } from './operations.js';

/** What a request can name of what a user has. */
export interface Things {
  readonly userId: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly memoryId: string;
  readonly learningId: string;
  readonly datasetId: string;
  readonly caseId: string;
  readonly approvalId: string;
  readonly evalRunId: string;
  readonly scheduleId: string;
  readonly entityId: string;
  readonly idempotencyKey: string;
  /** A word that is in everything that they wrote. */
  readonly word: string;
}

/** Nothing of this exists. It looks the same as what does. */
export function absentThings(): Things {
  const word = randomBytes(6).toString('hex');
  return {
    userId: `nobody-${word}@users.example`,
    sessionId: randomUUID(),
    runId: randomUUID(),
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    memoryId: randomUUID(),
    learningId: randomUUID(),
    datasetId: randomUUID(),
    caseId: randomUUID(),
    approvalId: randomUUID(),
    evalRunId: randomUUID(),
    scheduleId: randomUUID(),
    entityId: `entity-${randomBytes(6).toString('hex')}`,
    idempotencyKey: `key-${randomBytes(6).toString('hex')}`,
    word,
  };
}

type Named = (things: Things) => unknown;
type NamedFields = Readonly<Record<string, Named>>;

/**
 * Fields of requests that name something that belongs to a user, and how they do. A new field of this kind needs a
 * line here, and what it names has to be in `Things` and in the world that the test is made in.
 */
const ownedFields: NamedFields = {
  user_id: ({ userId }) => userId,
  session_id: ({ sessionId }) => sessionId,
  session_ids: ({ sessionId }) => [sessionId],
  run_id: ({ runId }) => runId,
  trace_id: ({ traceId }) => traceId,
  span_id: ({ spanId }) => spanId,
  memory_id: ({ memoryId }) => memoryId,
  memory_ids: ({ memoryId }) => [memoryId],
  learning_id: ({ learningId }) => learningId,
  dataset_id: ({ datasetId }) => datasetId,
  case_id: ({ caseId }) => caseId,
  entity_id: ({ entityId }) => entityId,
  /** The namespace that agents keep for one person. */
  namespace: ({ userId }) => `user:${userId}`,
  approval_id: ({ approvalId }) => approvalId,
  eval_run_id: ({ evalRunId }) => evalRunId,
  with: ({ evalRunId }) => evalRunId,
  eval_run_ids: ({ evalRunId }) => [evalRunId],
  run_ids: ({ runId }) => [runId],
  schedule_id: ({ scheduleId }) => scheduleId,
  'idempotency-key': ({ idempotencyKey }) => idempotencyKey,
  filter: ({ userId, sessionId, runId }) => ({
    op: 'OR',
    conditions: [
      { op: 'EQ', key: 'session_id', value: sessionId },
      { op: 'IN', key: 'run_id', values: [runId] },
      { op: 'NOT', condition: { op: 'NEQ', key: 'user_id', value: userId } },
    ],
  }),
};

/** Parameters that search what people wrote. The same names in a body are what is written. */
const searchFields: NamedFields = {
  topics: ({ word }) => word,
  search_content: ({ word }) => word,
  session_name: ({ word }) => word,
};

/** How a field names what belongs to a user; undefined for one that does not. */
export function namedBy({ name, place }: Field): Named | undefined {
  if (Object.hasOwn(ownedFields, name)) return ownedFields[name];
  return place === 'query' && Object.hasOwn(searchFields, name) ? searchFields[name] : undefined;
}

/** Fields that name something that all users share, or nothing that is stored, and why. */
export const sharedFields: ReadonlyMap<string, string> = new Map([
  ['agent_id', 'components are registered for everybody'],
  ['team_id', 'components are registered for everybody'],
  ['workflow_id', 'components are registered for everybody'],
  ['component_id', 'components are registered for everybody'],
  ['db_id', 'databases are configured for everybody'],
  ['service_account_id', 'service accounts are shared among those who may manage them (admin.md 4)'],
  ['child_component_id', 'components are registered for everybody'],
  ['message_index', 'a number of messages'],
  ['before_run_id', 'counts only among the runs of the session that is named with it'],
  ['last-event-id', 'a number of events'],
  ['version', 'a number'],
  ['id', 'a case is named within its dataset'],
  ['event_id', 'an event is named within its run, by its sender'],
  ['file', 'a file of the API browser'],
  ['*', 'a page or a file of the console'],
  ['content_id', 'contents of a knowledge base are shared; claimFilters are tested with knowledge'],
  ['knowledge_id', 'knowledge bases are registered for everybody'],
  ['source_id', 'sources are configured for everybody'],
  ['config_id', 'sources are configured for everybody'],
  ['reader_id', 'readers are the same for everybody'],
  ['model_id', 'models are those of providers'],
  ['vector_db_ids', 'vector stores are configured for everybody'],
]);

/** What other fields of bodies hold, so that a request does what it is there for. */
export const samples: Readonly<Record<string, unknown>> = {
  message: 'plain',
  stream: false,
  memory: 'Taken over',
  session_name: 'Taken over',
  session_types: ['agent'],
  session_state: { taken: true },
  metadata: { taken: true },
  content: { taken: true },
  learning_type: 'note',
  entity_type: 'thing',
  status: 'approved',
  apply: false,
  name: 'taken-over',
  input: 'plain',
  eval_type: 'custom',
  scorers: ['short'],
  text_content: '{"input":"plain"}',
  cron_expr: '0 0 1 1 *',
  endpoint: '/agents/keeper/runs',
};

/** Fields of a body that cannot stand beside others of it. */
export const excludedBy: Readonly<Record<string, readonly string[]>> = {
  input: ['run_ids', 'dataset_id'],
  run_ids: ['dataset_id'],
};

/** Whether a field looks as if it named something, but is missing from the list. */
export function isUnknownId(field: Field): boolean {
  const { name, place } = field;
  const looksLikeId = place === 'path' || /(^|[_-])(ids?|key)$/.test(name);
  return looksLikeId && namedBy(field) === undefined && !sharedFields.has(name);
}
