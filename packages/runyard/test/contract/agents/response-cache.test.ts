import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
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
