import { describe, expect, test } from 'vitest';
import { ApprovalStore } from '../../../src/capabilities/approvals/store.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { agent, type Team, team } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { freshSqlite } from '../../support/databases.js';
import { pausedOutput } from '../../support/outputs.js';
import { begin, engineOver } from '../harness.js';
import { payTool } from '../paused-runs.js';
import { ask, call, namesOf, ran, runOf } from './team-runs.js';

/** A member that makes payments, which a person has to confirm. */
function payer(id: string, options: Parameters<typeof payTool>[0] = { requiresConfirmation: true }) {
  const { pay, paid } = payTool(options);
  const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 }, `pay ${id}`)] }, `${id} paid.`]);
  return { member: agent({ id, name: id.toUpperCase(), model, tools: [pay] }), paid, model };
}

const broadcast = { toolCalls: [call('delegate_task_to_members', { task: 'Pay' })] };

describe('a member that waits for a person', () => {
  test('pauses the team, and resumes when it is answered', async () => {
    const { member, paid } = payer('a');
    const model = scriptedModel([{ toolCalls: [ask('a', 'Pay')] }, 'All paid.']);
    const run = await ran(team({ id: 'desk', model, members: [member] }));
    const { run: paused, open, responses } = await run.look();
    expect(paused).toMatchObject({
      status: 'paused',
      result: { content: "I need your confirmation before I continue with 'pay'." },
    });
    expect(open).toMatchObject([
      {
        waitKey: 'member:0:0/wait:tool:0:0',
        requirement: { callId: 'pay a' },
        member: { componentId: 'a', name: 'A', runId: responses[0]!.run_id },
      },
    ]);
    expect(responses).toMatchObject([{ agent_id: 'a', status: 'paused', content: paused.result!.content }]);
    const events = await run.events();
    expect(namesOf(events).slice(-4)).toEqual([
      'ModelRequestCompleted',
      'RunContentCompleted',
      'RunPaused',
      'TeamRunPaused',
    ]);
    expect(events.at(-1)).toMatchObject({
      content: "I need your confirmation before I continue with 'pay'.",
      requirements: [
        {
          id: open[0]!.requirement.id,
          member_agent_id: 'a',
          member_agent_name: 'A',
          member_run_id: responses[0]!.run_id,
          tool_execution: { tool_call_id: 'pay a', requires_confirmation: true },
        },
      ],
    });
    const { run: ended, after, open: left } = await run.reply({ 'pay a': { confirmed: true } });
    expect(ended).toMatchObject({ status: 'completed', result: { content: 'All paid.' } });
    expect(left).toEqual([]);
    expect(paid).toEqual([{ cents: 5, to: 'me' }]);
    expect(model.requests[1]!.messages.at(-1)!.content).toBe('a paid.');
    expect(namesOf(after)).toEqual([
      'RunContinued',
      'ToolCallStarted',
      'ToolCallCompleted',
      'ModelRequestStarted',
      'RunContent',
      'ModelRequestCompleted',
      'RunContentCompleted',
      'RunCompleted',
      'TeamRunContinued',
      'TeamToolCallCompleted',
      'TeamModelRequestStarted',
      'TeamRunContent',
      'TeamModelRequestCompleted',
      'TeamRunContentCompleted',
      'TeamRunCompleted',
    ]);
    const [started] = events.filter(({ event }) => event === 'RunStarted');
    expect(after[0]).toMatchObject({ run_id: started!.run_id, parent_run_id: run.runId });
  });

  test('lets the others of a broadcast finish, and those without an answer wait in silence', async () => {
    const a = payer('a');
    const b = payer('b');
    const plain = scriptedModel(['Nothing to pay.']);
    const model = scriptedModel([broadcast, 'All done.']);
    const component = team({
      id: 'desk',
      mode: 'broadcast',
      model,
      members: [a.member, agent({ id: 'plain', model: plain }), b.member],
    });
    const run = await ran(component);
    const { open, responses } = await run.look();
    expect(open.map(({ requirement }) => requirement.callId)).toEqual(['pay a', 'pay b']);
    expect(responses.map(({ status }) => status)).toEqual(['paused', 'completed', 'paused']);
    const first = await run.reply({ 'pay b': { confirmed: true } });
    expect(first.run.status).toBe('paused');
    expect(first.open.map(({ requirement }) => requirement.callId)).toEqual(['pay a']);
    expect(new Set(first.after.flatMap(({ agent_id }) => agent_id ?? []))).toEqual(new Set(['b']));
    expect(namesOf(first.after).slice(-2)).toEqual(['TeamRunContinued', 'TeamRunPaused']);
    expect(first.after.at(-1)).toMatchObject({ requirements: [{ member_agent_id: 'a' }] });
    const second = await run.reply({ 'pay a': { confirmed: false, note: 'too dear' } });
    expect(second.run).toMatchObject({ status: 'completed', result: { content: 'All done.' } });
    expect(model.requests[1]!.messages.at(-1)!.content).toBe(
      "Member 'a':\na paid.\n\nMember 'plain':\nNothing to pay.\n\nMember 'b':\nb paid.",
    );
    expect([a.paid.length, b.paid.length]).toEqual([0, 1]);
    expect([a.model.requests.length, plain.requests.length, b.model.requests.length]).toEqual([2, 1, 2]);
    const names = (await run.events()).map(({ event, agent_id }) => `${agent_id ?? 'team'} ${event}`);
    expect(names.filter((name) => name.endsWith('RunPaused'))).toEqual([
      'a RunPaused',
      'b RunPaused',
      'team TeamRunPaused',
      'team TeamRunPaused',
    ]);
    expect(names.filter((name) => name === 'team TeamToolCallStarted')).toHaveLength(1);
    expect(names.filter((name) => name === 'team TeamToolCallCompleted')).toHaveLength(1);
  });

  test('is reached through the teams around it', async () => {
    const a = payer('a');
    const b = payer('b');
    const inner = team({
      id: 'inner',
      mode: 'broadcast',
      model: scriptedModel([broadcast, 'Inner done.']),
      members: [a.member, b.member],
    });
    const outer = scriptedModel([{ toolCalls: [ask('inner', 'Pay')] }, 'Outer done.']);
    const run = await ran(team({ id: 'outer', model: outer, members: [inner] }));
    const { open } = await run.look();
    expect(open.map(({ waitKey }) => waitKey)).toEqual([
      'member:0:0/member:0:0:0/wait:tool:0:0',
      'member:0:0/member:0:0:1/wait:tool:0:0',
    ]);
    expect(open.map(({ member }) => member!.componentId)).toEqual(['a', 'b']);
    const first = await run.reply({ 'pay a': { confirmed: true } });
    expect(first.run.status).toBe('paused');
    expect(namesOf(first.after).slice(-4)).toEqual([
      'TeamRunContinued',
      'TeamRunPaused',
      'TeamRunContinued',
      'TeamRunPaused',
    ]);
    expect(first.after.some(({ agent_id }) => agent_id === 'b')).toBe(false);
    const second = await run.reply({ 'pay b': { confirmed: true } });
    expect(second.run).toMatchObject({ status: 'completed', result: { content: 'Outer done.' } });
    expect(outer.requests[1]!.messages.at(-1)!.content).toBe('Inner done.');
    expect([a.paid.length, b.paid.length]).toEqual([1, 1]);
    expect(second.responses).toMatchObject([
      { team_id: 'inner', requirements: [], member_responses: [{ agent_id: 'a' }, { agent_id: 'b' }] },
    ]);
  });

  test('waits in silence in a team whose other member continues', async () => {
    const a = payer('a');
    const b = payer('b');
    const innerOf = (id: string, { member }: ReturnType<typeof payer>) =>
      team({
        id,
        model: scriptedModel([{ toolCalls: [ask(member.id, 'Pay')] }, `${id} done.`]),
        members: [member],
      });
    const model = scriptedModel([{ toolCalls: [ask('x', 'Pay', 'one'), ask('y', 'Pay', 'two')] }, 'Done.']);
    const run = await ran(team({ id: 'outer', model, members: [innerOf('x', a), innerOf('y', b)] }));
    const { after } = await run.reply({ 'pay a': { confirmed: true } });
    expect(after.some(({ agent_id, team_id }) => agent_id === 'b' || team_id === 'y')).toBe(false);
    const { run: ended } = await run.reply({ 'pay b': { confirmed: true } });
    expect(ended.status).toBe('completed');
    expect(model.requests[1]!.messages.slice(-2).map(({ content }) => content)).toEqual([
      'x done.',
      'y done.',
    ]);
  });

  test('has the leader write the answer in a team that routes', async () => {
    const { member } = payer('a');
    const model = scriptedModel([{ toolCalls: [ask('a', 'Pay')] }, 'The payment is made.']);
    const run = await ran(team({ id: 'desk', mode: 'route', model, members: [member] }));
    const { run: ended } = await run.reply({ 'pay a': { confirmed: true } });
    expect(ended).toMatchObject({ status: 'completed', result: { content: 'The payment is made.' } });
  });

  test('pauses the team whatever the hooks around its call make of that', async () => {
    const { member } = payer('a');
    const component = team({
      id: 'desk',
      model: scriptedModel([{ toolCalls: [ask('a', 'Pay')] }, 'Done.']),
      members: [member],
      toolHooks: [
        async (_call, next) => {
          try {
            return await next();
          } catch {
            return 'swallowed';
          }
        },
      ],
    });
    expect((await (await ran(component)).look()).run.status).toBe('paused');
  });
});

