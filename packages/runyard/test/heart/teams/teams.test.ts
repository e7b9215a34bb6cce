import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, team, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, freshStore, gate } from '../harness.js';
import { ask, call, namesOf, ran, textIn } from './team-runs.js';

const says = (id: string, ...turns: Parameters<typeof scriptedModel>[0][]) =>
  agent({ id, model: scriptedModel(turns.flat() as never), role: `the ${id}` });

describe.each([true, false])('a team that coordinates (streamed: %s)', (stream) => {
  test('asks a member and writes the answer', async () => {
    const model = scriptedModel([{ toolCalls: [ask('finder', 'Find miles')] }, 'It is 1959.']);
    const finder = scriptedModel(['Kind of Blue, 1959']);
    const component = team({
      id: 'desk',
      name: 'Desk',
      model,
      members: [agent({ id: 'finder', name: 'Finder', model: finder, role: 'finds records' })],
    });
    const run = await ran(component, { stream });
    const { run: ended, responses } = await run.look();
    expect(ended).toMatchObject({ status: 'completed', kind: 'team', result: { content: 'It is 1959.' } });
    expect(finder.requests[0]!.messages.at(-1)!.content).toBe('Find miles');
    expect(model.requests[0]!.messages[0]!.content).toContain('finder (Finder)');
    expect(model.requests[0]!.messages[0]!.content).toContain('role: finds records');
    expect(model.requests[1]!.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Kind of Blue, 1959' });
    expect(responses).toMatchObject([
      {
        agent_id: 'finder',
        agent_name: 'Finder',
        parent_run_id: run.runId,
        session_id: ended.sessionId,
        user_id: 'ada',
        status: 'completed',
        content: 'Kind of Blue, 1959',
        input: { input_content: 'Find miles' },
      },
    ]);
    // each pays for its own calls
    expect(ended.result!.metrics).toMatchObject({ total_tokens: 30 });
    expect(responses[0]!.metrics).toMatchObject({ total_tokens: 15 });
    const events = await run.events();
    expect(namesOf(events)).toEqual([
      'TeamRunStarted',
      'TeamModelRequestStarted',
      'TeamModelRequestCompleted',
      'TeamToolCallStarted',
      'RunStarted',
      'ModelRequestStarted',
      'RunContent',
      'ModelRequestCompleted',
      'RunContentCompleted',
      'RunCompleted',
      'TeamToolCallCompleted',
      'TeamModelRequestStarted',
      'TeamRunContent',
      'TeamModelRequestCompleted',
      'TeamRunContentCompleted',
      'TeamRunCompleted',
    ]);
    const member = events.find(({ event }) => event === 'RunStarted')!;
    expect(member).toMatchObject({ agent_id: 'finder', parent_run_id: run.runId, nested_depth: 1 });
    expect(member).not.toHaveProperty('team_id');
    expect(events[0]).toMatchObject({
      team_id: 'desk',
      team_name: 'Desk',
      nested_depth: 0,
      run_id: run.runId,
    });
    expect(events.find(({ event }) => event === 'TeamToolCallCompleted')).toMatchObject({
      tool: { child_run_id: member.run_id, result: 'Kind of Blue, 1959', tool_call_error: false },
    });
    expect(events.at(-1)).toMatchObject({
      member_responses: [{ run_id: member.run_id, agent_id: 'finder' }],
    });
  });

  test('learns that a member does not exist or has failed, and what to do about it', async () => {
    const model = scriptedModel([
      { toolCalls: [ask('nobody', 'x', 'one'), ask('broken', 'y', 'two')] },
      'Sorry.',
    ]);
    const component = team({
      id: 'desk',
      model,
      members: [says('finder'), says('broken', [{ error: 'out of order' }])],
    });
    const run = await ran(component, { stream });
    const { run: ended, responses } = await run.look();
    expect(ended.status).toBe('completed');
    const [unknown, failed] = model.requests[1]!.messages.slice(-2);
    expect(unknown!.content).toContain("There is no member 'nobody' in this team. Members:\n- finder");
    expect(failed!.content).toBe('out of order');
    expect(responses).toMatchObject([{ agent_id: 'broken', status: 'error', content: 'out of order' }]);
    const events = await run.events();
    expect(events.find(({ event }) => event === 'RunError')).toMatchObject({ agent_id: 'broken' });
    expect(events.at(-1)).toMatchObject({
      event: 'TeamRunCompleted',
      member_responses: [{ agent_id: 'broken', status: 'error' }],
    });
  });
});

describe.each([true, false])('a team that routes (streamed: %s)', (stream) => {
  test('answers with the words of the member, unchanged', async () => {
    const model = scriptedModel([{ toolCalls: [ask('finder', 'Find')] }]);
    const component = team({
      id: 'desk',
      mode: 'route',
      model,
      members: [says('finder', ['Kind of Blue']), says('other')],
    });
    const run = await ran(component, { stream });
    expect((await run.look()).run).toMatchObject({
      status: 'completed',
      result: { content: 'Kind of Blue' },
    });
    expect(model.requests).toHaveLength(1);
    const events = await run.events();
    expect(textIn(events, 'TeamRunContent')).toBe('Kind of Blue');
    const names = namesOf(events);
    expect(names).not.toContain('RunContent');
    expect(names).toContain('RunCompleted');
    expect(names.indexOf('TeamRunContent')).toBeLessThan(names.indexOf('TeamToolCallCompleted'));
    const spoken = events.find(({ event }) => event === 'TeamRunContent')!;
    expect(spoken).toMatchObject({ team_id: 'desk', run_id: run.runId, nested_depth: 0 });
    expect(spoken).not.toHaveProperty('agent_id');
  });

  test('answers in the shape of the member', async () => {
    const outputSchema = z.object({ year: z.number() }).meta({ title: 'Year' });
    const component = team({
      id: 'desk',
      mode: 'route',
      model: scriptedModel([{ text: 'I ask.', toolCalls: [ask('finder', 'Find')] }]),
      members: [agent({ id: 'finder', outputSchema, model: scriptedModel(['{"year":1959}']) })],
    });
    const run = await ran(component, { stream });
    expect((await run.look()).run.result).toMatchObject({ content: { year: 1959 }, contentType: 'Year' });
    const events = await run.events();
    expect(events.at(-1)).toMatchObject({ content: { year: 1959 }, content_type: 'Year' });
    expect(events.filter(({ event }) => event === 'TeamRunContent').at(-1)).toMatchObject({
      content: { year: 1959 },
    });
  });

  test('answers itself when no member fits', async () => {
    const component = team({
      id: 'desk',
      mode: 'route',
      model: scriptedModel(['Nobody here knows.']),
      members: [says('finder')],
    });
    const run = await ran(component, { stream });
    expect((await run.look()).run.result).toMatchObject({ content: 'Nobody here knows.' });
    expect((await run.events()).at(-1)).not.toHaveProperty('member_responses');
  });

  test('answers with why a member failed', async () => {
    const component = team({
      id: 'desk',
      mode: 'route',
      model: scriptedModel([{ toolCalls: [ask('finder', 'Find')] }]),
      members: [says('finder', [{ error: 'out of order' }])],
    });
    const { run, responses } = await (await ran(component, { stream })).look();
    expect(run).toMatchObject({ status: 'completed', result: { content: 'out of order' } });
    expect(responses).toMatchObject([{ status: 'error' }]);
  });
});

describe.each([true, false])('a team that broadcasts (streamed: %s)', (stream) => {
  test('asks all members side by side and joins their answers in order', async () => {
    const second = gate();
    const model = scriptedModel([
      { toolCalls: [call('delegate_task_to_members', { task: 'Guess' })] },
      'Both.',
    ]);
    const component = team({
      id: 'desk',
      mode: 'broadcast',
      model,
      members: [
        // the first one ends only after the second has begun
        says('first', [{ text: 'One', waitFor: second.promise }]),
        says('second', [
          () => {
            second.open();
            return 'Two';
          },
        ]),
      ],
    });
    const run = await ran(component, { stream });
    const { run: ended, responses } = await run.look();
    expect(ended.result).toMatchObject({ content: 'Both.' });
    expect(model.requests[1]!.messages.at(-1)!.content).toBe("Member 'first':\nOne\n\nMember 'second':\nTwo");
    expect(responses.map(({ agent_id }) => agent_id)).toEqual(['first', 'second']);
    const done = (await run.events()).find(({ event }) => event === 'TeamToolCallCompleted')!;
    expect(done).toMatchObject({ tool: { child_run_id: null } });
  });
});

test('as many members work at once as the team allows', async () => {
  let working = 0;
  let most = 0;
  const busy = (id: string) =>
    agent({
      id,
      model: scriptedModel([
        async () => {
          working += 1;
          most = Math.max(most, working);
          await Promise.resolve();
          await new Promise((resolve) => setImmediate(resolve));
          working -= 1;
          return id;
        },
      ]),
    });
  const members = ['a', 'b', 'c', 'd', 'e'].map(busy);
  const component = team({
    id: 'desk',
    mode: 'broadcast',
    maxParallelMembers: 2,
    model: scriptedModel([{ toolCalls: [call('delegate_task_to_members', { task: 'Go' })] }, 'Done.']),
    members,
  });
  const run = await ran(component);
  expect(most).toBe(2);
  expect((await run.look()).responses.map(({ content }) => content)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('members are asked as often as the team allows, and the leader is notified of the limit', async () => {
  const model = scriptedModel([
    { toolCalls: [ask('a', '1', 'one'), ask('b', '2', 'two'), ask('a', '3', 'three')] },
    'Enough.',
  ]);
  const component = team({
    id: 'desk',
    model,
    maxDelegations: 2,
    members: [says('a', ['A']), says('b', ['B'])],
  });
  const { run, responses } = await (await ran(component)).look();
  expect(run.result).toMatchObject({ content: 'Enough.' });
  expect(responses).toHaveLength(2);
  expect(model.requests[1]!.messages.slice(-3).map(({ content }) => content)).toEqual([
    'A',
    'B',
    expect.stringContaining('members can be asked 2 times, and 2 of these are used'),
  ]);
});

describe('members', () => {
  test('share the state of the session, the values of the run and what the user gave', async () => {
    const seen: unknown[] = [];
    const count = tool({
      name: 'count',
      description: 'Counts',
      execute: (_args, { state, dependencies, metadata, userId, sessionId }) => {
        state.set('count', ((state.get('count') as number | undefined) ?? 0) + 1);
        seen.push({ dependencies, metadata, userId, sessionId });
        return 'counted';
      },
    });
    const component = team({
      id: 'desk',
      sessionState: { count: 5 },
      dependencies: { shop: 'north' },
      metadata: { plan: 'pro' },
      model: scriptedModel([{ toolCalls: [ask('a', 'x')] }, 'Done.']),
      members: [
        agent({ id: 'a', tools: [count], model: scriptedModel([{ toolCalls: [call('count', {})] }, 'ok']) }),
      ],
    });
    const run = await ran(component);
    const { run: ended } = await run.look();
    expect(ended.result!.sessionState).toEqual({ count: 6 });
    expect(seen).toEqual([
      {
        dependencies: { shop: 'north' },
        metadata: { plan: 'pro' },
        userId: 'ada',
        sessionId: ended.sessionId,
      },
    ]);
    expect((await run.store.session(ended.sessionId))!.state).toEqual({ count: 6 });
  });

  test('get what the user said when the leader is not to write their tasks', async () => {
    const member = scriptedModel(['ok']);
    const component = team({
      id: 'desk',
      determineInputForMembers: false,
      model: scriptedModel([{ toolCalls: [ask('a', 'something else')] }, 'Done.']),
      members: [agent({ id: 'a', model: member })],
    });
    await ran(component, { content: 'What is new?' });
    expect(member.requests[0]!.messages.at(-1)!.content).toBe('What is new?');
  });

  test('receive what others answered, and what was said before, when the team says so', async () => {
    const second = scriptedModel(['ok', 'ok']);
    const component = team({
      id: 'desk',
      shareMemberInteractions: true,
      addTeamHistoryToMembers: true,
      model: scriptedModel([
        { toolCalls: [ask('a', 'first task')] },
        { toolCalls: [ask('b', 'second task')] },
        'Done.',
        { toolCalls: [ask('b', 'third task')] },
        'Again.',
      ]),
      members: [says('a', ['forty-two']), agent({ id: 'b', model: second })],
    });
    const first = await component.run('What is it?');
    await component.run('And now?', { sessionId: first.sessionId });
    const [earlier, later] = second.requests.map(({ messages }) => messages.at(-1)!.content);
    expect(earlier).toContain(
      'second task\n\n<member_interactions>\nMember: a\nTask: first task\nAnswer: forty-two',
    );
    expect(earlier).not.toContain('team_history');
    expect(later).toContain('<team_history>\nUser: What is it?\nTeam: Done.\n</team_history>');
  });

  test('are not streamed when the team does not want that', async () => {
    const component = team({
      id: 'desk',
      streamMemberEvents: false,
      model: scriptedModel([{ toolCalls: [ask('inner', 'x')] }, 'Done.']),
      members: [
        team({
          id: 'inner',
          model: scriptedModel([{ toolCalls: [ask('a', 'y')] }, 'Inner.']),
          members: [says('a', ['ok'])],
        }),
      ],
    });
    const run = await ran(component);
    const events = await run.events();
    expect(new Set(events.map(({ run_id }) => run_id))).toEqual(new Set([run.runId]));
    expect(events.at(-1)).toMatchObject({
      member_responses: [{ team_id: 'inner', content: 'Inner.', member_responses: [{ content: 'ok' }] }],
    });
  });

  test('are described on request', async () => {
    const model = scriptedModel([{ toolCalls: [call('get_member_information', {})] }, 'Done.']);
    await ran(team({ id: 'desk', memberInformationTool: true, model, members: [says('a')] }));
    expect(model.requests[1]!.messages.at(-1)!.content).toBe('- a\n  role: the a');
  });
});

test('a nested team works for its team, and its text is said once', async () => {
  const outer = scriptedModel([{ toolCalls: [ask('inner', 'Find')] }, 'Outer.']);
  const inner = scriptedModel([{ toolCalls: [ask('a', 'Look')] }, 'Inner text.']);
  const component = team({
    id: 'outer',
    model: outer,
    members: [team({ id: 'inner', model: inner, members: [says('a', ['Found.'])] })],
  });
  const run = await ran(component);
  const { responses } = await run.look();
  expect(outer.requests[1]!.messages.at(-1)!.content).toBe('Inner text.');
  expect(responses).toMatchObject([
    {
      team_id: 'inner',
      parent_run_id: run.runId,
      content: 'Inner text.',
      member_responses: [{ agent_id: 'a', content: 'Found.', parent_run_id: responses[0]!.run_id }],
    },
  ]);
  const events = await run.events();
  const innerStart = events.find(({ event, team_id }) => event === 'TeamRunStarted' && team_id === 'inner')!;
  expect(innerStart).toMatchObject({ parent_run_id: run.runId, nested_depth: 1 });
  const deepest = events.find(({ event }) => event === 'RunStarted')!;
  expect(deepest).toMatchObject({ agent_id: 'a', parent_run_id: innerStart.run_id, nested_depth: 2 });
  expect(events.at(-1)).toMatchObject({ event: 'TeamRunCompleted', team_id: 'outer' });
});

test('the input is checked before the run is announced', async () => {
  const component = team({
    id: 'desk',
    model: scriptedModel(['Hi.']),
    members: [says('a')],
    preHooks: [function look() {}],
  });
  const events = await (await ran(component)).events();
  expect(namesOf(events).slice(0, 3)).toEqual([
    'TeamPreHookStarted',
    'TeamPreHookCompleted',
    'TeamRunStarted',
  ]);
});

test('cancelling a team ends its members first', async () => {
  const reached = gate();
  const hangs = agent({
    id: 'a',
    model: scriptedModel([
      {
        waitFor: (signal) => {
          reached.open();
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
      },
    ]),
  });
  const component = team({
    id: 'outer',
    model: scriptedModel([{ toolCalls: [ask('inner', 'x')] }]),
    members: [
      team({ id: 'inner', model: scriptedModel([{ toolCalls: [ask('a', 'y')] }]), members: [hangs] }),
    ],
  });
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component);
  await reached.promise;
  handle.cancel('Enough');
  const { run } = await handle.ended;
  expect(run.status).toBe('cancelled');
  const reader = engine.events(run.runId, 0);
  const names: string[] = [];
  for (let events = await reader.next(); events !== null; events = await reader.next())
    names.push(
      ...events.map(({ data }) => {
        const { event, agent_id, team_id } = JSON.parse(data);
        return `${agent_id ?? team_id} ${event}`;
      }),
    );
  expect(names.slice(-6)).toEqual([
    'a RunCancelled',
    'a RunCompleted',
    'inner TeamRunCancelled',
    'inner TeamRunCompleted',
    'outer TeamRunCancelled',
    'outer TeamRunCompleted',
  ]);
});

describe('what the team makes of the words of a routed member', () => {
  const routed = (settings: object, member: Parameters<typeof scriptedModel>[0]) =>
    team({
      id: 'desk',
      mode: 'route',
      model: scriptedModel([{ toolCalls: [ask('a', 'x')] }]),
      members: [agent({ id: 'a', model: scriptedModel(member) })],
      ...settings,
    });

  test('has to pass its guardrail before any reader sees them', async () => {
    const run = await ran(
      routed({ postHooks: [{ name: 'guard', required: true, run: () => 'Nothing to see.' }] }, ['A secret.']),
    );
    expect((await run.look()).run.result).toMatchObject({ content: 'Nothing to see.' });
    const said = (await run.events()).filter(({ event }) => event.endsWith('RunContent'));
    expect(said.map(({ event, content }) => [event, content])).toEqual([
      ['TeamRunContent', 'Nothing to see.'],
    ]);
  });

  test('is brought into the shape of the team', async () => {
    const outputSchema = z.object({ year: z.number() }).meta({ title: 'Year' });
    const run = await ran(routed({ outputSchema }, ['{"year":1959}']));
    expect((await run.look()).run.result).toMatchObject({ content: { year: 1959 }, contentType: 'Year' });
  });

  test('is what is left of them when the run is cancelled', async () => {
    const reached = gate();
    const component = routed({ streamMemberEvents: false }, [
      () => {
        reached.open();
        return { chunks: ['Kind ', 'of ', new Promise(() => {})] };
      },
    ]);
    const store = await freshStore();
    const engine = engineOver(store, [component]);
    const handle = await begin(engine, component);
    await reached.promise;
    const reader = handle.events();
    for (let text = ''; !text.includes('of '); )
      text += (await reader.next())!.map(({ data }) => data).join();
    reader.close();
    handle.cancel('Enough');
    const { run } = await handle.ended;
    expect(run.result).toMatchObject({ content: 'Kind of ', partial: true });
    const stored = engine.events(run.runId, 0);
    const names = new Set<string>();
    for (let events = await stored.next(); events !== null; events = await stored.next())
      for (const { name } of events) names.add(name);
    expect([...names].filter((name) => !name.startsWith('Team'))).toEqual([]);
  });
});
