import { describe, expect, test } from 'vitest';
import type { Executable } from '../../../src/core/runs/executable.js';
import {
  type AgentSettings,
  agent,
  GuardrailRefusal,
  step,
  tool,
  toolResult,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { type LogLine, recordingLog } from '../../support/clients/http-server.js';
import { allEvents, begin, engineOver, freshStore } from '../harness.js';

const amount = { total: { amount: 1n } } as never;

/** Runs it to a stored end, and makes sure that this is the end: nothing is left for a later execution. */
async function run(component: Executable) {
  const lines: LogLine[] = [];
  const store = await freshStore();
  const engine = engineOver(store, [component], { log: recordingLog(lines) });
  const handle = await begin(engine, component, {
    input: { content: 'hello', media: [], options: { stream: false } },
  });
  const { run: ended, steps } = await handle.ended;
  const events = (await allEvents(handle)).map(({ data }) => JSON.parse(data));
  const stored = (await store.load(handle.runId))!;
  expect(stored.run).toMatchObject({ status: ended.status, leaseOwner: null });
  expect(lines.filter(({ message }) => message === 'a run could not be stored')).toEqual([]);
  return { ended, steps, events, lines };
}

const speaking = (settings: Partial<AgentSettings>) =>
  agent({ id: 'a', model: scriptedModel(['hi']), ...settings });

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const answer = { content: 'hi', toolCalls: [], usage, finishReason: 'stop' };
const answering = (response: object) => ({
  id: 'own',
  provider: 'Own',
  name: 'Own',
  capabilities: { structuredOutput: 'native', tools: true } as const,
  generate: async () => ({ ...answer, ...response }) as never,
  async *stream() {
    yield { type: 'response', response: { ...answer, ...response } } as never;
  },
});

describe('a value that JSON cannot hold ends the run with an error that says whose it is', () => {
  const required = (name: string, value: unknown) => ({ name, required: true, run: () => value as never });
  test.each<[string, Executable, string, string]>([
    [
      'of a required hook',
      speaking({ postHooks: [required('x', amount)] }),
      'TypeError',
      "The hook 'x' returned a value that cannot be stored as JSON: BigInt at total.amount",
    ],
    [
      'of a dependency function',
      speaking({ dependencies: { d: () => amount } }),
      'dependency_error',
      "The dependency 'd' failed: it returned a value that cannot be stored as JSON: BigInt at total.amount",
    ],
    [
      'of a function that makes instructions',
      speaking({ instructions: () => 7n as never }),
      'instructions_error',
      'The function that makes the instructions returned a bigint, not a text or a list of texts',
    ],
    [
      'of a workflow that is a function',
      workflow({ id: 'w', steps: () => amount }),
      'TypeError',
      'it returned a value that cannot be stored as JSON: BigInt at total.amount',
    ],
    [
      'of a step',
      workflow({ id: 'w', steps: [step({ name: 's', run: () => amount, onError: 'fail' })] }),
      'TypeError',
      "Step 's' failed: it returned a value that cannot be stored as JSON: BigInt at total.amount",
    ],
    ...(
      [
        [{ providerData: amount }, 'providerData cannot be stored as JSON: BigInt at total.amount'],
        [{ content: undefined }, 'content is undefined, not a text'],
        [{ content: 1n }, 'content is a bigint, not a text'],
        [{ usage: { ...usage, inputTokens: 1n } }, 'usage.inputTokens is a bigint, not a number'],
        [{ usage: { ...usage, outputTokens: -3 } }, 'usage.outputTokens is -3, not a number of tokens'],
        [{ usage: undefined }, 'usage is undefined, not an object'],
        [{ toolCalls: undefined }, 'toolCalls is undefined, not a list'],
        [
          { toolCalls: [{ id: 'c', name: 'n', arguments: {} }] },
          'toolCalls[0].arguments is an object, not a text',
        ],
        [
          { toolCalls: [{ id: 'c', name: 'n', arguments: '{}', client: 'yes' }] },
          "toolCalls[0].client is neither 'execution' nor 'confirmation'",
        ],
        [{ finishMessage: 1 }, 'finishMessage is a number, not a text'],
        [{ media: [{ id: 'm' }] }, 'media[0].kind is undefined, not a text'],
        [{ citations: { sources: {} } }, 'citations.sources is an object, not a list'],
        [{ citations: { sources: [{ url: 1 }] } }, 'citations.sources[0].url is a number, not a text'],
        [
          { citations: { sources: [{ start: -1 }] } },
          'citations.sources[0].start is not a whole number, 0 or more',
        ],
        [
          { citations: { sources: [], searchQueries: [1] } },
          'citations.searchQueries[0] is a number, not a text',
        ],
      ] as const
    ).map(([response, fault]): [string, Executable, string, string] => [
      `of a model: ${fault}`,
      speaking({ model: answering(response) }),
      'model_provider_error',
      `The model 'own' gave an answer that cannot be used: ${fault}`,
    ]),
  ])('%s', async (_whose, component, type, message) => {
    const { ended } = await run(component);
    expect(ended.result?.error).toMatchObject({ type, message });
    expect(ended.status).toBe('error');
  });
});

test('a reason in words of its own is another one, which they explain', async () => {
  const { ended } = await run(speaking({ model: answering({ finishReason: 'end_turn' }) }));
  expect(ended.result).toMatchObject({ content: 'hi', finishReason: 'other', finishMessage: 'end_turn' });
});

test('in pieces of a stream, too', async () => {
  const model = {
    ...answering({}),
    async *stream() {
      yield { type: 'text', text: undefined } as never;
    },
  };
  const store = await freshStore();
  const component = speaking({ model });
  const handle = await begin(engineOver(store, [component]), component);
  const { run: ended } = await handle.ended;
  expect(ended.result?.error?.message).toBe(
    "The model 'own' gave an answer that cannot be used: a piece of text is undefined, not a text",
  );
  for (const { data } of await allEvents(handle)) expect(() => JSON.parse(data)).not.toThrow();
});

describe('where the run can do without it, it continues', () => {
  test('after a hook', async () => {
    const odd = () => amount;
    const { ended, lines } = await run(speaking({ postHooks: [odd] }));
    expect(ended).toMatchObject({ status: 'completed', result: { content: 'hi' } });
    expect(lines.find(({ message }) => message.startsWith('a hook crashed'))?.fields.err).toMatchObject({
      message: "The hook 'odd' returned a value that cannot be stored as JSON: BigInt at total.amount",
    });
  });

  test('with a refusal whose facts cannot be stored: it still refuses', async () => {
    const refuse = () => {
      throw new GuardrailRefusal('no', { additionalData: amount });
    };
    const { ended } = await run(speaking({ preHooks: [refuse] }));
    expect(ended.result?.error).toMatchObject({ type: 'input_check_error', message: 'no' });
  });

  test.each<[string, Parameters<typeof tool>[0]['execute'], string]>([
    [
      'that returns it',
      () => amount,
      "'t' ran, but its result cannot be stored as JSON: BigInt at total.amount",
    ],
    [
      'that sets it as state',
      (_args, { state }) => state.set('sum', amount),
      "The value of 'sum' in the session state cannot be stored as JSON: BigInt at total.amount",
    ],
    [
      'that has it among its media',
      () => toolResult('made', { media: [{ kind: 'image', id: 1n } as never] }),
      'could not be stored',
    ],
    ['that returns a list without end', () => new Array(2 ** 32 - 1), 'more than 2000000 values'],
  ])('the model gets an error for a tool %s', async (_what, execute, expected) => {
    const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 't', arguments: '{}' }] }, 'done']);
    const { ended, steps } = await run(
      agent({ id: 'a', model, tools: [tool({ name: 't', description: 'x', execute })] }),
    );
    expect(ended.status).toBe('completed');
    expect(steps.find(({ kind }) => kind === 'tool')?.output).toMatchObject({
      content: expect.stringContaining(expected),
    });
  });

  test('with the arguments as the model gave them when a tool or its hook spoils them', async () => {
    const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 't', arguments: '{"n":1}' }] }, 'done']);
    const spoil = (args: object) => Object.assign(args, { n: 1n });
    const spoiling = tool({
      name: 't',
      description: 'x',
      inputSchema: { type: 'object' },
      execute: (args) => void spoil(args),
      hooks: [
        (call, next) => {
          spoil(call.args);
          return next().catch(() => 'failed');
        },
      ],
    });
    const { ended, steps } = await run(agent({ id: 'a', model, tools: [spoiling] }));
    expect(ended.status).toBe('completed');
    expect(steps.find(({ kind }) => kind === 'tool')?.output).toMatchObject({ args: { n: 1 } });
  });

  test('with what a hook returned, whatever becomes of its object later', async () => {
    const value: Record<string, unknown> = { n: 1 };
    const first = () => value as never;
    const second = () => void Object.assign(value, { n: 1n });
    const { ended } = await run(speaking({ postHooks: [first, second] }));
    expect(ended).toMatchObject({ status: 'completed', result: { content: { n: 1 } } });
  });
});

test.each(['sessionState', 'metadata', 'dependencies'])(
  'an agent or team with %s that cannot be stored is refused when it is defined',
  (name) => {
    expect(() => speaking({ [name]: amount })).toThrow(
      `Agent 'a': ${name} cannot be stored as JSON: BigInt at total.amount`,
    );
  },
);
