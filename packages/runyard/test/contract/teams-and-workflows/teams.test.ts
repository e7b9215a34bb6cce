import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  agent,
  Runyard,
  step,
  type Team,
  type ToolSource,
  team,
  tool,
  workflow,
} from '../../../src/index.js';
import { bothWays } from '../../support/clients/both-ways.js';
import { RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService, TestService } from '../../support/service.js';

const book = new ScriptBook();
const ask = (member: string, task: string, id = `ask-${member}`) => ({
  name: 'delegate_task_to_member',
  arguments: { member_id: member, task },
  id,
});
const call = (name: string, args: object, id: string) => ({ name, arguments: { ...args }, id });

const finder = agent({ id: 'finder', name: 'Finder', model: book.model, role: 'finds records' });
const judge = agent({ id: 'judge', name: 'Judge', model: book.model });
const inner = team({ id: 'inner', name: 'Inner', model: book.model, mode: 'route', members: [finder] });

const teams = [
  team({
    id: 'desk',
    name: 'Desk',
    description: 'Knows records',
    model: book.model,
    members: [finder, judge],
    tools: [tool({ name: 'look', description: 'Looks', execute: () => 'looked' })],
    metadata: { floor: 2 },
    memberInformationTool: true,
  }),
  team({ id: 'router', model: book.model, mode: 'route', members: [finder, judge] }),
  team({ id: 'crowd', model: book.model, mode: 'broadcast', members: [finder, judge] }),
  team({ id: 'list', model: book.model, mode: 'tasks', members: [finder, judge] }),
  team({ id: 'outer', name: 'Outer', model: book.model, members: [inner, judge], streamMemberEvents: false }),
  team({
    id: 'typed',
    model: book.model,
    members: [finder],
    inputSchema: z.object({ city: z.string() }),
    sessionState: { visits: 1 },
  }),
];

let service: TestService;
const life = (id: string) => new RunLife(service, id, 'teams');

beforeAll(async () => {
  service = await TestService.start({ agents: [judge], teams });
});
afterAll(() => service.stop());

describe('discovery', () => {
  test('shows a team with its mode, its members and the tools of its leader', async () => {
    const { body } = await service.get('/teams/desk');
    expect(body).toMatchObject({
      id: 'desk',
      name: 'Desk',
      description: 'Knows records',
      db_id: 'default',
      mode: 'coordinate',
      is_factory: false,
      is_component: false,
      model: { name: 'Scripted', model: 'scripted', provider: 'Runyard' },
      sessions: { session_table: 'sessions' },
      default_tools: { get_member_information_tool: true },
      streaming: { stream_member_events: true },
      metadata: { floor: 2 },
      members: [
        { id: 'finder', name: 'Finder', role: 'finds records', is_factory: false, is_component: false },
        { id: 'judge', name: 'Judge' },
      ],
    });
    const names = body.tools.tools.map(({ name }: Body) => name);
    expect(names).toEqual(expect.arrayContaining(['delegate_task_to_member', 'look']));
    expect(body).not.toHaveProperty('extra_messages');
  });

  test('shows nested teams, and each mode with its tool', async () => {
    const { body } = await service.get('/teams');
    expect(body.map(({ id }: Body) => id)).toEqual(['desk', 'router', 'crowd', 'list', 'outer', 'typed']);
    const of = (id: string) => body.find((shown: Body) => shown.id === id);
    expect(of('outer')).toMatchObject({
      streaming: { stream_member_events: false },
      members: [{ id: 'inner', mode: 'route', members: [{ id: 'finder' }] }, { id: 'judge' }],
    });
    expect(of('outer').members[0].members[0]).not.toHaveProperty('members');
    const tools = (id: string) => of(id).tools.tools.map(({ name }: Body) => name);
    expect(tools('crowd')).toContain('delegate_task_to_members');
    expect(tools('list')).toEqual(
      expect.arrayContaining(['create_task', 'execute_task', 'mark_all_complete']),
    );
    expect(of('typed').input_schema).toMatchObject({ properties: { city: { type: 'string' } } });
  });

  test('knows no other team, and no team by the id of an agent', async () => {
    for (const path of ['/teams/nobody', '/teams/judge', '/teams/inner']) {
      const { status, body } = await service.get(path);
      expect([status, body.detail, body.error_code]).toEqual([404, 'Team not found', 'team_not_found']);
    }
    const { status, body } = await service.submit('/teams/judge/runs', { message: 'x' });
    expect([status, body.detail]).toEqual([404, 'Team not found']);
  });

  test('is counted and listed with what is registered', async () => {
    const { body: info } = await service.get('/info');
    expect(info).toMatchObject({ agent_count: 1, team_count: 6, workflow_count: 0 });
    const { body: config } = await service.get('/config');
    expect(config.teams[0]).toEqual({
      id: 'desk',
      name: 'Desk',
      description: 'Knows records',
      db_id: 'default',
      mode: 'coordinate',
      model: { id: 'scripted', provider: 'Runyard' },
    });
  });
});

