import type { Random } from '../../chaos/storm/random.js';
import { words } from '../yard/words.js';
import { anyJson, anyObject, hostileText } from './hostile.js';

/** The description explains a field only in words; without hints, most requests would end at the first check. */
type Hint = (random: Random) => unknown;

const oneOf =
  (...values: readonly unknown[]): Hint =>
  (random) =>
    random.pick(values);

const hints: Readonly<Record<string, Hint>> = {
  message: oneOf(...words, ...words, 'Hello', 'Calculate 17 * 25'),
  input: oneOf(...words, 'Hello'),
  additional_instructions: oneOf('Be brief.', ''),
  status: oneOf('completed', 'paused', 'error', 'running', 'pending', 'cancelled', 'OK', 'ERROR'),
  sort_by: oneOf('created_at', 'updated_at', 'name', 'user_id', 'session_name', 'learning_type'),
  db_id: oneOf('default', 'other'),
  table: oneOf('sessions', 'runyard_sessions'),
  continue_from: oneOf('end', 'last_user', '0', '1', '2', '3', '-1', '99'),
  last_event_index: oneOf(-1, 0, 1, 5),
  message_index: oneOf(0, 1, 2, 3),
  version: oneOf(1, 2),
  target_version: oneOf('', '2.5.6', '7', '21', '999999999'),
  output_schema: (random) => JSON.stringify(aSchema(random)),
  knowledge_filters: (random) => JSON.stringify(random.chance(0.5) ? aFilter(random) : [aFilter(random)]),
  factory_input: (random) => JSON.stringify(random.chance(0.7) ? { subject: 'logic' } : anyObject(random)),
  filter: (random) => aFilter(random),
  model: oneOf('offline', 'openai:gpt-5-mini', null),
  eval_type: oneOf('accuracy', 'agent_as_judge', 'performance', 'reliability', 'custom'),
  model_provider: oneOf('openai', 'Runyard', 'nonsense', null),
  model_id: oneOf('offline', 'gpt-5-mini', null),
  num_iterations: oneOf(1, 2, 0, 101),
  warmup_runs: oneOf(0, 1, 11),
  scorers: oneOf(['length'], [{ name: 'length' }], ['none']),
  expected_tool_calls: oneOf([], ['pay'], null),
  scope: oneOf('agents:run', 'sessions:read', 'agents:plain:run', 'memories:write', 'agent_os:admin'),
  learning_type: oneOf('user_profile', 'user_memory', 'session_context', 'entity_memory', 'notes'),
  start_time: oneOf('2026-01-31T10:00:00Z', '2020-01-01', '2026-01-31T10:00:00.123+02:00'),
  end_time: oneOf('2036-01-31T10:00:00Z', '2030-01-01'),
  starting_date: oneOf('2026-01-01', '2020-02-29'),
  ending_date: oneOf('2026-12-31', '2036-01-01'),
  traceparent: oneOf('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
  'x-runyard-compat': oneOf('agentos'),
  'last-event-id': oneOf('0', '3', '-1'),
  'idempotency-key': (random) => `key-${random.between(0, 40)}`,
  cron_expr: oneOf('0 0 1 1 *', '*/5 3 L * *', '@daily', '0 0 31 2 *', '* * * * * *'),
  timezone: oneOf('UTC', 'Europe/Berlin', 'australia/lord_howe', '+02:00'),
  endpoint: oneOf('/agents/plain/runs', '/health', '/sessions', '/nowhere', '/schedules/x/trigger'),
  stage: oneOf('draft', 'published', 'live'),
  config: (random) => (random.chance(0.7) ? aConfig(random) : anyObject(random)),
  name: (random) => `bot-${random.between(0, 1_000_000)}`,
};

/** Something sensible for a field of this name, if its name says what that is. */
export function hinted(name: string, random: Random): unknown {
  return Object.hasOwn(hints, name) ? hints[name]!(random) : undefined;
}

const keys = [
  'status',
  'user_id',
  'agent_id',
  'session_id',
  'run_id',
  'name',
  'duration_ms',
  'start_time',
  'trace_id',
];
const comparisons = ['EQ', 'NEQ', 'GT', 'GTE', 'LT', 'LTE', 'CONTAINS', 'STARTSWITH'];

function aFilter(random: Random, depth = 3): unknown {
  if (depth > 0 && random.chance(0.3)) {
    const conditions = Array.from({ length: random.between(0, 3) }, () => aFilter(random, depth - 1));
    return { op: random.pick(['AND', 'OR']), conditions };
  }
  if (depth > 0 && random.chance(0.15)) return { op: 'NOT', condition: aFilter(random, depth - 1) };
  const key = random.chance(0.9) ? random.pick(keys) : hostileText(random);
  const value = random.chance(0.5)
    ? random.pick(['OK', 'plain', '', 0, 10, '2026-01-31T10:00:00Z', '%', '_'])
    : anyJson(random, 1);
  if (random.chance(0.2)) return { op: 'IN', key, values: random.chance(0.8) ? [value, 'OK', null] : value };
  return { op: random.pick(comparisons), key, value };
}

function aConfig(random: Random): unknown {
  return random.pick<unknown>([
    {},
    { model: 'offline', instructions: hostileText(random) },
    { model: 'offline', members: [{ type: 'agent', agent_id: 'plain' }] },
    { model: 'offline', tools: [{ name: 'pay' }], metadata: anyObject(random) },
    { steps: [{ name: 'one', agent_id: 'plain' }] },
    { metadata: { api_key: 'sk-0123456789abcdefghij' } },
  ]);
}

function aSchema(random: Random): unknown {
  const plain = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] };
  return random.pick<unknown>([
    plain,
    { ...plain, $ref: '#/definitions/none' },
    { type: 'object', properties: { tree: { $ref: '#' } } },
    { type: 'object', properties: { text: { type: 'string', pattern: '(a+)+$' } } },
    { type: 'object', properties: { text: { type: 'string', pattern: '(' } } },
    { type: 'object', properties: { ['__proto__']: { type: 'string' } }, additionalProperties: false },
    { type: 'string' },
    { $ref: 'http://127.0.0.1:9/schema.json' },
    { type: 'object', allOf: Array.from({ length: 50 }, () => plain) },
    anyObject(random),
  ]);
}

/** Answers to what a paused run has asked, most of which let the run resume. */
export function answered(asked: unknown, random: Random): unknown {
  if (Array.isArray(asked)) return asked.map((item) => answered(item, random));
  if (typeof asked !== 'object' || asked === null) return asked;
  return Object.fromEntries(
    Object.entries(asked).map(([name, value]) => [name, answerFor(name, value, random)]),
  );
}

function answerFor(name: string, value: unknown, random: Random): unknown {
  if (random.chance(0.02)) return anyJson(random);
  if (value !== null) return answered(value, random);
  if (name === 'confirmed' || name === 'confirmation') return random.chance(0.7);
  if (name === 'value') return random.pick<unknown>([5, '5', 'text', null, true]);
  if (name === 'result' || name === 'external_execution_result') return 'Done outside.';
  if (/^selected/.test(name)) return random.pick<unknown>([['left'], 'left', []]);
  if (/note|feedback/.test(name)) return random.pick<unknown>(['As you like', null]);
  return value;
}
