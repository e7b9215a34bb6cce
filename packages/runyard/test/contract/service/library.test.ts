import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { silentLog } from '../../../src/core/log.js';
import { type AgentEvent, agent, Runyard, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { intervalContexts } from '../../support/interval-contexts.js';
import { gate } from '../../support/until.js';

const add = tool({
  name: 'add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

describe('an agent without a server', () => {
  test('runs', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, 'three']);
    const output = await agent({ id: 'a', model, tools: [add] }).run('1 + 2?', {
      userId: 'ada',
      sessionState: { s: 1 },
    });
    expect(output).toMatchObject({
      status: 'completed',
      content: 'three',
      contentType: 'str',
      sessionState: { s: 1 },
    });
    expect(output.tools).toMatchObject([{ name: 'add', result: '3' }]);
    expect(output.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('runs on the model that needs nothing', async () => {
    const output = await agent({ id: 'a', model: 'offline' }).run('Hello');
    expect(output.status).toBe('completed');
    expect(output.content).not.toBe('');
  });

  test('streams the events of the wire', async () => {
    const events: AgentEvent[] = [];
    for await (const event of agent({ id: 'a', model: scriptedModel(['one two']) }).stream('hi'))
      events.push(event);
    expect(events.map(({ event }) => event)).toEqual([
      'RunStarted',
      'ModelRequestStarted',
      'RunContent',
      'RunContent',
      'RunContent',
      'ModelRequestCompleted',
      'RunContentCompleted',
      'RunCompleted',
    ]);
    expect(events.map(({ event_index }) => event_index)).toEqual(events.map((_, index) => index));
  });

  test('remembers a session for as long as the process lives', async () => {
    const model = scriptedModel((request) => `I saw ${request.messages.length} messages`);
    const friend = agent({ id: 'friend', model, addHistoryToContext: true });
    await friend.run('first', { sessionId: 'our-session' });
    const { content } = await friend.run('second', { sessionId: 'our-session' });
    expect(content).toBe('I saw 3 messages');
  });

  test('fits an output schema', async () => {
    const model = scriptedModel(['{"sum":3,"extra":1}']);
    const outputSchema = {
      title: 'Sum',
      type: 'object',
      properties: { sum: { type: 'integer' } },
      required: ['sum'],
    };
    const output = await agent({ id: 'a', model }).run('1 + 2?', { outputSchema });
    expect(output).toMatchObject({ content: { sum: 3 }, contentType: 'Sum' });
  });

  test('returns a failure instead of throwing it', async () => {
    const output = await agent({ id: 'a', model: scriptedModel([{ error: 'out of order' }]) }).run('hi');
    expect(output).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('out of order') },
    });
  });
});

