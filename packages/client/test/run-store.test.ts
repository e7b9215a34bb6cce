import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent, tool } from '../../runyard/src/index.js';
import { ScriptBook } from '../../runyard/test/support/providers/script-book.js';
import { TestService } from '../../runyard/test/support/service.js';
import { createClient, NotFoundError } from '../src/index.js';
import { RunStore } from '../src/run-store.js';

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
});