test('a call of the leader and one of a member wait together', async () => {
  const { member, paid } = payer('a');
  const own = payTool({ requiresConfirmation: true, name: 'book' });
  const model = scriptedModel([
    { toolCalls: [ask('a', 'Pay'), call('book', { cents: 7 }, 'book')] },
    'Both done.',
  ]);
  const run = await ran(team({ id: 'desk', model, members: [member], tools: [own.pay] }));
  const { open } = await run.look();
  expect(open.map(({ requirement, member: whose }) => [requirement.callId, whose?.componentId])).toEqual([
    ['book', undefined],
    ['pay a', 'a'],
  ]);
  const { run: ended, after } = await run.reply({ 'pay a': { confirmed: true }, book: { confirmed: true } });
  expect(ended).toMatchObject({ status: 'completed', result: { content: 'Both done.' } });
  expect([paid.length, own.paid.length]).toEqual([1, 1]);
  expect(after.filter(({ event }) => event === 'TeamRunContinued')).toHaveLength(1);
});

test('an approval that a member needs names the run of the team', async () => {
  const { member } = payer('a', { approval: 'required' });
  const model = scriptedModel([{ toolCalls: [ask('a', 'Pay')] }, 'Done.']);
  const component = team({ id: 'desk', name: 'Desk', model, members: [member] });
  const database = await (await freshSqlite()).open();
  const store = new RunStore(database);
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component, { userId: 'ada' });
  const { run } = await handle.ended;
  const { open } = await runOf(store, engine, run.runId).look();
  const approvals = await new ApprovalStore(database).ofRun({ kind: 'all' }, run.runId);
  expect(approvals).toMatchObject([
    {
      approvalId: open[0]!.requirement.approval!.id,
      sourceType: 'team',
      componentId: 'desk',
      sourceName: 'Desk',
      userId: 'ada',
      sessionId: run.sessionId,
      status: 'pending',
      requirement: { member_agent_id: 'a', member_run_id: open[0]!.member!.runId },
    },
  ]);
});

