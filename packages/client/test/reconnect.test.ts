import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, tool } from '../../runyard/src/index.js';
import { ChaosFolder, ChaosProcess } from '../../runyard/test/support/chaos-process.js';
import { ScriptBook } from '../../runyard/test/support/providers/script-book.js';
import { ServerBetween } from '../../runyard/test/support/server-between.js';
import { TestService } from '../../runyard/test/support/service.js';
import { until } from '../../runyard/test/support/until.js';
import { type AgentEvent, createClient, NetworkError, type RunStream } from '../src/index.js';

/** The events that the service has stored of a run, read over one connection. */
async function storedEvents(url: string, agentId: string, runId: string): Promise<AgentEvent[]> {
  const response = await fetch(`${url}/agents/${agentId}/runs/${runId}/events`);
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)));
}

async function read(stream: RunStream<'agent'>, at: (event: AgentEvent, count: number) => unknown) {
  const events: AgentEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    await at(event, events.length);
  }
  return events;
}

describe('through a proxy', () => {
  const book = new ScriptBook();
  const count = 150;
  const emitting = tool({
    name: 'emit',
    description: 'Sends events',
    execute: async (_input, { emit }) => {
      for (let number = 0; number < count; number += 1) {
        await emit({ number });
        if (number % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return 'sent';
    },
  });
  const talk = (message: string) =>
    book.write(message, { toolCalls: [{ name: 'emit', arguments: {} }] }, 'Done.');
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start({
      agents: [agent({ id: 'talker', model: book.model, tools: [emitting] })],
    });
  });
  afterAll(() => service.stop());

  test('a stream whose connections are cut has every event once', async () => {
    const between = await ServerBetween.before(service.url);
    let reconnects = 0;
    const client = createClient({ baseUrl: between.url });
    const stream = client.agents.stream(
      'talker',
      { message: talk('Cut') },
      { onReconnect: () => (reconnects += 1) },
    );
    const events = await read(
      stream,
      (_event, read) => [3, 30, 31, 100].includes(read) && between.breakAll(),
    );
    expect(events).toEqual(await storedEvents(service.url, 'talker', stream.runId));
    expect(events.filter(({ event }) => event === 'CustomEvent')).toHaveLength(count);
    expect(reconnects).toBeGreaterThan(0);
    expect((await stream.result()).content).toBe('Done.');
  });

  test('a connection that is silent is replaced', async () => {
    const between = await ServerBetween.before(service.url);
    const reasons: unknown[] = [];
    const onReconnect = (reason: unknown) => {
      reasons.push(reason);
      void between.open();
    };
    const client = createClient({ baseUrl: between.url, silenceMs: 500 });
    const stream = client.agents.stream('talker', { message: talk('Silent') }, { onReconnect });
    const events = await read(stream, (_event, read) => read === 5 && between.silence());
    expect(events).toEqual(await storedEvents(service.url, 'talker', stream.runId));
    expect(reasons[0]).toBeInstanceOf(NetworkError);
  });

  test('a connection that is not answered is given up', async () => {
    const between = await ServerBetween.before(service.url);
    const reasons: unknown[] = [];
    const onReconnect = (reason: unknown) => {
      reasons.push(reason);
      if (reasons.length === 2) void between.open();
    };
    const client = createClient({ baseUrl: between.url, silenceMs: 500 });
    const stream = client.agents.stream('talker', { message: talk('Unanswered') }, { onReconnect });
    const events = await read(stream, (_event, read) => {
      if (read !== 5) return;
      between.holdNew();
      between.breakAll();
    });
    expect(events).toEqual(await storedEvents(service.url, 'talker', stream.runId));
    expect(String(reasons[1])).toContain('no response for 500 ms');
  });

  test('a stream gives up when the service stays away, and continues when it is asked again', async () => {
    const between = await ServerBetween.before(service.url);
    const client = createClient({ baseUrl: between.url, reconnectMs: 300 });
    const stream = client.agents.stream('talker', { message: talk('Away') });
    const events: AgentEvent[] = [];
    const reading = async () => {
      for await (const event of stream) {
        events.push(event);
        if (events.length === 5) await between.refuse();
      }
    };
    await expect(reading()).rejects.toThrow(NetworkError);
    await between.open();
    await reading();
    expect(events).toEqual(await storedEvents(service.url, 'talker', stream.runId));
  });
});

test('a stream continues through a service that is killed and started again', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as { port: number };
  await new Promise((resolve) => free.close(resolve));
  const folder = new ChaosFolder();
  const options = { folder, settings: { port, leaseMs: 1000 } };
  const first = await ChaosProcess.start(options);
  const client = createClient({ baseUrl: first.url });
  const stream = client.agents.stream('planner', { message: 'plan: step, peek@gate, step' });
  let second: ChaosProcess | undefined;
  const events = await read(stream, async (event) => {
    if (event.event !== 'ToolCallStarted' || event.tool.tool_name !== 'peek' || second) return;
    await until('the tool has begun', () => folder.effects('peek').length > 0);
    await first.kill();
    folder.release('gate');
    second = await ChaosProcess.start(options);
  });
  expect(second).toBeDefined();
  const indices = events.map(({ event_index }) => event_index);
  expect(indices).toEqual([...new Set(indices)].sort((left, right) => left - right));
  // the process that was killed may have sent events that it had not stored yet: they come again with new indices
  const stored = await storedEvents(first.url, 'planner', stream.runId);
  const kept = new Set(stored.map(({ event_index }) => event_index));
  expect(events.filter(({ event_index }) => kept.has(event_index))).toEqual(stored);
  expect(stored.filter(({ event }) => event === 'ToolCallCompleted')).toHaveLength(3);
  expect(await stream.result()).toMatchObject({ status: 'completed', content: 'All 3 steps are done.' });
});
