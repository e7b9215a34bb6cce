import { describe, expect, test } from 'vitest';
import { agent, team } from '../../../src/index.js';
import { type ScriptedTurn, scriptedModel } from '../../../src/testing.js';
import { payTool } from '../paused-runs.js';
import { call, namesOf, ran, type TeamEvent } from './team-runs.js';

const says = (id: string, ...turns: ScriptedTurn[]) => agent({ id, model: scriptedModel(turns) });

const create = (title: string, more: object = {}, id = `create ${title}`) =>
  call('create_task', { title, description: `Do ${title}`, ...more }, id);

const done = call('mark_all_complete', { summary: 'All done.' });

/** The tasks by their titles: read from the answers of create_task. */
function idsIn(messages: readonly { content: string }[]): Record<string, string> {
  const found = messages.flatMap(({ content }) => [
    ...content.matchAll(/Task ([0-9a-f]{8}) '([^']+)' is on/g),
  ]);
  return Object.fromEntries(found.map(([, id, title]) => [title!, id!]));
}

const taskEvents = (events: readonly TeamEvent[]) =>
  events.filter(({ event }) => event.startsWith('TeamTask'));

const updates = (events: readonly TeamEvent[]) =>
  events
    .filter(({ event }) => event === 'TeamTaskUpdated')
    .map(({ title, previous_status, status }) => `${title}: ${previous_status} → ${status}`);

describe.each([true, false])('a team with tasks (streamed: %s)', (stream) => {
  test('has members do them and ends when the leader says so', async () => {
    const writer = scriptedModel(['A text.']);
    const model = scriptedModel([
      {
        toolCalls: [
          create('find', { assignee: 'finder' }),
          create('write', { depends_on: ['find'], assignee: 'writer' }),
        ],
      },
      ({ messages }) => ({
        toolCalls: [call('execute_task', { task_id: idsIn(messages).find!, member_id: 'finder' })],
      }),
      // what it waited for is done: it can be executed in the same iteration
      ({ messages }) => ({
        toolCalls: [call('execute_task', { task_id: idsIn(messages).write!, member_id: 'writer' })],
      }),
      { toolCalls: [done] },
      'Here it is.',
    ]);
    const component = team({
      id: 'desk',
      mode: 'tasks',
      model,
      members: [says('finder', 'Facts.'), agent({ id: 'writer', model: writer })],
    });
    const run = await ran(component, { stream });
    const { run: ended, responses } = await run.look();
    expect(ended).toMatchObject({ status: 'completed', result: { content: 'Here it is.' } });
    expect(responses.map(({ content }) => content)).toEqual(['Facts.', 'A text.']);
    expect(writer.requests[0]!.messages.at(-1)!.content).toBe(
      "write\n\nDo write\n\nWhat came of 'find':\nFacts.",
    );
    const events = await run.events();
    expect(taskEvents(events).map(({ event }) => event.slice('TeamTask'.length))).toEqual([
      'IterationStarted',
      'Created',
      'Created',
      'Updated',
      'Updated',
      'Updated',
      'Updated',
      'Updated',
      'StateUpdated',
      'IterationCompleted',
    ]);
    expect(updates(events)).toEqual([
      'find: pending → in_progress',
      'find: in_progress → completed',
      'write: blocked → pending',
      'write: pending → in_progress',
      'write: in_progress → completed',
    ]);
    const [started, found, written] = taskEvents(events);
    expect(started).toMatchObject({ iteration: 1, max_iterations: 10, team_id: 'desk' });
    expect(found).toMatchObject({
      task_id: expect.stringMatching(/^[0-9a-f]{8}$/),
      title: 'find',
      description: 'Do find',
      assignee: 'finder',
      status: 'pending',
      dependencies: [],
    });
    expect(written).toMatchObject({ status: 'blocked', dependencies: [found!.task_id] });
    expect(taskEvents(events).at(-2)).toMatchObject({
      goal_complete: true,
      completion_summary: 'All done.',
      tasks: [
        { id: found!.task_id, title: 'find', status: 'completed', result: 'Facts.', assignee: 'finder' },
        { title: 'write', status: 'completed' },
      ],
      task_summary: expect.stringContaining('2 of 2 tasks completed.'),
    });
    expect(namesOf(events).indexOf('TeamTaskIterationStarted')).toBe(1);
    const inside = namesOf(events);
    expect(inside.indexOf('TeamTaskCreated')).toBeGreaterThan(inside.indexOf('TeamToolCallStarted'));
    expect(inside.indexOf('TeamTaskCreated')).toBeLessThan(inside.indexOf('TeamToolCallCompleted'));
  });

  test('has several done side by side and is called to its list until they are', async () => {
    const model = scriptedModel([
      { toolCalls: [create('one', { assignee: 'a' }), create('two', { assignee: 'b' })] },
      'I have planned.',
      ({ messages }) => ({
        toolCalls: [call('execute_tasks_parallel', { task_ids: Object.values(idsIn(messages)) })],
      }),
      'Both are done.',
    ]);
    const component = team({ id: 'desk', mode: 'tasks', model, members: [says('a', 'A'), says('b', 'B')] });
    const run = await ran(component, { stream });
    const { run: ended } = await run.look();
    expect(ended).toMatchObject({ status: 'completed', result: { content: 'Both are done.' } });
    const reminder = model.requests[2]!.messages.at(-1)!;
    expect(reminder).toMatchObject({
      role: 'user',
      content: expect.stringContaining('0 of 2 tasks completed.'),
    });
    const result = model.requests[3]!.messages.at(-1)!.content;
    expect(result).toMatch(/Task \w{8} 'one' is completed:\nA\n\nTask \w{8} 'two' is completed:\nB/);
    const iterations = taskEvents(await run.events()).filter(({ iteration }) => iteration !== undefined);
    expect(iterations.map(({ event, iteration }) => [event, iteration])).toEqual([
      ['TeamTaskIterationStarted', 1],
      ['TeamTaskIterationCompleted', 1],
      ['TeamTaskIterationStarted', 2],
      ['TeamTaskIterationCompleted', 2],
    ]);
  });
});

