import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Media } from '../../../src/core/media/media.js';
import { cachedModel } from '../../../src/core/models/cache/cached-model.js';
import { requestKey } from '../../../src/core/models/cache/request-key.js';
import type { KeptResponse, ResponseCache } from '../../../src/core/models/cache/response-cache.js';
import type { ModelRequest, ModelResponse } from '../../../src/core/models/model.js';
import { type AgentSettings, agent, type Model, tool } from '../../../src/index.js';
import { type ScriptedTurn, scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, freshStore } from '../../heart/harness.js';
import { TestService } from '../../support/service.js';

/** Answers with the number of the call, so that a kept answer is known by it. */
const counting = (id: string) => scriptedModel((_request, call) => `answer ${call + 1} of ${id}`, { id });

const own = counting('own');
const shared = counting('shared');
const shaped = scriptedModel((_request, call) => (call === 0 ? 'no JSON' : '{"sum":3}'), { id: 'shaped' });
const careful = scriptedModel(
  ({ messages }) => {
    const asked = messages.at(-1);
    return asked?.role === 'tool' ? `saw ${asked.content}` : { toolCalls: [{ name: asked?.content ?? '' }] };
  },
  { id: 'careful' },
);
const executed: string[] = [];
const act = (name: string, requiresConfirmation: boolean) =>
  tool({ name, description: name, requiresConfirmation, execute: () => `${name} ${executed.push(name)}` });

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({
    agents: [
      agent({ id: 'own', model: own, cacheResponses: true }),
      agent({ id: 'shared', model: shared, cacheResponses: { scope: 'all', ttlMs: 3_600_000 } }),
      agent({
        id: 'shaped',
        model: shaped,
        cacheResponses: true,
        outputSchema: z.object({ sum: z.number() }),
      }),
      agent({
        id: 'careful',
        model: careful,
        cacheResponses: true,
        tools: [act('look', false), act('erase', true)],
      }),
    ],
  });
});

afterAll(() => service.stop());

const answered = async (id: string, message: string, user = 'ana', session?: string) =>
  (await service.run(id, { message, user_id: user, session_id: session })).body;

test('an equal call is answered again without a call: marked, free, and as a stream', async () => {
  const first = await answered('own', 'hi');
  expect(first.metrics).toMatchObject({ total_tokens: 15 });
  expect(first.metrics).not.toHaveProperty('cached_calls');
  const stream = await (await service.stream('own', { message: 'hi', user_id: 'ana' })).end();
  const pieces = stream.all('RunContent').map(({ content }) => content);
  expect(pieces.join('')).toBe('answer 1 of own');
  // the first is empty, as in every stream
  expect(pieces).toHaveLength(2);
  expect(stream.first('ModelRequestCompleted')).toMatchObject({
    cached: true,
    total_tokens: 0,
    model: 'own',
  });
  const run = stream.first('RunCompleted');
  expect(run).toMatchObject({ content: 'answer 1 of own', metrics: { cached_calls: 1 } });
  expect(run.metrics).not.toHaveProperty('total_tokens');
  const { body } = await service.get(`/traces?run_id=${run.run_id}`);
  const { body: trace } = await service.get(`/traces/${body.data[0].trace_id}`);
  expect(trace.tree[0].spans[0]).toMatchObject({ type: 'LLM', metadata: { cached: true } });
  expect(own.requests).toHaveLength(1);
});

test('another message, another user and a regenerated run get answers of their own', async () => {
  expect((await answered('own', 'hello')).content).toBe('answer 2 of own');
  expect((await answered('own', 'hello', 'bob')).content).toBe('answer 3 of own');
  const again = await answered('own', 'hello');
  expect(again.content).toBe('answer 2 of own');
  const path = `/agents/own/runs/${again.run_id}/continue`;
  const { body } = await service.submit(path, { regenerate: true, stream: false });
  expect(body.content).toBe('answer 4 of own');
  expect((await answered('own', 'hello')).content).toBe('answer 4 of own');
});

test('with the scope all, users share the answers', async () => {
  expect((await answered('shared', 'hi')).content).toBe('answer 1 of shared');
  expect((await answered('shared', 'hi', 'bob')).content).toBe('answer 1 of shared');
});

test('what was answered in a session is forgotten with it', async () => {
  const { content, session_id: session } = await answered('shared', 'forget me');
  const { status } = await service.call('DELETE', `/sessions/${session}?type=agent`);
  expect(status).toBe(204);
  expect((await answered('shared', 'forget me')).content).not.toBe(content);
});

test('an answer that does not fit its shape is not kept', async () => {
  const contents = [];
  for (let run = 0; run < 3; run += 1) contents.push((await answered('shaped', '1 + 2')).content);
  expect(contents).toEqual([{ sum: 3 }, { sum: 3 }, { sum: 3 }]);
  // an answer, its repair, and one more that is kept
  expect(shaped.requests).toHaveLength(3);
});

