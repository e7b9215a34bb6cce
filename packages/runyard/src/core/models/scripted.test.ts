import { describe, expect, it } from 'vitest';
import { scriptedModel } from '../../testing.js';
import type { Message } from './message.js';
import type { ModelChunk, ModelRequest } from './model.js';

const user = (content: string): Message => ({ id: content, role: 'user', content, createdAt: 0 });
const ask = (messages: Message[] = [user('Hello')]): ModelRequest => ({
  messages,
  tools: [],
  media: { put: async () => '', get: async () => undefined },
});
const open = { signal: new AbortController().signal };

async function read(chunks: AsyncIterable<ModelChunk>): Promise<ModelChunk[]> {
  const seen: ModelChunk[] = [];
  for await (const chunk of chunks) seen.push(chunk);
  return seen;
}

describe('scriptedModel', () => {
  it('answers turn by turn and records what it was asked', async () => {
    const model = scriptedModel([
      'Hello world',
      { toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1 } }], usage: { inputTokens: 3 } },
      (request) => `You said ${request.messages.at(-1)?.content}`,
    ]);
    const messages = [user('one')];
    const [first, second, last] = await read(model.stream(ask(messages), open));
    expect([first, second]).toEqual([
      { type: 'text', text: 'Hello ' },
      { type: 'text', text: 'world' },
    ]);
    expect(last).toMatchObject({
      type: 'response',
      response: { content: 'Hello world', finishReason: 'stop' },
    });
    messages.push(user('two'));
    expect(await model.generate(ask(messages), open)).toMatchObject({
      content: '',
      toolCalls: [{ id: 'c1', name: 'add', arguments: '{"a":1}' }],
      usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 },
      finishReason: 'tool_calls',
    });
    expect(await model.generate(ask(messages), open)).toMatchObject({ content: 'You said two' });
    expect(model.requests.map(({ messages: seen }) => seen.length)).toEqual([1, 2, 2]);
  });

  it('streams reasoning and the given pieces, then fails as scripted', async () => {
    const model = scriptedModel([{ reasoning: 'Hm', chunks: ['a', 'b'], error: 'broken' }]);
    const seen: ModelChunk[] = [];
    const reading = (async () => {
      for await (const chunk of model.stream(ask(), open)) seen.push(chunk);
    })();
    await expect(reading).rejects.toThrow('broken');
    expect(seen.map((chunk) => chunk.type === 'response' || chunk.text)).toEqual(['Hm', 'a', 'b']);
  });

  it('waits at its gates', async () => {
    let openGate = () => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const chunks = scriptedModel([{ chunks: ['a', gate, 'b'] }])
      .stream(ask(), open)
      [Symbol.asyncIterator]();
    expect((await chunks.next()).value).toEqual({ type: 'text', text: 'a' });
    const next = chunks.next();
    openGate();
    expect((await next).value).toEqual({ type: 'text', text: 'b' });
  });

  it('lets an abort through wherever it waits', async () => {
    const reason = new Error('enough');
    const never = new Promise<never>(() => {});
    for (const turn of [{ waitFor: never }, { chunks: [never] }, () => never]) {
      const controller = new AbortController();
      const answer = scriptedModel([turn]).generate(ask(), { signal: controller.signal });
      controller.abort(reason);
      await expect(answer).rejects.toBe(reason);
    }
  });

  it('answers forever with a function, and says when a list has ended', async () => {
    const endless = scriptedModel((_, call) => `answer ${call}`);
    await endless.generate(ask(), open);
    expect((await endless.generate(ask(), open)).content).toBe('answer 1');
    await expect(scriptedModel([]).generate(ask(), open)).rejects.toThrow(
      'The scripted model has 0 turn(s) and was called once more. Add a turn to its script. The last message was from user: "Hello".',
    );
  });
});