test('an answer without tasks is an answer', async () => {
  const model = scriptedModel(['Four.']);
  const run = await ran(team({ id: 'desk', mode: 'tasks', model, members: [says('a')] }));
  expect((await run.look()).run.result).toMatchObject({ content: 'Four.' });
  expect(model.requests).toHaveLength(1);
  expect(taskEvents(await run.events()).map(({ event }) => event)).toEqual([
    'TeamTaskIterationStarted',
    'TeamTaskStateUpdated',
    'TeamTaskIterationCompleted',
  ]);
});

test('a leader that does nothing more is not called again and again', async () => {
  const model = scriptedModel([{ toolCalls: [create('one')] }, 'Later.', 'Still later.']);
  const run = await ran(team({ id: 'desk', mode: 'tasks', model, members: [says('a')] }));
  expect((await run.look()).run.result).toMatchObject({ content: 'Still later.' });
});

test('the leader is called to its list as often as the team allows', async () => {
  const model = scriptedModel((_request, turn) =>
    turn % 2 === 0
      ? { toolCalls: [call('list_tasks', {}), create(`task ${turn}`)] }
      : `Iteration ${(turn + 1) / 2}`,
  );
  const run = await ran(team({ id: 'desk', mode: 'tasks', maxIterations: 3, model, members: [says('a')] }));
  expect((await run.look()).run.result).toMatchObject({ content: 'Iteration 3' });
});

test('a task that fails leaves what depends on it blocked, and can be done again', async () => {
  const model = scriptedModel([
    {
      toolCalls: [
        create('find', { assignee: 'a' }),
        create('write', { assignee: 'a', depends_on: ['find'] }),
      ],
    },
    { toolCalls: [call('execute_tasks_parallel', { task_ids: ['find', 'write'] })] },
    'It failed.',
    { toolCalls: [call('execute_task', { task_id: 'find' }, 'again')] },
    { toolCalls: [call('execute_task', { task_id: 'write' }, 'write')] },
    'Done after all.',
  ]);
  const component = team({
    id: 'desk',
    mode: 'tasks',
    model,
    members: [says('a', { error: 'no luck' }, 'Facts.', 'Text.')],
  });
  const run = await ran(component);
  const { run: ended, responses } = await run.look();
  expect(ended.result).toMatchObject({ content: 'Done after all.' });
  expect(responses.map(({ status }) => status)).toEqual(['error', 'completed', 'completed']);
  const result = model.requests[2]!.messages.at(-1)!.content;
  expect(result).toMatch(
    /'find' failed:\nno luck\n\nTask \w{8} 'write' is blocked until these are completed/,
  );
  expect(updates(await run.events())).toEqual([
    'find: pending → in_progress',
    'find: in_progress → failed',
    'find: failed → in_progress',
    'find: in_progress → completed',
    'write: blocked → pending',
    'write: pending → in_progress',
    'write: in_progress → completed',
  ]);
});