/** What an agent keeps and is given, beside a cache that the test watches. */
async function ranOver(answer: ScriptedTurn, more: Partial<AgentSettings> = {}, broken = false) {
  const kept: KeptResponse[] = [];
  const responses: ResponseCache = {
    get: async () => (broken ? Promise.reject(new Error('no disk')) : undefined),
    put: async (given) => {
      if (broken) throw new Error('no disk');
      kept.push(given);
    },
  };
  const asked = agent({ id: 'asked', model: scriptedModel([answer, 'ok']), cacheResponses: true, ...more });
  const engine = engineOver(await freshStore(), [asked], { ports: { responses } });
  const { run } = await (await begin(engine, asked, { sessionId: 's' })).ended;
  return { kept, run };
}

test('an answer is kept for a day, or for as long as the agent says, for the session that it was given in', async () => {
  const day = 86_400_000;
  expect((await ranOver('hello')).kept).toMatchObject([{ sessionId: 's', ttlMs: day }]);
  const { kept } = await ranOver('hello', { cacheResponses: { ttlMs: 5_000 } });
  expect(kept).toMatchObject([{ ttlMs: 5_000 }]);
  expect(JSON.parse(kept[0]!.response)).not.toHaveProperty('usage');
});

test.each<[string, ScriptedTurn]>([
  ['an answer that broke off', { text: 'The first half', finishReason: 'length' }],
  ['an answer with media', { text: 'Look', media: [{ mimeType: 'image/png', bytes: new Uint8Array([1]) }] }],
  ['an empty answer', ''],
  ['a very long answer', 'x'.repeat(256 * 1024)],
  ['a call of a tool that is not there', { toolCalls: [{ name: 'lok', arguments: {} }] }],
])('%s is not kept', async (_, answer) => {
  const { kept } = await ranOver(answer);
  expect(kept.map(({ response }) => JSON.parse(response).content)).not.toContain(
    typeof answer === 'string' ? answer : 'text' in answer ? answer.text : '',
  );
});

test('the calls of a run that does not keep them are not kept for others either', async () => {
  const calling = { toolCalls: [{ name: 'glance', arguments: { at: 'a secret' } }] };
  const tools = [tool({ name: 'glance', description: 'glance', execute: () => 'seen' })];
  const contents = async (more: Partial<AgentSettings>) =>
    (await ranOver(calling, { tools, ...more })).kept.map(({ response }) => JSON.parse(response).content);
  expect(await contents({})).toEqual(['', 'ok']);
  expect(await contents({ storeToolMessages: false })).toEqual(['ok']);
});

test('a run does without a cache that is broken', async () => {
  const { run } = await ranOver('hello', {}, true);
  expect(run).toMatchObject({ status: 'completed', result: { content: 'hello' } });
});

const noMedia = { put: async () => '', get: async () => undefined };

test('calls are equal when the model, its settings and all that it is given are', async () => {
  const message = (content: string, media?: Media[]) => [
    {
      id: String(Math.random()),
      role: 'user' as const,
      content,
      createdAt: Math.random(),
      ...(media && { media }),
    },
  ];
  const picture = (hash: string): Media => ({ kind: 'image', id: String(Math.random()), hash });
  const key = (model: Partial<Model> = {}, request: Partial<ModelRequest> = {}) =>
    requestKey(
      'user',
      { ...own, ...model },
      { messages: message('hi'), tools: [], media: noMedia, ...request },
    );
  expect(key()).toBe(key());
  const look = { name: 'look', description: 'x', inputSchema: {} };
  const keys = [
    key(),
    key({ id: 'other' }),
    key({ provider: 'other' }),
    key({ parameters: { temperature: 1 } }),
    key({}, { parameters: { temperature: 1 } }),
    key({}, { tools: [look] }),
    key({}, { toolChoice: 'none' }),
    key({}, { output: { name: 'x', schema: {}, strict: true } }),
    key({}, { messages: message('hello') }),
    key({}, { messages: message('hi', [picture('a')]) }),
    key({}, { messages: message('hi', [picture('b')]) }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(key({}, { messages: message('hi', [picture('a')]) })).toBe(keys[9]);
});

test('a kept answer is streamed with its reasoning', async () => {
  const response = { content: 'It is 3.', reasoningContent: '1 and 2', cached: true } as ModelResponse;
  const answers = { keyOf: () => 'k', find: async () => response, keep: async () => {} };
  const chunks: unknown[] = [];
  const { signal } = new AbortController();
  for await (const chunk of cachedModel(own, answers).stream(
    { messages: [], tools: [], media: noMedia },
    { signal },
  ))
    chunks.push(chunk);
  expect(chunks).toEqual([
    { type: 'reasoning', text: '1 and 2' },
    { type: 'text', text: 'It is 3.' },
    { type: 'response', response },
  ]);
});

test('tools are executed each time; a call that a person confirms is always made by the model', async () => {
  expect((await answered('careful', 'look')).content).toBe('saw look 1');
  expect((await answered('careful', 'look')).content).toBe('saw look 2');
  expect(executed).toEqual(['look', 'look']);
  expect(careful.requests).toHaveLength(3);
  for (const status of [
    (await answered('careful', 'erase')).status,
    (await answered('careful', 'erase')).status,
  ])
    expect(status.toLowerCase()).toBe('paused');
  expect(careful.requests).toHaveLength(5);
});
