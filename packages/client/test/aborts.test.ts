import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createClient } from '../src/index.js';
import { frame, respondWith, ScriptedService, sendJson, stream } from './support/scripted-service.js';

const frames = [frame(0, 'RunStarted'), frame(1, 'RunContent', { content: 'a' }), frame(2, 'RunCompleted')];
const input = { message: 'Hello', run_id: 'r', session_id: 's' };
const never = new Promise<never>(() => {});

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

/** Sends nothing after the first event. */
const silent = () =>
  ScriptedService.start((_request, response) => response.writeHead(200, stream).write(frames[0]));

describe('an abort ends a stream with its reason', () => {
  const reason = new Error('closed the page');

  test('before the request', async () => {
    const service = await silent();
    const signal = AbortSignal.abort(reason);
    const client = createClient({ baseUrl: service.url });
    await expect(client.agents.run('a', input, { signal })).rejects.toBe(reason);
    await expect(client.agents.start('a', input, { signal })).rejects.toBe(reason);
    await expect(client.agents.list({ signal })).rejects.toBe(reason);
    expect(service.received).toEqual([]);
  });

  test('while the token is fetched', async () => {
    const service = await silent();
    for (const call of ['stream', 'list'] as const) {
      const controller = new AbortController();
      let asked = () => {};
      const wasAsked = new Promise<void>((resolve) => {
        asked = resolve;
      });
      const token = () => {
        asked();
        return never;
      };
      const { agents } = createClient({ baseUrl: service.url, token });
      const { signal } = controller;
      const ended = call === 'list' ? agents.list({ signal }) : agents.run('a', input, { signal });
      await wasAsked;
      controller.abort(reason);
      await expect(ended).rejects.toBe(reason);
      expect(listeners(signal)).toBe(0);
    }
    expect(service.received).toEqual([]);
  });

  test('while the start is not answered', async () => {
    const service = await ScriptedService.start(() => never);
    const controller = new AbortController();
    const run = createClient({ baseUrl: service.url }).agents.run('a', input, controller);
    await expect.poll(() => service.received.length).toBe(1);
    controller.abort(reason);
    await expect(run).rejects.toBe(reason);
    expect(listeners(controller.signal)).toBe(0);
    await expect.poll(() => service.sockets.size).toBe(0);
  });

  test('while a request is not answered that is not repeated', async () => {
    const service = await ScriptedService.start(() => never);
    const controller = new AbortController();
    const created = createClient({ baseUrl: service.url }).sessions.create({}, controller);
    await expect.poll(() => service.received.length).toBe(1);
    controller.abort(reason);
    await expect(created).rejects.toBe(reason);
  });

  test('while nothing comes', async () => {
    const service = await silent();
    const controller = new AbortController();
    const { agents } = createClient({ baseUrl: service.url });
    const read = async () => {
      for await (const { event } of agents.stream('a', input, controller)) {
        expect(event).toBe('RunStarted');
        setImmediate(() => controller.abort(reason));
      }
    };
    await expect(read()).rejects.toBe(reason);
    expect(listeners(controller.signal)).toBe(0);
    await expect.poll(() => service.sockets.size).toBe(0);
  });

  test('although further events have come', async () => {
    const service = await ScriptedService.start(respondWith(frames));
    for (const method of ['stream', 'follow'] as const) {
      const controller = new AbortController();
      const { agents } = createClient({ baseUrl: service.url });
      const run =
        method === 'stream' ? agents.stream('a', input, controller) : agents.follow('a', 'r', controller);
      const names: string[] = [];
      const read = async () => {
        for await (const { event } of run) {
          names.push(event);
          controller.abort(reason);
        }
      };
      await expect(read()).rejects.toBe(reason);
      expect(names).toEqual(['RunStarted']);
      expect(run.lastEventIndex).toBe(0);
      expect(listeners(controller.signal)).toBe(0);
    }
  });

  test('before it connects again, and while that is not answered', async () => {
    for (const when of ['in onReconnect', 'unanswered']) {
      const service = await ScriptedService.start((_request, response, count) =>
        count === 1 ? response.writeHead(200, stream).end(frames[0]) : never,
      );
      const controller = new AbortController();
      const { signal } = controller;
      const onReconnect = () => {
        if (when === 'in onReconnect') controller.abort(reason);
      };
      const run = createClient({ baseUrl: service.url }).agents.follow('a', 'r', { signal, onReconnect });
      const ended = run.result();
      ended.catch(() => {});
      if (when === 'unanswered') {
        await expect.poll(() => service.received.length).toBe(2);
        controller.abort(reason);
      }
      await expect(ended).rejects.toBe(reason);
      expect(listeners(signal)).toBe(0);
      await expect.poll(() => service.sockets.size).toBe(0);
    }
  });

  test('after the last event, while the run is fetched', async () => {
    const service = await ScriptedService.start((request, response, count) =>
      request.path.endsWith('/r') ? never : respondWith(frames)(request, response, count),
    );
    const controller = new AbortController();
    const ended = createClient({ baseUrl: service.url }).agents.run('a', input, controller);
    await expect.poll(() => service.received.length).toBe(2);
    controller.abort(reason);
    await expect(ended).rejects.toBe(reason);
    expect(listeners(controller.signal)).toBe(0);
  });
});

test('a run that is cancelled at once is cancelled when the service has it', async () => {
  let start = () => {};
  const service = await ScriptedService.start((request, response, count) => {
    if (request.path.endsWith('/cancel')) return sendJson(response, {});
    if (count > 1) return respondWith(frames)(request, response, count);
    start = () => void response.writeHead(200, stream).end(frames.join(''));
    return undefined;
  });
  const run = createClient({ baseUrl: service.url }).agents.stream('a', input);
  const ended = run.result();
  const cancelled = run.cancel();
  await expect.poll(() => service.received.length).toBe(1);
  start();
  await Promise.all([ended, cancelled]);
  expect(service.lines[0]).toBe('POST /agents/a/runs');
  expect(service.lines).toContain('POST /agents/a/runs/r/cancel');
});

test('a thousand streams leave no listener, timer or connection', async () => {
  const service = await silent();
  const controller = new AbortController();
  const { agents } = createClient({ baseUrl: service.url });
  const held = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = held();
  for (let number = 0; number < 1000; number += 1) {
    const run = number % 2 ? agents.stream('a', input, controller) : agents.follow('a', 'r', controller);
    for await (const { event } of run) {
      expect(event).toBe('RunStarted');
      break;
    }
  }
  expect(service.received).toHaveLength(1000);
  expect(listeners(controller.signal)).toBe(0);
  await expect.poll(() => service.sockets.size).toBe(0);
  // some are of the platform's own connections
  await expect.poll(() => held() - before).toBeLessThan(10);
});