test('the leader keeps its list itself too', async () => {
  const member = scriptedModel(['ok']);
  const model = scriptedModel([
    {
      toolCalls: [
        create('one'),
        create('ONE', {}, 'same'),
        create('two', { depends_on: ['one'], assignee: 'a' }),
      ],
    },
    {
      toolCalls: [
        call('update_task_status', { task_id: 'one', status: 'completed', result: 'Known.' }),
        call('add_task_note', { task_id: 'two', note: 'Be brief.' }),
        create('three', { assignee: 'nobody' }),
        create('four', { depends_on: ['nothing'] }),
        call('execute_task', { task_id: 'five' }),
      ],
    },
    { toolCalls: [call('list_tasks', {})] },
    { toolCalls: [call('execute_task', { task_id: 'two' })] },
    { toolCalls: [done] },
    '',
  ]);
  const run = await ran(
    team({ id: 'desk', mode: 'tasks', model, members: [agent({ id: 'a', model: member }), says('b')] }),
  );
  const results = model.requests[2]!.messages.slice(-5).map(({ content }) => content);
  expect(results).toEqual([
    expect.stringMatching(/'one' is now completed/),
    expect.stringMatching(/Noted with task \w{8} 'two'/),
    expect.stringContaining("There is no member 'nobody'"),
    expect.stringContaining("There is no task 'nothing'"),
    expect.stringContaining("There is no task 'five'. There are: "),
  ]);
  expect(model.requests[1]!.messages.at(-2)!.content).toContain("There is a task 'one' already");
  expect(model.requests[3]!.messages.at(-1)!.content).toMatch(
    /^1 of 2 tasks completed\.\n- \[\w{8}\] completed: one\n {2}result: Known\.\n- \[\w{8}\] pending: two \(assigned to a; after \w{8}\)\n {2}note: Be brief\.$/,
  );
  expect(member.requests[0]!.messages.at(-1)!.content).toContain(
    "Notes:\n- Be brief.\n\nWhat came of 'one':\nKnown.",
  );
  // the leader said nothing: what it marked the goal with is the answer
  expect((await run.look()).run.result).toMatchObject({ content: 'All done.' });
});

test('a task whose member waits for a person resumes when that is answered', async () => {
  const { pay, paid } = payTool({ requiresConfirmation: true });
  const payer = agent({
    id: 'payer',
    tools: [pay],
    model: scriptedModel([{ toolCalls: [call('pay', { cents: 5 }, 'pay')] }, 'Paid.']),
  });
  const model = scriptedModel([
    { toolCalls: [create('pay it', { assignee: 'payer' }), create('other', { assignee: 'a' })] },
    { toolCalls: [call('execute_tasks_parallel', { task_ids: ['pay it', 'other'] })] },
    'All is done.',
  ]);
  const run = await ran(team({ id: 'desk', mode: 'tasks', model, members: [payer, says('a', 'Fine.')] }));
  expect((await run.look()).run.status).toBe('paused');
  expect(updates(await run.events())).toEqual([
    'pay it: pending → in_progress',
    'other: pending → in_progress',
    'other: in_progress → completed',
  ]);
  const { run: ended, after } = await run.reply({ pay: { confirmed: true } });
  expect(ended).toMatchObject({ status: 'completed', result: { content: 'All is done.' } });
  expect(paid).toHaveLength(1);
  expect(updates(after)).toEqual(['pay it: in_progress → completed']);
  expect(taskEvents(after).map(({ event }) => event)).toEqual([
    'TeamTaskUpdated',
    'TeamTaskStateUpdated',
    'TeamTaskIterationCompleted',
  ]);
});

test('the bound on delegations holds for tasks', async () => {
  const model = scriptedModel([
    { toolCalls: [create('one', { assignee: 'a' }), create('two', { assignee: 'a' })] },
    { toolCalls: [call('execute_tasks_parallel', { task_ids: ['one', 'two'] })] },
    { toolCalls: [done] },
    'Too little.',
  ]);
  const run = await ran(team({ id: 'desk', mode: 'tasks', maxDelegations: 1, model, members: [says('a')] }));
  expect(model.requests[2]!.messages.at(-1)!.content).toContain('members can be asked 1 times');
  expect((await run.look()).responses).toEqual([]);
});