describe('aborting', () => {
  const never = () => scriptedModel([{ chunks: ['begun ', new Promise(() => {})] }]);

  test('cancels a run under way', async () => {
    const begun = gate();
    const model = scriptedModel([
      () => {
        begun.open();
        return { chunks: ['begun ', new Promise(() => {})] };
      },
    ]);
    const controller = new AbortController();
    const running = agent({ id: 'a', model }).run('hi', { signal: controller.signal });
    await begun.opened;
    controller.abort();
    expect((await running).status).toBe('cancelled');
  });

  test('cancels a run that has only just been requested', async () => {
    const controller = new AbortController();
    const running = agent({ id: 'a', model: never() }).run('hi', { signal: controller.signal });
    controller.abort();
    expect((await running).status).toBe('cancelled');
  });

  test('refuses to begin when it came first', async () => {
    const model = never();
    await expect(agent({ id: 'a', model }).run('hi', { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(model.requests).toEqual([]);
  });

  test('ends a stream with the events of a cancelled run', async () => {
    const controller = new AbortController();
    const names: string[] = [];
    for await (const event of agent({ id: 'a', model: never() }).stream('hi', {
      signal: controller.signal,
    })) {
      names.push(event.event);
      if (event.event === 'RunContent' && event.content === 'begun ') controller.abort();
    }
    expect(names.slice(-2)).toEqual(['RunCancelled', 'RunCompleted']);
  });

  test('happens when the loop is left', async () => {
    let seen: AbortSignal | undefined;
    const held = scriptedModel([{ waitFor: (signal) => new Promise(() => (seen = signal)) }]);
    for await (const { event } of agent({ id: 'a', model: held }).stream('hi')) {
      if (event === 'ModelRequestStarted') {
        await new Promise<void>((resolve) => setImmediate(resolve));
        break;
      }
    }
    expect(seen?.aborted).toBe(true);
  });

  test('reaches a tool through its signal', async () => {
    const inTool = gate<AbortSignal>();
    const wait = tool({
      name: 'wait',
      description: 'Waits for ever',
      execute: (_args, { signal }) => {
        inTool.open(signal);
        return new Promise(() => {});
      },
    });
    const controller = new AbortController();
    const model = scriptedModel([{ toolCalls: [{ name: 'wait' }] }]);
    const running = agent({ id: 'a', model, tools: [wait] }).run('hi', { signal: controller.signal });
    const signal = await inTool.opened;
    controller.abort();
    expect((await running).status).toBe('cancelled');
    expect(signal.aborted).toBe(true);
  });
});

test('an agent that a service registers keeps its runs there, also when it is run by hand', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-library-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const start = () => {
    const clerk = agent({ id: 'clerk', model: scriptedModel(() => 'noted'), addHistoryToContext: true });
    return { clerk, app: new Runyard({ agents: [clerk], port: 0, dataDir: folder, log: silentLog }) };
  };
  const first = start();
  const { runId } = await first.clerk.run('remember this', { sessionId: 's1' });
  await first.app.close();
  const second = start();
  onTestFinished(() => second.app.close());
  const { url } = await second.app.listen();
  const stored = (await (await fetch(`${url}/agents/clerk/runs/${runId}`)).json()) as object;
  expect(stored).toMatchObject({ status: 'completed', content: 'noted', session_id: 's1' });
  const { messages } = await second.clerk.run('and this', { sessionId: 's1' });
  expect(messages.map(({ content }) => content)).toEqual(['remember this', 'noted', 'and this', 'noted']);
});

test('what a service does for all its callers has the context of none, also when a call in code opens it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-library-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const contexts = new AsyncLocalStorage<string>();
  const seen = intervalContexts(contexts);
  const answeredIn: (string | undefined)[] = [];
  const model = scriptedModel(() => {
    answeredIn.push(contexts.getStore());
    return 'noted';
  });
  const clerk = agent({ id: 'clerk', model });
  const app = new Runyard({ agents: [clerk], dataDir: folder, log: silentLog });
  onTestFinished(() => app.close());
  await contexts.run('the first call', () => clerk.run('hi'));
  expect(answeredIn).toEqual(['the first call']);
  expect(seen).toContain(undefined);
  expect(seen).not.toContain('the first call');
});

test('a run that is asked for while the service closes is refused, and opens no second service', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-library-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const answer = gate<string>();
  const begun = gate();
  const model = scriptedModel(async () => {
    begun.open();
    return answer.opened;
  });
  const clerk = agent({ id: 'clerk', model });
  const app = new Runyard({ agents: [clerk], port: 0, dataDir: folder, log: silentLog });
  const { url } = await app.listen();
  const running = clerk.run('first');
  await begun.opened;
  const closed = app.close({ graceMs: 60_000 });
  const body = () => new URLSearchParams({ message: 'second', stream: 'false' });
  await expect
    .poll(async () => (await fetch(`${url}/agents/clerk/runs`, { method: 'POST', body: body() })).status)
    .toBe(503);
  await expect(clerk.run('third')).rejects.toMatchObject({ code: 'service_stopping' });
  answer.open('done');
  expect((await running).content).toBe('done');
  await closed;
  expect(model.requests).toHaveLength(1);
});
