import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, type Form, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

const book = new ScriptBook();
let service: TestService;
let life: RunLife;

beforeAll(async () => {
  const agents = [payingAgent(book, 'a').agent, payingAgent(book, 'b').agent];
  service = await TestService.start({ agents });
  life = new RunLife(service, 'a');
});
afterAll(() => service.stop());

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });
const run = (key: string, form: Form, agentId = 'a') => service.run(agentId, form, withKey(key));
const calls = (message: string) => book.requests(message).length;

describe('the same key with the same form', () => {
  test('answers with the same run', async () => {
    const first = await run('k1', { message: 'once', user_id: 'ada' });
    const second = await run('k1', { message: 'once', user_id: 'ada' });
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(calls('once')).toBe(1);
  });

  test('shows the history that the run was shown', async () => {
    await service.run('a', { message: 'before', session_id: 'talk' });
    const form = { message: 'after', session_id: 'talk', add_history_to_context: true };
    const first = await run('k0', form);
    expect(first.body.messages.some((message: Body) => message.from_history)).toBe(true);
    expect((await run('k0', form)).body).toEqual(first.body);
  });

  test('waits for the run while it is executing', async () => {
    const rest = gate();
    book.write('slow', { text: 'at last', waitFor: rest.opened });
    const first = await service.run('a', { message: 'slow', background: true }, withKey('k2'));
    const second = await service.run('a', { message: 'slow', background: true }, withKey('k2'));
    expect([second.status, second.body.run_id]).toEqual([202, first.body.run_id]);
    expect(['pending', 'running']).toContain(second.body.status);
    rest.open();
    await life.rested(first.body.run_id);
    const third = await service.run('a', { message: 'slow', background: true }, withKey('k2'));
    expect([third.status, third.body]).toEqual([202, { ...first.body, status: 'completed' }]);
    expect(calls('slow')).toBe(1);
  });

  test('streams the run from its start', async () => {
    const first = await (await service.stream('a', { message: 'streamed' }, withKey('k3'))).end();
    const second = await (await service.stream('a', { message: 'streamed' }, withKey('k3'))).end();
    expect(second.frames).toEqual(first.frames);
    expect(calls('streamed')).toBe(1);
  });

  test('finds a run that waits for an answer', async () => {
    book.write('paused', { toolCalls: [payCall(1)] });
    const first = await run('k4', { message: 'paused' });
    const second = await run('k4', { message: 'paused' });
    expect(second.body).toMatchObject({ run_id: first.body.run_id, status: 'paused' });
  });

  test.each([
    ['without ids', {}],
    ['with ids of the client', { run_id: 'race-run', session_id: 'race-session' }],
  ])('starts one run however many come at once, %s', async (name, ids) => {
    const message = `race ${name}`;
    book.write(message, { text: 'one' });
    const bodies = await Promise.all(
      Array.from({ length: 8 }, async () => (await run(`k5 ${name}`, { message, ...ids })).body),
    );
    expect(new Set(bodies.map(({ run_id }) => run_id)).size).toBe(1);
    expect(bodies.map(({ content }) => content)).toEqual(bodies.map(() => 'one'));
    expect(calls(message)).toBe(1);
  });

  test('is recognized by its fields and files, not by how they were sent', async () => {
    const form = { message: 'the same', metadata: { a: 1, b: 2 } };
    const first = await service.run('a', form, { ...withKey('k6'), encoding: 'urlencoded' });
    const again = { metadata: { b: 2, a: 1 }, message: 'the same' };
    expect((await run('k6', again)).body.run_id).toBe(first.body.run_id);
  });
});

describe('the same key', () => {
  test('with another form is refused', async () => {
    const file = (text: string) => [new File([text], 'note.txt', { type: 'text/plain' })];
    const first = await run('k7', { message: 'with a file', files: file('one') });
    for (const form of [
      { message: 'with a file', files: file('two') },
      { message: 'with a file' },
      { message: 'another', files: file('one') },
    ]) {
      const { status, body } = await run('k7', form);
      expect([status, body.error_code]).toEqual([409, 'idempotency_key_taken']);
      expect(body.run_id).toBe(first.body.run_id);
    }
    expect(calls('another')).toBe(0);
  });

  test('of another user or another agent is another key', async () => {
    const ids = [
      await run('k8', { message: 'mine' }),
      await run('k8', { message: 'mine', user_id: 'ada' }),
      await run('k8', { message: 'mine', user_id: 'bob' }),
      await run('k8', { message: 'mine' }, 'b'),
    ].map(({ status, body }) => {
      expect(status).toBe(200);
      return body.run_id;
    });
    expect(new Set(ids).size).toBe(4);
  });
});

test('a key has to be printable and short', async () => {
  for (const key of ['x'.repeat(256), '\u00e4', 'a\tb']) {
    const { status, body } = await run(key, { message: 'bad key' });
    expect([status, body.detail[0].loc]).toEqual([422, ['header', 'idempotency-key']]);
  }
  expect((await run('x'.repeat(255), { message: 'long key' })).status).toBe(200);
  expect(calls('bad key')).toBe(0);
});

test('a refused request does not take its key', async () => {
  expect((await run('k9', { message: 'bad', output_schema: { type: 7 } })).status).toBe(422);
  expect((await run('k9', { message: 'good' })).status).toBe(200);
});
