import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent, tool } from '../../../src/index.js';
import { Sessions } from '../../support/components/sessions.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Answer, TestService } from '../../support/service.js';

const book = new ScriptBook();
const fill = tool({
  name: 'fill',
  description: 'Fills the state',
  execute: async (_args, { state }) => {
    for (let key = 0; ; key++) state.set(`filled-${key}`, key);
  },
});
const keeper = agent({ id: 'keeper', name: 'Keeper', model: book.model, tools: [fill] });

let service: TestService;
let sessions: Sessions;
beforeAll(async () => {
  service = await TestService.start({ agents: [keeper], maxBodyBytes: 4 * 1_048_576 });
  sessions = new Sessions(service);
});
afterAll(() => service.stop());

const keys = (count: number, prefix: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, at]));

function expectRefused({ status, body }: Answer, text: string) {
  expect([status, body.detail[0].loc]).toEqual([422, ['body', 'session_state']]);
  expect(body.detail[0].msg).toContain(text);
}

test('the state does not grow without end over runs', async () => {
  const run = (prefix: string) =>
    service.run('keeper', { message: 'Keep', session_id: 'grows', session_state: keys(4_000, prefix) });
  expect((await run('a')).status).toBe(200);
  expect((await run('b')).status).toBe(200);
  expectRefused(await run('c'), 'at most 10000 keys, but would have 12000');
  expect((await run('a')).status).toBe(200);
  expect((await sessions.runs('grows')).body).toHaveLength(3);
  const alone = { message: 'Keep', session_state: { text: 'x'.repeat(1_100_000) } };
  expectRefused(await service.run('keeper', alone), 'at most 1048576 characters of JSON');
});

test('a tool that fills it gets an error, and its run continues', async () => {
  const message = book.write('Fill', { toolCalls: [{ name: 'fill', arguments: {} }] }, 'It is full');
  const { body } = await service.run('keeper', { message, session_id: 'tool' });
  expect(body).toMatchObject({ status: 'completed', content: 'It is full' });
  expect(body.tools[0]).toMatchObject({ tool_call_error: true });
  expect(body.tools[0].result).toContain('at most 10000 keys');
});

test('nor can it be made or changed to be larger', async () => {
  const large = { session_id: 'made', session_state: keys(10_001, 'k') };
  expectRefused(await sessions.create(large), 'at most 10000 keys');
  await sessions.create({ session_id: 'made' });
  expectRefused(await sessions.change('made', { session_state: large.session_state }), 'at most 10000 keys');
  expect((await sessions.change('made', { session_state: keys(10_000, 'k') })).status).toBe(200);
});