test('a paused team is cancelled with the member that waits', async () => {
  const { member } = payer('a');
  const run = await ran(
    team({ id: 'desk', model: scriptedModel([{ toolCalls: [ask('a', 'Pay')] }]), members: [member] }),
  );
  await run.engine.cancel(run.runId, {
    runId: run.runId,
    kind: 'team',
    componentId: 'desk',
    sessionId: null,
    userId: null,
    reason: 'Enough',
    requestedAt: Date.now(),
  });
  const { run: ended, responses } = await run.look();
  expect(ended.status).toBe('cancelled');
  expect(responses).toMatchObject([{ agent_id: 'a', status: 'cancelled' }]);
  expect(namesOf(await run.events()).slice(-4)).toEqual([
    'RunCancelled',
    'RunCompleted',
    'TeamRunCancelled',
    'TeamRunCompleted',
  ]);
});

describe('in code', () => {
  const component = (): Team =>
    team({
      id: 'desk',
      model: scriptedModel([{ toolCalls: [ask('a', 'Pay')] }, 'All paid.', 'Once more.']),
      members: [payer('a').member],
    });

  test('a team is continued with the answers that its members wait for', async () => {
    const desk = component();
    const first = pausedOutput(await desk.run('Pay'));
    expect(first.requirements).toMatchObject([{ callId: 'pay a', toolName: 'pay' }]);
    expect(first.memberResponses).toMatchObject([{ status: 'paused' }]);
    const done = await desk.continue(first.runId, {
      answers: { [first.requirements[0]!.id]: { confirmed: true } },
    });
    expect(done).toMatchObject({ status: 'completed', content: 'All paid.' });
    expect(done.memberResponses).toMatchObject([{ status: 'completed', content: 'a paid.' }]);
    const again = await desk.continue(done.runId, { regenerate: true });
    expect(again).toMatchObject({ status: 'completed', content: 'Once more.' });
    expect(again.runId).not.toBe(done.runId);
    expect(again.memberResponses).toMatchObject([{ content: 'a paid.' }]);
  });

  test('what members did for calls that are dropped is dropped too', async () => {
    const desk = team({
      id: 'desk',
      model: scriptedModel([{ toolCalls: [ask('a', '1')] }, 'First.', 'Second.']),
      members: [agent({ id: 'a', model: scriptedModel(['one']) })],
    });
    const first = await desk.run('Go');
    const second = await desk.continue(first.runId, { from: 'last_user' });
    expect(second).toMatchObject({ content: 'Second.' });
    expect(second.memberResponses).toBeUndefined();
    expect(second.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
  });
});
