import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/core/json.js';
import { agent, GuardrailRefusal, type ModelRequest, team, tool } from '../../src/index.js';
import { payCall, payingAgent, RunLife } from '../support/run-life.js';
import { ScriptBook } from '../support/script-book.js';
import { type Body, TestService } from '../support/service.js';
import { gate } from '../support/until.js';

const book = new ScriptBook();
const others = new ScriptBook();
const { agent: payer, paid } = payingAgent(book, 'payer');
const helper = agent({ id: 'helper', name: 'Helper', model: book.model });
const onlooker = agent({ id: 'onlooker', model: others.model });
const released: number[] = [];
const release = tool({
  name: 'release',
  description: 'Needs an approval',
  approval: 'required',
  parameters: z.object({ version: z.number() }),
  execute: ({ version }) => {
    released.push(version);
    return `released ${version}`;
  },
});
const officer = agent({ id: 'officer', model: book.model, tools: [release] });
const cashiers = team({ id: 'cashiers', model: book.model, members: [payer] });

const teams = [
  team({ id: 'desk', name: 'Desk', model: book.model, members: [payer, helper, cashiers, officer] }),
  team({ id: 'crowd', model: book.model, mode: 'broadcast', members: [payer, onlooker] }),
  team({ id: 'list', model: book.model, mode: 'tasks', members: [helper] }),
  team({
    id: 'guarded',
    model: book.model,
    members: [helper],
    postHooks: [
      {
        name: 'no-secrets',
        required: true,
        run: ({ content }) => {
          if (String(content).includes('secret')) throw new GuardrailRefusal('That is a secret');
        },
      },
    ],
  }),
];

let service: TestService;
const life = (id = 'desk') => new RunLife(service, id, 'teams');
const ask = (member: string, task: string, id = `ask-${member}`) => ({
  name: 'delegate_task_to_member',
  arguments: { member_id: member, task },
  id,
});
const use = (name: string, args: JsonObject) => ({ name, arguments: args });
const never = () => new Promise<never>(() => {});

/** A run that waits for the payment of its member. */
async function pausedRun(cents: number, form: Record<string, string | boolean> = {}): Promise<Body> {
  const message = book.write(`Have ${cents} paid`, { toolCalls: [ask('payer', `Pay ${cents}`)] }, 'It is paid.');
  book.write(`Pay ${cents}`, { toolCalls: [payCall(cents)] }, `Paid ${cents}.`);
  return life().start({ message, ...form });
}

const confirmed = (run: Body, confirmation = true) =>
  run.requirements.map((requirement: Body) => ({ ...requirement, confirmation }));

beforeAll(async () => {
  service = await TestService.start({ agents: [helper], teams, maxConcurrentRuns: 50 });
});
afterAll(() => service.stop());

