import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent, tool } from '../../runyard/src/index.js';
import { ScriptBook } from '../../runyard/test/support/providers/script-book.js';
import { TestService } from '../../runyard/test/support/service.js';
import { gate } from '../../runyard/test/support/until.js';
import { createClient, NotFoundError } from '../src/index.js';
import { RunStore } from '../src/run-store.js';
import { frame, ScriptedService, stream } from './support/scripted-service.js';

const book = new ScriptBook();
const emitting = tool({
  name: 'emit',
  description: 'Sends events',
  execute: (_input, { emit }) => {
    for (let number = 0; number < 300; number += 1) void emit({ number });
    return 'sent';
  },
});
let service: TestService;

beforeAll(async () => {
  service = await TestService.start({
    agents: [agent({ id: 'clerk', model: book.model, tools: [emitting], retries: 1 })],
  });
});
afterAll(() => service.stop());

const storeOf = (id: string) => new RunStore(createClient({ baseUrl: service.url }).agents, id);

test('what a model call said before it failed is not shown once it is repeated', async () => {
  const store = storeOf('clerk');
  const message = book.write('Twice', { text: 'This is wro', error: 'broken' }, 'This is right');
  await store.send({ message });
  await expect.poll(() => store.state().status).toBe('completed');
  expect(store.state().text).toBe('This is right');
  expect(store.state().events.filter(({ event }) => event === 'RunStarted')).toHaveLength(2);
  expect(store.state().run).toMatchObject({ content: 'This is right' });
});

test('many events are fewer changes, and none is left out', async () => {
  const store = storeOf('clerk');
  let changes = 0;
  store.subscribe(() => (changes += 1));
  await store.send({
    message: book.write('Many', { toolCalls: [{ name: 'emit', arguments: {} }] }, 'Done.'),
  });
  await expect.poll(() => store.state().status).toBe('completed');
  const { events, text } = store.state();
  expect(events.filter(({ event }) => event === 'CustomEvent')).toHaveLength(300);
  expect(changes).toBeLessThan(events.length);
  expect(text).toBe('Done.');
});

test('a request that fails is shown with its reason', async () => {
  const store = storeOf('nobody');
  await store.send({ message: 'Hello' });
  await expect.poll(() => store.state().status).toBe('failed');
  expect(store.state().error).toBeInstanceOf(NotFoundError);
  const { runId, error } = store.state();
  await store.follow(runId!);
  // while it is read again, it has no error
  await expect.poll(() => [undefined, error].includes(store.state().error)).toBe(false);
  expect(store.state()).toMatchObject({ status: 'failed', error: expect.any(NotFoundError) });
});

test('a run that is replaced by another one no longer changes what is shown', async () => {
  const bodies = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
  // a platform whose connections do not end at once
  const fetch: typeof globalThis.fetch = async (url, init) => {
    if (init?.method === 'GET')
      return Response.json({ run_id: String(url).split('/').at(-1), status: 'completed' });
    const { run_id } = JSON.parse(String(init?.body));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void bodies.set(run_id, controller),
    });
    return new Response(body, { headers: stream });
  };
  const push = (run_id: string, ...frames: string[]) => {
    const text = frames.join('').replaceAll('"run_id":"r"', `"run_id":"${run_id}"`);
    bodies.get(run_id)!.enqueue(new TextEncoder().encode(text));
  };
  const store = new RunStore(createClient({ baseUrl: 'http://service', fetch }).agents, 'clerk');
  void store.send({ message: 'One', run_id: 'one' });
  await expect.poll(() => bodies.has('one')).toBe(true);
  push('one', frame(0, 'RunStarted'));
  await expect.poll(() => store.state().events.length).toBe(1);
  const second = store.send({ message: 'Two', run_id: 'two' });
  await expect.poll(() => bodies.has('two')).toBe(true);
  push('one', frame(1, 'RunContent', { content: 'of one' }), frame(2, 'RunCompleted'));
  push('two', frame(0, 'RunContent', { content: 'of two' }), frame(1, 'RunCompleted'));
  for (const body of bodies.values()) body.close();
  await second;
  await expect.poll(() => store.state().status).toBe('completed');
  expect(store.state()).toMatchObject({ runId: 'two', text: 'of two', run: { run_id: 'two' } });
  expect(store.state().events.map(({ run_id }) => run_id)).toEqual(['two', 'two']);
});

test('a run is shown as running when it is connected again, also if no event follows', async () => {
  const statuses: string[] = [];
  const isReconnecting = () => expect.poll(() => statuses.at(-1)).toBe('reconnecting');
  const service = await ScriptedService.start(async (_request, response, count) => {
    if (count === 1) return response.writeHead(200, stream).end(frame(0, 'RunStarted'));
    await isReconnecting();
    return response.writeHead(200, stream).flushHeaders();
  });
  const store = new RunStore(createClient({ baseUrl: service.url }).agents, 'clerk');
  store.subscribe(() => statuses.push(store.state().status));
  void store.follow('r');
  await isReconnecting();
  await expect.poll(() => statuses.at(-1)).toBe('running');
  store.close();
});

test('a run that was left is read further, with each event once', async () => {
  const more = gate();
  const message = book.write('Left', { chunks: ['one ', more.opened, 'two'] });
  const store = storeOf('clerk');
  void store.send({ message });
  await expect.poll(() => store.state().text).toBe('one ');
  store.close();
  store.open();
  // what is shown anyway is not read again
  await store.follow(store.state().runId!);
  more.open();
  await expect.poll(() => store.state().status).toBe('completed');
  const { text, events } = store.state();
  expect(text).toBe('one two');
  expect(events.map(({ event_index }) => event_index)).toEqual(events.map((_event, at) => at));
  store.close();
  store.open();
  expect(store.state().status).toBe('completed');
});