describe('registration', () => {
  const one = () => team({ id: 'one', model: 'offline', members: [finder] });

  test.each([
    [() => ({ teams: [one(), one()] }), "Two teams have the id 'one'. Give one of them another id."],
    [
      () => ({ teams: [judge as never] }),
      'new Runyard(): teams[0] is an object. Give a team, made with team() or teamFactory().',
    ],
    [
      () => ({ agents: [one() as never] }),
      'new Runyard(): agents[0] is an object. Give an agent, made with agent() or agentFactory().',
    ],
  ])('is refused when it is wrong', (options, message) => {
    expect(() => new Runyard(options())).toThrow(message);
  });

  test('takes an agent, a team and a workflow with the same id', () => {
    const same = { id: 'same', model: 'offline' };
    const agents = [agent(same)];
    const teams = [team({ ...same, members: [finder] })];
    const workflows = [workflow({ id: 'same', steps: [() => 'done'] })];
    expect(new Runyard({ agents, teams, workflows }).components.list()).toHaveLength(3);
  });

  test('names the team whose database does not exist', async () => {
    const nowhere = team({ id: 'lost', model: 'offline', members: [finder], database: 'nowhere' });
    await expect(startService({ teams: [nowhere] })).rejects.toThrow(
      "Team 'lost' names the database 'nowhere'",
    );
  });

  test('keeps the runs of a team that is run by hand', async () => {
    const { runId, content } = await (teams[0] as Team).run('By hand', { sessionId: 'hand' });
    expect(await life('desk').list('hand')).toMatchObject([{ run_id: runId, content }]);
  });

  test('closes what its members hold when the service stops', async () => {
    let closed = 0;
    const source: ToolSource = { name: 'line', tools: async () => [], close: async () => void closed++ };
    const inTeam = agent({ id: 'holder', model: 'offline', tools: [source] });
    const held = team({ id: 'held', model: 'offline', members: [inTeam] });
    const stepped = workflow({
      id: 'stepped',
      steps: [step({ name: 's', agent: agent({ id: 'w', model: 'offline', tools: [source] }) })],
    });
    const own = await TestService.start({ teams: [held], workflows: [stepped] });
    await own.stop();
    expect(closed).toBe(2);
  });
});

