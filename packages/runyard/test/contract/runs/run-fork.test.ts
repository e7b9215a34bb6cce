import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, agentFactory } from '../../../src/index.js';
import { payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';

const book = new ScriptBook();
let service: TestService;
let life: RunLife;

beforeAll(async () => {
  const built = agent({ id: 'built', model: book.model });
  const agents = [
    payingAgent(book, 'a').agent,
    agent({ id: 'b', model: book.model }),
    agentFactory({ id: 'made', build: () => built }),
  ];
  service = await TestService.start({ agents });
  life = new RunLife(service, 'a');
});
afterAll(() => service.stop());

const fork = (sessionId: string, query = '', agentId = 'a') =>
  service.call('POST', `/agents/${agentId}/sessions/${encodeURIComponent(sessionId)}/fork${query}`);
const runsOf = async (sessionId: string, agentId = 'a'): Promise<Body[]> =>
  (await service.get(`/agents/${agentId}/runs?session_id=${sessionId}`)).body;

describe('forking a session', () => {
  test('copies its runs and its state under ids of their own', async () => {
    const form = { session_id: 'trip', user_id: 'ada' };
    const first = await life.start({ ...form, message: 'one', session_state: { seats: 2 } });
    await life.start({ ...form, message: 'two' });
    const { status, body } = await fork('trip');
    expect(status).toBe(200);
    expect(body).toEqual({ session_id: expect.any(String), forked_from_session_id: 'trip' });
    expect(body.session_id).not.toBe('trip');
    const [source, copies] = [await runsOf('trip'), await runsOf(body.session_id)];
    expect(copies.map(({ run_input, content, status }) => [run_input, content, status])).toEqual(
      source.map(({ run_input, content, status }) => [run_input, content, status]),
    );
    expect(copies.map((copy) => copy.forked_from_session_id)).toEqual(['trip', 'trip']);
    for (const { run_id: runId } of source) expect(copies.map((copy) => copy.run_id)).not.toContain(runId);
    const copy = await life.stored(copies[0]!.run_id);
    expect(copy).toMatchObject({ session_id: body.session_id, user_id: 'ada', content: first.content });
    const next = await life.start({
      message: 'three',
      session_id: body.session_id,
      user_id: 'ada',
      add_history_to_context: true,
    });
    expect(next.session_state).toEqual({ seats: 2 });
    expect(next.messages.filter((message: Body) => message.from_history)).toHaveLength(4);
    expect(await runsOf('trip')).toHaveLength(2);
  });

  test('copies only what was said before a run, so that a person can say something else', async () => {
    const form = { session_id: 'branch' };
    const first = await life.start({ ...form, message: 'one' });
    const second = await life.start({ ...form, message: 'two' });
    await life.start({ ...form, message: 'three' });
    const { body } = await fork('branch', `?before_run_id=${second.run_id}`);
    expect((await runsOf(body.session_id)).map(({ run_input }) => run_input)).toEqual(['one']);
    const before = await fork('branch', `?before_run_id=${first.run_id}`);
    expect([before.status, before.body.error_code]).toEqual([400, 'nothing_to_fork']);
  });

  test('a copy of a copy still names where its runs were made', async () => {
    await life.start({ session_id: 'origin', message: 'one' });
    const { body: once } = await fork('origin');
    const { body: twice } = await fork(once.session_id);
    expect(twice.forked_from_session_id).toBe(once.session_id);
    const [run] = await runsOf(twice.session_id);
    expect(run?.forked_from_session_id).toBe('origin');
  });

  test('works for an agent that is built per request', async () => {
    await service.run('made', { session_id: 'made-session', message: 'one' });
    const { status, body } = await fork('made-session', '', 'made');
    expect(status).toBe(200);
    expect(await runsOf(body.session_id, 'made')).toHaveLength(1);
  });

  test('is refused without runs to copy', async () => {
    await life.start({ session_id: 'of-ada', user_id: 'ada', message: 'one' });
    book.write('waits', { toolCalls: [payCall(1)] });
    await life.start({ session_id: 'only-paused', message: 'waits' });
    for (const answer of [
      await fork('nowhere'),
      await fork('only-paused'),
      await fork('of-ada', '?user_id=bob'),
      await fork('of-ada', '', 'b'),
    ]) {
      expect([answer.status, answer.body.detail]).toEqual([400, 'Source session has no runs to fork.']);
    }
    expect((await fork('of-ada', '?user_id=ada')).status).toBe(200);
    expect((await fork('of-ada', '', 'nobody')).status).toBe(404);
  });
});