describe('a team whose member waits', () => {
  test('pauses with what its member asks, in its body, its stored copy and the list', async () => {
    const run = await pausedRun(101, { session_id: 'waits' });
    expect(run).toMatchObject({
      status: 'paused',
      member_responses: [{ agent_id: 'payer', status: 'paused', parent_run_id: run.run_id }],
    });
    const [member] = run.member_responses;
    expect(run.requirements).toMatchObject([
      {
        member_agent_id: 'payer',
        member_agent_name: 'Payer',
        member_run_id: member.run_id,
        tool_execution: { tool_name: 'pay', tool_args: { cents: 101 }, requires_confirmation: true },
      },
    ]);
    const stored = await life().stored(run.run_id);
    expect(stored.requirements).toEqual(run.requirements);
    expect(stored.events.at(-1)).toMatchObject({ event: 'TeamRunPaused', requirements: run.requirements });
    const [listed] = await life().list('waits');
    expect(listed).toMatchObject({ status: 'paused', requirements: run.requirements });
  });

  test.each([false, true])('goes on with the answer (streamed: %s)', async (stream) => {
    const cents = stream ? 103 : 102;
    const run = await pausedRun(cents);
    const form = { requirements: confirmed(run) };
    if (stream) {
      const events = await (await life().continueStreamed(run.run_id, form)).end();
      expect(events.names[0]).toBe('RunContinued');
      expect(events.first('RunContinued').agent_id).toBe('payer');
      expect(events.names.indexOf('TeamRunContinued')).toBeGreaterThan(events.names.indexOf('RunCompleted'));
      expect(events.names.at(-1)).toBe('TeamRunCompleted');
    } else expect((await life().continue(run.run_id, form)).status).toBe(200);
    const ended = await life().stored(run.run_id);
    expect(ended).toMatchObject({
      run_id: run.run_id,
      status: 'completed',
      content: 'It is paid.',
      requirements: [],
      member_responses: [{ run_id: run.member_responses[0].run_id, status: 'completed', content: `Paid ${cents}.` }],
    });
    expect(ended.member_responses).toHaveLength(1);
    expect(paid.filter((payment) => payment.cents === cents)).toHaveLength(1);
  });

  test('takes the answer in tools too, and in the background', async () => {
    const run = await pausedRun(104);
    const tools = run.requirements.map(({ tool_execution }: Body) => ({ ...tool_execution, confirmed: true }));
    const { status, body } = await life().continue(run.run_id, { tools, background: true });
    expect([status, body.run_id]).toEqual([202, run.run_id]);
    expect(await life().rested(run.run_id)).toMatchObject({ status: 'completed', content: 'It is paid.' });
  });

  test('hears of a rejection, and executes nothing', async () => {
    const run = await pausedRun(105);
    const { body } = await life().continue(run.run_id, { requirements: confirmed(run, false) });
    expect(body.status).toBe('completed');
    expect(paid.some(({ cents }) => cents === 105)).toBe(false);
  });

  test('finds the member at any depth', async () => {
    const message = book.write('Deep', { toolCalls: [ask('cashiers', 'Inside 106')] }, 'All paid.');
    book.write('Inside 106', { toolCalls: [ask('payer', 'Deep 106')] }, 'Paid inside.');
    book.write('Deep 106', { toolCalls: [payCall(106)] }, 'Paid.');
    const run = await life().start({ message });
    expect(run.requirements).toMatchObject([{ member_agent_id: 'payer' }]);
    expect(run.member_responses).toMatchObject([
      { team_id: 'cashiers', status: 'paused', member_responses: [{ agent_id: 'payer', status: 'paused' }] },
    ]);
    const { body } = await life().continue(run.run_id, { requirements: confirmed(run) });
    expect(body).toMatchObject({ status: 'completed', content: 'All paid.' });
    expect(body.member_responses[0].member_responses[0]).toMatchObject({ content: 'Paid.' });
    expect(paid.filter(({ cents }) => cents === 106)).toHaveLength(1);
  });

  test('lets the others of a broadcast finish first', async () => {
    const open = gate();
    const all = { name: 'delegate_task_to_members', arguments: { task: 'Pay 107 all' }, id: 'all' };
    const message = book.write('Broadcast 107', { toolCalls: [all] }, 'Everybody is done.');
    book.write('Pay 107 all', { toolCalls: [payCall(107)] }, 'Paid.');
    others.write('Pay 107 all', { text: 'I looked on.', waitFor: open.opened });
    const stream = await life('crowd').stream({ message });
    await stream.event('RunPaused');
    open.open();
    await stream.end();
    expect(stream.names.indexOf('RunCompleted')).toBeGreaterThan(stream.names.indexOf('RunPaused'));
    expect(stream.names.at(-1)).toBe('TeamRunPaused');
    const run = await life('crowd').stored(stream.events[0]!.run_id);
    expect(run.member_responses).toMatchObject([{ status: 'paused' }, { content: 'I looked on.' }]);
    const { body } = await life('crowd').continue(run.run_id, { requirements: confirmed(run) });
    expect(body).toMatchObject({
      status: 'completed',
      content: 'Everybody is done.',
      member_responses: [{ content: 'Paid.' }, { content: 'I looked on.' }],
    });
    expect(others.requests('Pay 107 all')).toHaveLength(1);
  });

  test('answers an insufficient continue with 400 and stays paused (fault 37)', async () => {
    const run = await pausedRun(108);
    for (const form of [{}, { requirements: run.requirements }, { requirements: '[]', stream: true }]) {
      const { status, body } = await life().continue(run.run_id, form);
      expect([status, body.error_code]).toEqual([400, 'unresolved_requirements']);
    }
    for (const [requirements, text] of [
      ['{', 'Invalid JSON in requirements field'],
      ['{}', 'Invalid structure or content for requirements: it has to be an array'],
    ]) {
      const { status, body } = await life().continue(run.run_id, { requirements });
      expect([status, body.detail]).toEqual([400, text]);
    }
    expect((await life().stored(run.run_id)).status).toBe('paused');
    const unknown = await life().continue('nobody', { requirements: '[]' });
    expect([unknown.status, unknown.body.detail]).toEqual([404, 'Run not found']);
  });

  test('executes what was asked and not what a client makes of it, once', async () => {
    const run = await pausedRun(109);
    const [requirement] = confirmed(run);
    const changed = { ...requirement, tool_execution: { ...requirement.tool_execution, tool_args: { cents: 1 } } };
    await life().continue(run.run_id, { requirements: [changed] });
    const { status } = await life().continue(run.run_id, { requirements: [changed] });
    expect(status).toBe(409);
    expect(paid.filter(({ cents }) => cents === 109 || cents === 1)).toEqual([
      { cents: 109, runId: run.member_responses[0].run_id },
    ]);
  });

  test('is cancelled at once, with its member', async () => {
    const run = await pausedRun(110);
    await life().cancel(run.run_id);
    const stored = await life().stored(run.run_id);
    expect(stored).toMatchObject({ status: 'cancelled', member_responses: [{ status: 'cancelled' }] });
    expect(stored.events.slice(-2).map(({ event }: Body) => event)).toEqual(['TeamRunCancelled', 'TeamRunCompleted']);
    expect(stored.events.map(({ event }: Body) => event)).toContain('RunCancelled');
    expect((await life().continue(run.run_id, { requirements: confirmed(run) })).status).toBe(409);
    expect(paid.some(({ cents }) => cents === 110)).toBe(false);
  });

  test('goes on when its approval was given', async () => {
    const message = book.write('Ship 7', { toolCalls: [ask('officer', 'Release 7')] }, 'Shipped.');
    book.write('Release 7', { toolCalls: [{ name: 'release', arguments: { version: 7 }, id: 'r7' }] }, 'Released.');
    const run = await life().start({ message, user_id: 'ada' });
    const { body: page } = await service.get(`/approvals?run_id=${run.run_id}`);
    expect(page.data).toMatchObject([
      { source_type: 'team', team_id: 'desk', agent_id: null, user_id: 'ada', tool_name: 'release' },
    ]);
    expect((await life().continue(run.run_id, { requirements: confirmed(run) })).status).toBe(400);
    await service.call('POST', `/approvals/${page.data[0].id}/resolve`, {
      headers: { 'content-type': 'application/json' },
      body: '{"status":"approved"}',
    });
    const { body } = await life().continue(run.run_id);
    expect(body).toMatchObject({ status: 'completed', content: 'Shipped.' });
    expect(released).toEqual([7]);
  });
});

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
    const message = book.write('Resume', { toolCalls: [ask('helper', 'Speak')] }, { chunks: ['All ', 'said'] });
    book.write('Speak', { chunks: ['One ', 'two'] });
    const stream = await (await life().stream({ message })).end();
    const runId = stream.events[0]!.run_id;
    const resumed = await (await life().resume(runId)).end();
    expect(resumed.first('replay')).toMatchObject({ status: 'completed', total_events: stream.events.length });
    expect(resumed.events.slice(1)).toEqual(stream.events);
    expect(text(resumed.events, 'TeamRunContent')).toBe('All said');
    expect(text(resumed.events, 'RunContent')).toBe('One two');
    const rest = await (await life().resume(runId, { last_event_index: 4 })).end();
    expect(rest.events.slice(1)).toEqual(stream.events.slice(5));
    const { events } = await life().stored(runId);
    expect(events.map(({ event }: Body) => event)).not.toContain('TeamRunContent');
    expect(events.map(({ event }: Body) => event)).not.toContain('RunContent');
  });

  test('is followed while it goes on', async () => {
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

  test('tells only content of its leader with stream_events=false, and all of its members', async () => {
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
    expect(stored.member_responses).toMatchObject([{ content: 'Answer to: Copy me', parent_run_id: copy.run_id }]);
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
