import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/index.js';
import { ask, book, helper, teams, use } from '../../support/components/paying-teams.js';
import { payCall, RunLife } from '../../support/components/run-life.js';
import { type Body, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

let service: TestService;
const life = (id = 'desk') => new RunLife(service, id, 'teams');
const never = () => new Promise<never>(() => {});

beforeAll(async () => {
  service = await TestService.start({ agents: [helper], teams, maxConcurrentRuns: 50 });
});
afterAll(() => service.stop());

describe('a team that runs', () => {
  test('is cancelled with its members', async () => {
    const message = book.write('Long', { toolCalls: [ask('helper', 'Takes long')] }, 'never');
    book.write('Takes long', { chunks: ['half', never()] });
    const stream = await life().stream({ message });
    await stream.until(() => stream.all('RunContent').some(({ content }) => content === 'half'));
    await life().cancel(stream.events[0]!.run_id);
    await stream.end();
    const last = stream.names.filter((name) => /Cancelled|Completed$/.test(name)).slice(-4);
    expect(last).toEqual(['RunCancelled', 'RunCompleted', 'TeamRunCancelled', 'TeamRunCompleted']);
    const stored = await life().stored(stream.events[0]!.run_id);
    expect(stored).toMatchObject({ status: 'cancelled', member_responses: [{ status: 'cancelled' }] });
  });

  test('is resumed with all text, its own and that of its members (fault 7)', async () => {
    const message = book.write(
      'Resume',
      { toolCalls: [ask('helper', 'Speak')] },
      { chunks: ['All ', 'said'] },
    );
    book.write('Speak', { chunks: ['One ', 'two'] });
    const stream = await (await life().stream({ message })).end();
    const runId = stream.events[0]!.run_id;
    const resumed = await (await life().resume(runId)).end();
    expect(resumed.first('replay')).toMatchObject({
      status: 'completed',
      total_events: stream.events.length,
    });
    expect(resumed.events.slice(1)).toEqual(stream.events);
    expect(text(resumed.events, 'TeamRunContent')).toBe('All said');
    expect(text(resumed.events, 'RunContent')).toBe('One two');
    const rest = await (await life().resume(runId, { last_event_index: 4 })).end();
    expect(rest.events.slice(1)).toEqual(stream.events.slice(5));
    const { events } = await life().stored(runId);
    expect(events.map(({ event }: Body) => event)).not.toContain('TeamRunContent');
    expect(events.map(({ event }: Body) => event)).not.toContain('RunContent');
  });

  test('is followed while it executes', async () => {
    const open = gate();
    const message = book.write('Follow', { chunks: ['first', open.opened, ' second'] });
    const { body } = await life().post({ message, background: true });
    const following = await life().resume(body.run_id);
    await following.event('subscribed');
    open.open();
    await following.end();
    expect(text(following.events, 'TeamRunContent')).toBe('first second');
    expect((await life().events(body.run_id)).response.status).toBe(200);
  });

  test('is started once under a key', async () => {
    const message = book.write('Once', { toolCalls: [ask('helper', 'Once only')] }, 'done');
    const key = { 'idempotency-key': 'team-key' };
    const first = await life().post({ message }, key);
    expect((await life().post({ message }, key)).body).toEqual(first.body);
    expect((await life().post({ message: 'Other' }, key)).status).toBe(409);
    expect(book.requests('Once only')).toHaveLength(1);
  });

  test('sends only the content of its leader with stream_events=false, and everything of its members', async () => {
    const message = book.write('Quiet', { toolCalls: [ask('helper', 'Quiet task')] }, 'Loud answer');
    book.write('Quiet task', 'Loud member');
    const stream = await (await life().stream({ message, stream_events: false })).end();
    const names = new Set(stream.names);
    expect([...names].filter((name) => name.startsWith('Team'))).toEqual(['TeamRunContent']);
    expect(names).toContain('RunStarted');
    expect(names).toContain('RunCompleted');
    expect(text(stream.events, 'TeamRunContent')).toBe('Loud answer');
    const paused = await life().stream({ message: writePause(111), stream_events: false });
    expect((await paused.end()).names.at(-1)).toBe('TeamRunPaused');
  });

  test('has checkpoints that its members belong to', async () => {
    const message = book.write(
      'Rounds',
      { toolCalls: [ask('helper', 'Round one', 'a1')] },
      { toolCalls: [ask('helper', 'Round two', 'a2')] },
      'Two rounds.',
    );
    const run = await life().start({ message });
    const { body } = await service.get(life().path(run.run_id, '/checkpoints'));
    const [first, second, end] = body.checkpoints;
    expect([first.reason, second.reason, end.reason]).toEqual(['checkpoint', 'checkpoint', 'end']);
    const { body: cut } = await service.get(life().path(run.run_id, `/checkpoints/${first.message_index}`));
    expect(cut.snapshot).toMatchObject({ team_id: 'desk', tools: [{ tool_call_id: 'a1' }] });
    expect(cut.snapshot.member_responses).toMatchObject([{ input: { input_content: 'Round one' } }]);
    book.write('Rounds', 'From the first round on.');
    const { body: copy } = await life().continue(run.run_id, { continue_from: first.message_index });
    expect(copy).toMatchObject({ forked_from_run_id: run.run_id, content: 'From the first round on.' });
    expect(copy.member_responses).toHaveLength(1);
    expect(book.requests('Round one')).toHaveLength(1);
  });

  test('is copied with its session', async () => {
    const message = book.write('To copy', { toolCalls: [ask('helper', 'Copy me')] }, 'copied');
    const run = await life().start({ message, session_id: 'to-copy' });
    const { status, body } = await service.call('POST', '/teams/desk/sessions/to-copy/fork');
    expect([status, body.forked_from_session_id]).toEqual([200, 'to-copy']);
    const [copy] = await life().list(body.session_id);
    const stored = await life().stored(copy.run_id);
    expect(stored).toMatchObject({ content: 'copied', forked_from_session_id: 'to-copy' });
    expect(stored.run_id).not.toBe(run.run_id);
    expect(stored.member_responses).toMatchObject([
      { content: 'Answer to: Copy me', parent_run_id: copy.run_id },
    ]);
  });

  test('answers without tasks in one call, and unblocks what depends on a finished task (fault 23)', async () => {
    const message = book.write('Direct', 'I know that.');
    const run = await life('list').start({ message });
    expect(run).toMatchObject({ status: 'completed', content: 'I know that.' });
    expect(book.requests('Direct')).toHaveLength(1);
    const taskId = ({ messages }: ModelRequest) => /[0-9a-f]{8}/.exec(messages.at(-1)!.content)![0];
    let [first, second] = ['', ''];
    const tasks = book.write(
      'Two tasks',
      { toolCalls: [use('create_task', { title: 'One', description: 'Task one', assignee: 'helper' })] },
      (request) => {
        first = taskId(request);
        const after = { title: 'Two', description: 'Task two', assignee: 'helper', depends_on: [first] };
        return { toolCalls: [use('create_task', after)] };
      },
      (request) => {
        second = taskId(request);
        return { toolCalls: [use('execute_task', { task_id: first, member_id: 'helper' })] };
      },
      () => ({ toolCalls: [use('execute_task', { task_id: second, member_id: 'helper' })] }),
      { toolCalls: [use('mark_all_complete', { summary: 'Both done' })] },
      'Both done.',
    );
    const both = await (await life('list').stream({ message: tasks })).end();
    const { body } = await life('list').get(both.events[0]!.run_id);
    expect(body).toMatchObject({ status: 'completed', member_responses: [{}, {}] });
    expect(both.all('TeamTaskIterationStarted')).toHaveLength(1);
  });

  test('that fails says so with 200, and can be tried again (fault 24)', async () => {
    const message = book.write('Broken', { error: 'The leader is gone' }, 'Back again.');
    const { status, body } = await life().post({ message });
    expect([status, body.status]).toEqual([200, 'error']);
    expect(body.content).toContain('The leader is gone');
    expect((await life().stored(body.run_id)).events.at(-1).event).toBe('TeamRunError');
    const again = await life().continue(body.run_id);
    expect(again.body).toMatchObject({ run_id: body.run_id, status: 'completed', content: 'Back again.' });
  });

  test('whose answer was refused shows nothing of it (fault 24)', async () => {
    const message = book.write('Tell', 'the secret word');
    const { text: answer, body } = await life('guarded').post({ message });
    expect(body).toMatchObject({ status: 'error', error_type: 'output_check_error' });
    expect(answer).not.toContain('secret word');
    expect((await life('guarded').get(body.run_id)).text).not.toContain('secret word');
  });

  test('shows nothing of its members before it rests', async () => {
    const open = gate();
    const message = book.write(
      'Busy',
      { toolCalls: [ask('helper', 'Busy task')] },
      { text: 'x', waitFor: open.opened },
    );
    const { body } = await life().post({ message, background: true });
    const stream = await life().resume(body.run_id);
    await stream.event('TeamToolCallCompleted');
    expect(await life().stored(body.run_id)).toMatchObject({
      status: 'running',
      content: '',
      member_responses: [],
    });
    open.open();
    expect((await life().rested(body.run_id)).member_responses).toHaveLength(1);
  });

  test('ties events of members to the calls of the members (fault 25)', async () => {
    const message = book.write('Custom', { toolCalls: [ask('teller', 'Tell it', 'outer')] }, 'ok');
    book.write('Tell it', { toolCalls: [{ name: 'tell', arguments: {}, id: 'inner' }] }, 'told');
    const stream = await (await life().stream({ message })).end();
    const [started] = stream.all('RunStarted');
    expect(stream.first('CustomEvent')).toMatchObject({
      news: 'yes',
      tool_call_id: 'inner',
      agent_id: 'teller',
      run_id: started!.run_id,
      parent_run_id: stream.events[0]!.run_id,
    });
    expect(stream.all('RunIntermediateContent').every(({ run_id }) => run_id === started!.run_id)).toBe(true);
    expect(stream.all('RunIntermediateContent').length).toBeGreaterThan(0);
  });

  test('says the text of a team inside once (fault 25)', async () => {
    const message = book.write('Nested text', { toolCalls: [ask('cashiers', 'Say nested')] }, 'ok');
    book.write('Say nested', { chunks: ['once ', 'only'] });
    const stream = await (await life().stream({ message })).end();
    const [completed] = stream.all('TeamToolCallCompleted');
    expect(completed!.tool.result).toBe('once only');
  });
});

function writePause(cents: number): string {
  book.write(`Pay ${cents}`, { toolCalls: [payCall(cents)] });
  return book.write(`Quietly ${cents}`, { toolCalls: [ask('payer', `Pay ${cents}`)] });
}

function text(events: readonly Body[], name: string): string {
  return events.flatMap(({ event, content }) => (event === name ? [content] : [])).join('');
}
