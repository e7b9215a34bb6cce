import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { agent, Runyard, tool } from '../../../src/index.js';
import { a2a } from '../../../src/interfaces.js';
import { freshPostgres } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Body } from '../../support/service.js';
import { gate } from '../../support/until.js';

test('a task on PostgreSQL is followed to its end at another process', async () => {
  const { url: database } = await freshPostgres();
  const book = new ScriptBook();
  const door = gate();
  const linger = tool({
    name: 'linger',
    description: 'Takes its time',
    execute: async () => {
      await door.opened;
      return 'done';
    },
  });
  const clerk = agent({ id: 'clerk', model: book.model, tools: [linger] });
  const open = async () => {
    const app = new Runyard({ port: 0, database, log: silentLog, agents: [clerk], interfaces: [a2a()] });
    onTestFinished(() => app.close({ graceMs: 0 }));
    return `${(await app.listen()).url}/a2a/agents/clerk`;
  };
  const [first, second] = [await open(), await open()];
  const post = (url: string, method: string, params: Body) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  const resultOf = async (response: Response) => ((await response.json()) as Body).result;

  const text = book.write('Wait', { toolCalls: [{ name: 'linger', id: 'c1', arguments: {} }] }, 'At last.');
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text }] };
  const configuration = { returnImmediately: true };
  const { task } = await resultOf(await post(first, 'SendMessage', { message, configuration }));

  const followed = await post(second, 'SubscribeToTask', { id: task.id });
  expect(followed.headers.get('content-type')).toContain('text/event-stream');
  door.open();
  const events = await followed.text();
  expect(events).toContain('"last."');
  expect(events.trim().split('\n').at(-1)).toContain('TASK_STATE_COMPLETED');
  const seen = await resultOf(await post(second, 'GetTask', { id: task.id }));
  expect(seen).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
  // in another process it is the same task, and waits for nobody
  expect((await (await post(second, 'CancelTask', { id: task.id })).json()) as Body).toHaveProperty('error');
});
