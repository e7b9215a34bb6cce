import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../../src/core/json.js';
import { agent, agentFactory, GuardrailRefusal, tool } from '../../../src/index.js';
import { expectFailure, runWays, type SeenRun, seeRun } from '../../support/clients/run-ways.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

/** What an application's own code does to a run: refusing, crashing, stopping it. */
const book = new ScriptBook();
const launchCode = 'the code is rosebud';

const add = tool({
  name: 'add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});
const broken = tool({
  name: 'broken',
  description: 'Fails',
  execute: () => {
    throw new Error('the pump is dry');
  },
});
const endless = tool({
  name: 'endless',
  description: 'Does not end',
  timeoutMs: 30,
  execute: () => new Promise(() => {}),
});
const last = tool({
  name: 'last',
  description: 'Ends the run',
  stopAfterCall: true,
  showResult: true,
  execute: () => 'the final word',
});

function fails(message: string): () => never {
  return () => {
    throw new Error(message);
  };
}

const model = book.model;
const tools = [add, broken, endless, last];
const agents = [
  agent({ id: 'a', model, tools }),
  agent({ id: 'limited', model, tools, toolCallLimit: 1 }),
  agent({
    id: 'picky',
    model,
    preHooks: [
      function topics() {
        throw new GuardrailRefusal('Not today.', { trigger: 'off_topic', additionalData: { door: 3 } });
      },
    ],
  }),
  agent({
    id: 'discreet',
    model,
    postHooks: [
      {
        name: 'secrets',
        required: true,
        run: () => {
          throw new GuardrailRefusal('Withheld.');
        },
      },
    ],
  }),
  agent({
    id: 'clumsy',
    model,
    preHooks: [{ name: 'before', run: fails('a bug before') }],
    postHooks: [{ name: 'after', run: fails('a bug after') }],
  }),
  agent({ id: 'strict', model, preHooks: [{ name: 'check', required: true, run: fails('a bug of mine') }] }),
  agent({ id: 'dependent', model, dependencies: { weather: fails('the sky is down') } }),
  agent({ id: 'uninstructed', model, instructions: fails('no template') }),
  agentFactory({ id: 'factory', build: fails('password=hunter2') }),
];

let service: TestService;

beforeAll(async () => {
  service = await TestService.start({ agents });
});
afterAll(() => service.stop());

const call = (name: string, args: JsonObject | string = {}) => ({
  id: `call-${name}`,
  name,
  arguments: args,
});
const eventNames = ({ stream, stored }: SeenRun): string[] =>
  (stream?.events ?? stored.events).map(({ event }: Body) => event);

describe.each(runWays)('a run %s', (way) => {
  const see = (agentId: string, message: string) => seeRun(service, way, agentId, { message });

  test('whose input is refused', async () => {
    const message = `refused ${way}`;
    const seen = await see('picky', message);
    expectFailure(seen, {
      content: 'Not today.',
      error_type: 'input_check_error',
      error_id: 'off_topic',
      additional_data: { door: 3 },
    });
    expect(eventNames(seen)).toEqual(['RunStarted', 'PreHookStarted', 'RunError']);
    expect(book.requests(message)).toEqual([]);
  });

  test('whose answer is refused: not a word of it is sent', async () => {
    const message = `tell me ${way}`;
    book.write(message, { chunks: [launchCode], reasoning: `I know that ${launchCode}` });
    const seen = await see('discreet', message);
    expectFailure(seen, {
      content: 'Withheld.',
      error_type: 'output_check_error',
      error_id: 'output_not_allowed',
    });
    expect(book.requests(message)).toHaveLength(1);
    expect(seen.text).not.toContain('rosebud');
    const said = seen.stored.messages.filter(({ role }: Body) => role === 'assistant');
    expect(said.map(({ content }: Body) => content)).toEqual(['']);
  });

  test('whose hooks crash continues without them', async () => {
    const message = `clumsy ${way}`;
    const seen = await see('clumsy', message);
    expect(seen.stored).toMatchObject({ status: 'completed', content: `Answer to: ${message}` });
    expect(seen.answer ?? seen.stored).not.toHaveProperty('error_type');
    const names = eventNames(seen);
    expect(names).toEqual(expect.arrayContaining(['PreHookStarted', 'PostHookStarted', 'RunCompleted']));
    expect(names).not.toContain('PreHookCompleted');
    expect(names).not.toContain('PostHookCompleted');
    const warned = service.logged.filter(({ fields }) => fields.runId === seen.stored.run_id);
    expect(warned.map(({ fields }) => fields.hook)).toEqual(['before', 'after']);
  });

  test.each([
    ['a required hook', 'strict', { content: 'a bug of mine', error_type: 'Error' }],
    [
      'a dependency',
      'dependent',
      { content: "The dependency 'weather' failed: the sky is down", error_type: 'dependency_error' },
    ],
    [
      'the instructions',
      'uninstructed',
      {
        content: 'The function that makes the instructions failed: no template',
        error_type: 'instructions_error',
      },
    ],
  ])('fails with %s', async (_what, agentId, failure) => {
    const message = `${agentId} ${way}`;
    expectFailure(await see(agentId, message), failure);
    expect(book.requests(message)).toEqual([]);
  });

  test.each([
    ['throws', 'a', call('broken'), "'broken' failed: the pump is dry"],
    ['is called with something else', 'a', call('add', { a: 'two' }), /^The arguments of 'add' do not fit/],
    ['is called with no JSON', 'a', call('add', '{oops'), /JSON/],
    ['takes too long', 'a', call('endless'), /^'endless' did not finish within 30 ms/],
  ])('whose tool %s continues', async (what, agentId, toolCall, expected) => {
    const message = book.write(`${what} ${way}`, { toolCalls: [toolCall] }, 'I could not');
    const seen = await see(agentId, message);
    expect(seen.stored).toMatchObject({ status: 'completed', content: 'I could not' });
    const text = typeof expected === 'string' ? expected : expect.stringMatching(expected);
    const failed = { tool_name: toolCall.name, tool_call_error: true, result: text };
    for (const body of [seen.answer ?? seen.stored, seen.stored, seen.listed]) {
      expect(body.tools).toMatchObject([failed]);
    }
    const events: Body[] = seen.stream?.events ?? seen.stored.events;
    const ofTools = events.filter(({ event }) => event.startsWith('ToolCall'));
    expect(ofTools).toMatchObject([
      { event: 'ToolCallStarted' },
      { event: 'ToolCallCompleted', tool: failed },
      { event: 'ToolCallError', tool: failed, error: text },
    ]);
    expect(book.requests(message)[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: text });
  });

  test.each([
    ['knows no such tool', 'a', [call('levitate')], /^There is no tool 'levitate'/, 0],
    ['may not call any more', 'limited', [call('add', { a: 1, b: 2 }), call('last')], /limit of 1/, 1],
  ])(
    'whose model %s explains that to the model, without an event',
    async (what, agentId, toolCalls, expected, executed) => {
      const message = book.write(`${what} ${way}`, { toolCalls }, 'sorry');
      const seen = await see(agentId, message);
      expect(seen.stored).toMatchObject({ status: 'completed', content: 'sorry' });
      expect((seen.answer ?? seen.stored).tools ?? []).toHaveLength(executed);
      expect(eventNames(seen).filter((name) => name === 'ToolCallStarted')).toHaveLength(executed);
      expect(eventNames(seen)).not.toContain('ToolCallError');
      expect(book.requests(message)[1]?.messages.at(-1)?.content).toMatch(expected);
    },
  );

  test('ends with a tool that says so', async () => {
    const message = book.write(`stop ${way}`, { toolCalls: [call('last')] }, 'never said');
    const { stored } = await see('a', message);
    expect(stored).toMatchObject({ status: 'completed', content: 'the final word' });
    expect(book.requests(message)).toHaveLength(1);
  });

  test('that is cancelled before it said anything says so, and is no failure', async () => {
    const message = `cancelled ${way}`;
    const runId = message.replaceAll(' ', '-');
    const waiting = gate();
    book.write(message, () => {
      waiting.open();
      return { text: 'never said', waitFor: new Promise<never>(() => {}) };
    });
    const seeing = seeRun(service, way, 'a', { message, run_id: runId });
    await waiting.opened;
    expect((await service.call('POST', `/agents/a/runs/${runId}/cancel`)).status).toBe(200);
    const seen = await seeing;
    for (const body of [seen.answer ?? seen.stored, seen.stored, seen.listed]) {
      expect(body).toMatchObject({ status: 'cancelled', content: expect.stringMatching(/cancelled/) });
      expect(body.error_type ?? null).toBeNull();
    }
    expect(eventNames(seen).slice(-2)).toEqual(['RunCancelled', 'RunCompleted']);
  });

  test('of an agent that cannot be built does not begin', async () => {
    const form = { stream: way === 'streamed', background: way === 'in the background' };
    const session_id = `unbuilt ${way}`;
    const { status, body, text } = await service.run('factory', { message: 'hi', session_id, ...form });
    expect(status).toBe(500);
    expect(body).toMatchObject({
      detail: expect.stringMatching(/^Error in agent factory: /),
      error_code: 'factory_failed',
    });
    expect(text).not.toContain('hunter2');
    expect((await service.get(`/agents/factory/runs?session_id=${session_id}`)).status).toBe(404);
  });
});