describe('the body of a run', () => {
  test('has the fields of the contract, at the top and inside', async () => {
    const message = book.write(
      'Who wrote So What?',
      { toolCalls: [ask('finder', 'Find So What')] },
      'Miles.',
    );
    book.write('Find So What', 'Kind of Blue');
    const { body } = await life('desk').post({ message, user_id: 'ada', session_id: 's1' });
    expect(body).toMatchObject({
      agent_id: 'desk',
      team_id: 'desk',
      team_name: 'Desk',
      session_id: 's1',
      user_id: 'ada',
      status: 'completed',
      content: 'Miles.',
      content_type: 'str',
      model: 'scripted',
      model_provider: 'Runyard',
      metadata: { floor: 2 },
      input: { input_content: message },
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      tools: [{ tool_name: 'delegate_task_to_member', result: 'Kind of Blue' }],
    });
    expect(body).not.toHaveProperty('agent_name');
    expect(body).not.toHaveProperty('session_state');
    const [member] = body.member_responses;
    expect(member).toMatchObject({
      agent_id: 'finder',
      agent_name: 'Finder',
      parent_run_id: body.run_id,
      session_id: 's1',
      user_id: 'ada',
      status: 'completed',
      content: 'Kind of Blue',
      input: { input_content: 'Find So What' },
      created_at: expect.any(Number),
      messages: expect.arrayContaining([
        expect.objectContaining({ role: 'assistant', content: 'Kind of Blue' }),
      ]),
    });
    expect(body.tools[0].child_run_id).toBe(member.run_id);
    expect(body.messages.map(({ role }: Body) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  test('has no member responses when no member was asked', async () => {
    const { body } = await life('desk').post({ message: 'Hello' });
    expect(body.member_responses).toEqual([]);
  });

  test('has the messages of earlier runs that the leader was shown', async () => {
    const historian = team({
      id: 'historian',
      model: book.model,
      members: [finder],
      addHistoryToContext: true,
    });
    await historian.run('First', { sessionId: 's' });
    const { messages } = await historian.run('Second', { sessionId: 's' });
    const earlier = messages.filter(({ fromHistory }) => fromHistory);
    expect(earlier.map(({ content }) => content)).toEqual(['First', 'Answer to: First']);
  });

  test('of a team inside never has an agent_id', async () => {
    const message = book.write('Outer question', { toolCalls: [ask('inner', 'Inner task')] }, 'Done.');
    book.write('Inner task', { toolCalls: [ask('finder', 'Innermost task')] });
    book.write('Innermost task', 'Found');
    const stream = await (await life('outer').stream({ message })).end();
    const { body } = await life('outer').get(stream.events[0]!.run_id);
    const [nested] = body.member_responses;
    expect(nested).toMatchObject({ team_id: 'inner', team_name: 'Inner', content: 'Found' });
    expect(nested).not.toHaveProperty('agent_id');
    expect(nested.member_responses).toMatchObject([
      { agent_id: 'finder', parent_run_id: nested.run_id, content: 'Found' },
    ]);
    const ofTeams = [...stream.events, ...body.events].filter(({ event }) => event.startsWith('Team'));
    for (const event of ofTeams) expect(event).not.toHaveProperty('agent_id');
    expect(stream.events.at(-1)!.member_responses).toHaveLength(1);
  });

  test('of a member is reachable under no path', async () => {
    const message = book.write('Reach', { toolCalls: [ask('judge', 'Judge it')] }, 'ok');
    const { body } = await life('desk').post({ message });
    const [{ run_id: memberId }] = body.member_responses;
    for (const path of [life('desk').path(memberId), `/agents/judge/runs/${memberId}`]) {
      const { status, body: refusal } = await service.get(path);
      expect([status, refusal.detail]).toEqual([404, 'Run not found']);
    }
    const ofJudge = await service.get('/agents/judge/runs');
    expect(ofJudge.body).toEqual([]);
    expect((await service.get(`/agents/judge/runs/${body.run_id}`)).status).toBe(404);
  });

  test('in the form of the older interface has its spelling and times everywhere', async () => {
    const message = book.write('Old form', { toolCalls: [ask('judge', 'Judge old')] }, 'ok');
    const { body } = await life('desk').post({ message }, { 'x-runyard-compat': 'agentos' });
    expect(body).toMatchObject({ status: 'COMPLETED', created_at: expect.any(Number) });
    expect(body.member_responses[0]).toMatchObject({ status: 'COMPLETED', created_at: expect.any(Number) });
  });

  test('in a list has the keys of the contract', async () => {
    const message = book.write('Listed', { toolCalls: [ask('judge', 'Judge listed')] }, 'ok');
    await life('desk').post({ message, session_id: 'listed', user_id: 'ada' });
    const [item] = await life('desk').list('listed');
    expect(item).toMatchObject({
      team_id: 'desk',
      parent_run_id: '',
      user_id: 'ada',
      status: 'completed',
      run_input: message,
      content: 'ok',
      run_response_format: 'text',
      created_at: expect.stringMatching(/Z$/),
      events: null,
      reasoning_steps: [],
      input_media: { images: [], videos: [], audios: [], files: [] },
      forked_from_run_id: null,
    });
    expect(item).not.toHaveProperty('agent_id');
  });

  test('shows session state when there is any, and takes an input that fits the schema', async () => {
    const { body } = await life('typed').post({ message: '{"city":"Oslo"}' });
    expect(body).toMatchObject({ status: 'completed', session_state: { visits: 1 } });
    const { status, body: refusal } = await life('typed').post({ message: '{"town":"Oslo"}', stream: true });
    expect(status).toBe(422);
    expect(refusal.detail[0].loc.slice(0, 2)).toEqual(['body', 'message']);
  });
});

describe('is the same streamed, not streamed and in the background', () => {
  test('coordinate', async () => {
    const { stored, stream } = await bothWays(life('desk'), { message: 'Coordinate' }, () => {
      book.write(
        'Coordinate',
        { toolCalls: [ask('finder', 'Find it'), ask('judge', 'Judge it')] },
        'Both agree.',
      );
      book.write('Find it', 'found');
      book.write('Judge it', 'good');
    });
    expect(stored.content).toBe('Both agree.');
    expect(stored.member_responses.map(({ content }: Body) => content)).toEqual(['found', 'good']);
    const [first] = stream.all('RunStarted');
    expect(first).toMatchObject({ parent_run_id: stream.events[0]!.run_id, nested_depth: 1 });
    expect(stream.names.at(-1)).toBe('TeamRunCompleted');
  });

  test('route', async () => {
    const { stored, stream } = await bothWays(life('router'), { message: 'Route' }, () => {
      book.write('Route', { toolCalls: [ask('judge', 'Decide')] });
      book.write('Decide', 'It is decided.');
    });
    expect(stored.content).toBe('It is decided.');
    const text = stream.all('TeamRunContent').map(({ content }) => content);
    expect(text.join('')).toBe('It is decided.');
    expect(stream.names).not.toContain('RunContent');
  });

  test('broadcast', async () => {
    const { stored } = await bothWays(life('crowd'), { message: 'All' }, () => {
      book.write(
        'All',
        { toolCalls: [call('delegate_task_to_members', { task: 'Say' }, 'all')] },
        'Everybody spoke.',
      );
    });
    expect(stored.content).toBe('Everybody spoke.');
    expect(stored.member_responses.map(({ agent_id }: Body) => agent_id)).toEqual(['finder', 'judge']);
  });

  test('tasks', async () => {
    const { stored, stream } = await bothWays(life('list'), { message: 'Work' }, () => {
      book.write(
        'Work',
        {
          toolCalls: [
            call('create_task', { title: 'Find', description: 'Find it now', assignee: 'finder' }, 'c'),
          ],
        },
        (request) => {
          const [taskId] = /[0-9a-f]{8}/.exec(request.messages.at(-1)!.content)!;
          return { toolCalls: [call('execute_task', { task_id: taskId, member_id: 'finder' }, 'e')] };
        },
        { toolCalls: [call('mark_all_complete', { summary: 'All done' }, 'm')] },
        'All done.',
      );
    });
    expect(stored.status).toBe('completed');
    expect(stream.names).toEqual(
      expect.arrayContaining(['TeamTaskIterationStarted', 'TeamTaskCreated', 'TeamTaskUpdated']),
    );
  });

  test('a failing member (fault 20)', async () => {
    const { stored, stream } = await bothWays(life('desk'), { message: 'Failing' }, () => {
      book.write('Failing', { toolCalls: [ask('finder', 'Break')] }, 'It did not work.');
      book.write('Break', { error: 'The record is broken' });
    });
    expect(stored).toMatchObject({ status: 'completed', content: 'It did not work.' });
    expect(stored.member_responses).toMatchObject([{ status: 'error', content: 'The record is broken' }]);
    expect(stored.tools[0].result).toContain('The record is broken');
    expect(stream.names).toContain('RunError');
  });
});
