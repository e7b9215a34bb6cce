import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, book, helper, others, paid, released, teams } from '../../support/components/paying-teams.js';
import { payCall, RunLife } from '../../support/components/run-life.js';
import { type Body, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

let service: TestService;
const life = (id = 'desk') => new RunLife(service, id, 'teams');

beforeAll(async () => {
  service = await TestService.start({ agents: [helper], teams, maxConcurrentRuns: 50 });
});
afterAll(() => service.stop());

/** A run that waits for the payment of its member. */
async function pausedRun(cents: number, form: Record<string, string | boolean> = {}): Promise<Body> {
  const message = book.write(
    `Have ${cents} paid`,
    { toolCalls: [ask('payer', `Pay ${cents}`)] },
    'It is paid.',
  );
  book.write(`Pay ${cents}`, { toolCalls: [payCall(cents)] }, `Paid ${cents}.`);
  return life().start({ message, ...form });
}

const confirmed = (run: Body, confirmation = true) =>
  run.requirements.map((requirement: Body) => ({ ...requirement, confirmation }));

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

  test.each([false, true])('resumes with the answer (streamed: %s)', async (stream) => {
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
      member_responses: [
        { run_id: run.member_responses[0].run_id, status: 'completed', content: `Paid ${cents}.` },
      ],
    });
    expect(ended.member_responses).toHaveLength(1);
    expect(paid.filter((payment) => payment.cents === cents)).toHaveLength(1);
  });

  test('takes the answer in tools too, and in the background', async () => {
    const run = await pausedRun(104);
    const tools = run.requirements.map(({ tool_execution }: Body) => ({
      ...tool_execution,
      confirmed: true,
    }));
    const { status, body } = await life().continue(run.run_id, { tools, background: true });
    expect([status, body.run_id]).toEqual([202, run.run_id]);
    expect(await life().rested(run.run_id)).toMatchObject({ status: 'completed', content: 'It is paid.' });
  });

  test('receives a rejection, and executes nothing', async () => {
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
      ['{}', 'Invalid structure or content for requirements: it must be an array'],
    ]) {
      const { status, body } = await life().continue(run.run_id, { requirements });
      expect([status, body.detail]).toEqual([400, text]);
    }
    expect((await life().stored(run.run_id)).status).toBe('paused');
    const unknown = await life().continue('nobody', { requirements: '[]' });
    expect([unknown.status, unknown.body.detail]).toEqual([404, 'Run not found']);
  });

  test('executes the requested calls as they were, not as a client changed them, once', async () => {
    const run = await pausedRun(109);
    const [requirement] = confirmed(run);
    const changed = {
      ...requirement,
      tool_execution: { ...requirement.tool_execution, tool_args: { cents: 1 } },
    };
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
    expect(stored.events.slice(-2).map(({ event }: Body) => event)).toEqual([
      'TeamRunCancelled',
      'TeamRunCompleted',
    ]);
    expect(stored.events.map(({ event }: Body) => event)).toContain('RunCancelled');
    expect((await life().continue(run.run_id, { requirements: confirmed(run) })).status).toBe(409);
    expect(paid.some(({ cents }) => cents === 110)).toBe(false);
  });

  test('distinguishes calls of two members with the same id', async () => {
    const both = [ask('payer', 'Pay 112', 'one'), ask('cashiers', 'Pay 113 inside', 'two')];
    const message = book.write('Pay twice', { toolCalls: both }, 'Both paid.');
    book.write('Pay 112', { toolCalls: [payCall(112, 'same')] }, 'Paid 112.');
    book.write('Pay 113 inside', { toolCalls: [ask('payer', 'Pay 113')] }, 'Paid inside.');
    book.write('Pay 113', { toolCalls: [payCall(113, 'same')] }, 'Paid 113.');
    const run = await life().start({ message });
    expect(run.requirements).toHaveLength(2);
    const [first, second] = run.requirements;
    const { body: half } = await life().continue(run.run_id, {
      requirements: [{ ...second, confirmation: true }],
    });
    expect([half.status, paid.some(({ cents }) => cents === 112)]).toEqual(['paused', false]);
    expect(paid.some(({ cents }) => cents === 113)).toBe(true);
    const { body } = await life().continue(run.run_id, {
      requirements: [{ ...first, confirmation: true }, second],
    });
    expect(body).toMatchObject({ status: 'completed', content: 'Both paid.' });
    expect(paid.filter(({ cents }) => cents === 112 || cents === 113)).toHaveLength(2);
  });

  test('can be copied instead, and asks again there', async () => {
    const run = await pausedRun(114);
    book.write('Have 114 paid', 'I leave it.');
    const { body } = await life().continue(run.run_id, { fork: true });
    expect(body).toMatchObject({
      forked_from_run_id: run.run_id,
      status: 'completed',
      content: 'I leave it.',
    });
    expect((await life().stored(run.run_id)).status).toBe('paused');
    expect(paid.some(({ cents }) => cents === 114)).toBe(false);
  });

  test('resumes when its approval was given', async () => {
    const message = book.write('Ship 7', { toolCalls: [ask('officer', 'Release 7')] }, 'Shipped.');
    book.write(
      'Release 7',
      { toolCalls: [{ name: 'release', arguments: { version: 7 }, id: 'r7' }] },
      'Released.',
    );
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
