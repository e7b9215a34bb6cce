import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, step, team, tool, workflow } from '../../../src/index.js';
import type { SseClient } from '../../support/clients/sse-client.js';
import { WsClient } from '../../support/clients/ws-client.js';
import { payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { freshPostgres } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService, TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

const book = new ScriptBook();
const looking = gate();
const look = tool({
  name: 'look',
  description: 'Looks',
  execute: async () => {
    await looking.opened;
    return 'seen';
  },
});
const report = tool({
  name: 'report',
  description: 'Reports often',
  execute: async (_args, { emit }) => {
    for (let count = 0; count < 1_500; count++) await emit({ count });
    return 'done';
  },
});
const writer = agent({ id: 'writer', name: 'Writer', model: book.model, tools: [look, report] });
const paying = payingAgent(book, 'payer');
const desk = team({ id: 'desk', name: 'Desk', model: book.model, members: [writer] });
const quiet = team({
  id: 'quiet',
  name: 'Quiet',
  model: book.model,
  members: [writer],
  streamMemberEvents: false,
});
const press = workflow({
  id: 'press',
  name: 'Press',
  steps: [step({ name: 'draft', agent: writer }), step({ name: 'check', agent: writer })],
});

let service: TestService;
const as = (componentId: string, plural: 'agents' | 'teams' | 'workflows' = 'agents') =>
  new RunLife(service, componentId, plural);

beforeAll(async () => {
  service = await TestService.start({
    agents: [writer, paying.agent],
    teams: [desk, quiet],
    workflows: [press],
    websocket: true,
  });
});
afterAll(() => service.stop());

const compat = { 'x-runyard-compat': 'agentos' };
const ofSession = async (sessionId: string, query = ''): Promise<Body[]> =>
  (await service.get(`/sessions/${sessionId}/runs${query}`)).body;
const names = (run: Body): string[] => run.events.map(({ event }: Body) => event);
const delegate = (task: string) => ({
  toolCalls: [{ name: 'delegate_task_to_member', arguments: { member_id: 'writer', task } }],
});

/** The answer in a client that treats a run with text and without events as failed. */
function shownAnswer(run: Body): string {
  return run.events?.length > 0 ? run.content : 'This run failed';
}

/** The list of the session and that of the component say the same. */
async function bothLists(life: RunLife, sessionId: string): Promise<Body[]> {
  const [session, component] = [await ofSession(sessionId), await life.list(sessionId)];
  const own = session.filter(({ parent_run_id: parent }) => !parent);
  const essence = ({ events, content, tools }: Body) => [events ?? null, content ?? null, tools ?? null];
  expect(own.map(essence)).toEqual(component.map(essence));
  return session;
}

describe('runs in lists', () => {
  test('of streamed runs show the answer to a client that requests events', async () => {
    book.write('Hello', 'An answer');
    const stream = await (await as('writer').stream({ message: 'Hello', session_id: 's1' })).end();
    const [run] = await bothLists(as('writer'), 's1');
    expect(shownAnswer(run)).toBe('An answer');
    const sent = stream.events.filter(({ event }) => event !== 'RunContent');
    expect(run.events).toEqual(sent);
    expect(names(run)[0]).toBe('RunStarted');
    expect(names(run).at(-1)).toBe('RunCompleted');
    expect(run.events.at(-1).created_at).toEqual(expect.any(Number));
    const [bare] = await ofSession('s1', '?include_events=false');
    expect(bare).toMatchObject({ content: 'An answer' });
    expect(bare).not.toHaveProperty('events');
    const list = await service.get('/agents/writer/runs?session_id=s1&include_events=false');
    expect(list.body[0]).not.toHaveProperty('events');
    const one = await service.get(`/sessions/s1/runs/${run.run_id}`);
    expect(one.body.events).toEqual(run.events);
  });

  test('of runs that were not streamed have no events', async () => {
    await as('writer').post({ message: 'Plain', session_id: 's2' });
    const polled = await as('writer').post({
      message: 'Polled',
      session_id: 's2',
      background: true,
      stream: undefined,
    });
    await as('writer').rested(polled.body.run_id);
    const streamed = await as('writer').stream({ message: 'Both', session_id: 's2', background: true });
    await streamed.end();
    const runs = await bothLists(as('writer'), 's2');
    expect(runs.map(({ events }) => events?.length > 0)).toEqual([false, false, true]);
    const list = await as('writer').list('s2');
    expect(list.map(({ events }) => events === null)).toEqual([true, true, false]);
  });

  test('of a team come with the events of its members, also when it keeps quiet about them', async () => {
    for (const id of ['desk', 'quiet']) {
      const message = book.write(`Ask ${id}`, delegate(`Find ${id}`), 'All done');
      await (await as(id, 'teams').stream({ message, session_id: id })).end();
      const [member, whole] = await bothLists(as(id, 'teams'), id);
      expect([shownAnswer(member), shownAnswer(whole)]).toEqual([`Answer to: Find ${id}`, 'All done']);
      expect(names(member)[0]).toBe('RunStarted');
      expect(names(member).at(-1)).toBe('RunCompleted');
      expect(new Set(member.events.map(({ run_id: runId }: Body) => runId))).toEqual(
        new Set([member.run_id]),
      );
      expect(names(whole).at(-1)).toBe('TeamRunCompleted');
    }
  });

  test('of a workflow come with all of its events', async () => {
    const stream = await (await as('press', 'workflows').stream({ message: 'Write', session_id: 'w' })).end();
    const [run] = await bothLists(as('press', 'workflows'), 'w');
    expect(run.events).toEqual(stream.events.filter(({ event }) => event !== 'WorkflowRunOutput'));
    expect(names(run)).toContain('RunContent');
  });

  test('have the first and the last 500 events of a run that has more', async () => {
    const message = book.write('Report', { toolCalls: [{ name: 'report', arguments: {} }] }, 'Reported');
    await (await as('writer').stream({ message, session_id: 'many' })).end();
    const [run] = await bothLists(as('writer'), 'many');
    expect(run.events).toHaveLength(1_000);
    expect(names(run)[0]).toBe('RunStarted');
    expect(names(run).at(-1)).toBe('RunCompleted');
    const indices = run.events.map(({ event_index: index }: Body) => index);
    expect(indices).toEqual([...indices].sort((left, right) => left - right));
  });

  test('of a run that began over a WebSocket have its events', async () => {
    const client = await WsClient.connect(service.url, '/workflows/ws');
    client.send({ action: 'start-workflow', workflow_id: 'press', session_id: 'socket', message: 'Write' });
    await client.event('WorkflowCompleted');
    const [run] = await ofSession('socket');
    expect(names(run).at(-1)).toBe('WorkflowCompleted');
  });

  test('of a copied session have events', async () => {
    await (await as('writer').stream({ message: 'Copy me', session_id: 'source' })).end();
    const fork = await service.call('POST', '/agents/writer/sessions/source/fork');
    const [run] = await ofSession(fork.body.session_id);
    expect(shownAnswer(run)).toBe('Answer to: Copy me');
    expect(names(run).at(-1)).toBe('RunCompleted');
  });
});

describe('a run that is not over', () => {
  async function speaking(life: RunLife, sessionId: string, message: string): Promise<SseClient> {
    const stream = await life.stream({ message, session_id: sessionId });
    await stream.until(() => stream.events.some(({ content }) => content === 'so far'), 'the text');
    return stream;
  }

  test('has its text and its tools so far', async () => {
    const end = gate();
    const calls = { chunks: ['Let me ', 'look'], toolCalls: [{ name: 'look', arguments: {}, id: 'c1' }] };
    const message = book.write('Look', calls, { chunks: ['I see ', 'so far', end.opened, ' all'] });
    const stream = await as('writer').stream({ message, session_id: 'live' });
    await stream.event('ToolCallStarted');
    const [busy] = await bothLists(as('writer'), 'live');
    expect(busy).toMatchObject({ status: 'running', content: 'Let me look' });
    expect(busy.tools).toMatchObject([{ tool_call_id: 'c1', tool_name: 'look', result: null }]);
    looking.open();
    await stream.until(() => stream.events.some(({ content }) => content === 'so far'), 'the text');
    const [run] = await bothLists(as('writer'), 'live');
    expect(run).toMatchObject({ status: 'running', content: 'I see so far' });
    expect(run.tools).toMatchObject([{ tool_call_id: 'c1', result: 'seen' }]);
    expect(names(run)).toContain('ToolCallCompleted');
    const bare = await ofSession('live', '?include_events=false');
    expect(bare[0]).toMatchObject({ content: 'I see so far' });
    end.open();
    await stream.end();
    expect((await ofSession('live'))[0]).toMatchObject({ content: 'I see so far all' });
  });

  test('shows what its members say and what its steps say', async () => {
    const end = gate();
    const message = book.write('Go on', delegate('Speak'), 'All done');
    book.write('Speak', { chunks: ['Member ', 'so far', end.opened] });
    const stream = await speaking(as('desk', 'teams'), 'team-live', message);
    const [member, whole] = await bothLists(as('desk', 'teams'), 'team-live');
    expect(member).toMatchObject({ status: 'running', content: 'Member so far' });
    expect(whole.tools).toMatchObject([{ tool_name: 'delegate_task_to_member', result: null }]);
    end.open();
    await stream.end();
    const next = gate();
    const draft = book.write('Draft', 'First text');
    book.write('First text', { chunks: ['Check ', 'so far', next.opened] });
    const flow = await speaking(as('press', 'workflows'), 'flow-live', draft);
    const [run] = await bothLists(as('press', 'workflows'), 'flow-live');
    expect(run).toMatchObject({ status: 'running', content: 'Check so far' });
    expect(run.step_results).toMatchObject([{ step_name: 'draft', content: 'First text' }]);
    next.open();
    await flow.end();
  });

  test('has its tools while it waits for an answer, and its events when a stream continues it', async () => {
    const message = book.write('Pay', { toolCalls: [payCall(5)] }, 'Paid');
    const paused = await as('payer').start({ message, session_id: 'pay' });
    const [waiting] = await bothLists(as('payer'), 'pay');
    expect(waiting).toMatchObject({ status: 'paused', tools: [{ tool_name: 'pay', result: null }] });
    expect(waiting.content).not.toBe('');
    expect(waiting).not.toHaveProperty('events');
    const requirements = paused.requirements.map((one: Body) => ({ ...one, confirmation: true }));
    await (await as('payer').continueStreamed(paused.run_id, { requirements, stream: true })).end();
    const [run] = await bothLists(as('payer'), 'pay');
    expect(shownAnswer(run)).toBe('Paid');
    expect(names(run).at(-1)).toBe('RunCompleted');
  });

  test('hides its session from an older client as long as nothing else is in it', async () => {
    const end = gate();
    const message = book.write('First', { chunks: ['so far', end.opened, ' and on'] });
    const stream = await speaking(as('writer'), 'chat', message);
    const lists = ['/sessions/chat/runs', '/agents/writer/runs?session_id=chat'];
    for (const list of lists) {
      expect((await service.get(list, compat)).status).toBe(404);
      expect((await service.get(list)).body).toMatchObject([{ content: 'so far' }]);
    }
    end.open();
    await stream.end();
    const more = gate();
    const again = book.write('Second', { chunks: ['so far', more.opened] });
    const second = await speaking(as('writer'), 'chat', again);
    for (const list of lists) {
      const { status, body } = await service.get(list, compat);
      expect([status, body.length, body[0].status]).toEqual([200, 2, 'COMPLETED']);
    }
    more.open();
    await second.end();
    const plain = gate();
    const waits = book.write('Third', { text: 'late', waitFor: plain.opened });
    const polled = await as('writer').post({ message: waits, session_id: 'poll', background: true });
    expect((await service.get('/sessions/poll/runs', compat)).body).toMatchObject([
      { run_id: polled.body.run_id },
    ]);
    plain.open();
    await as('writer').rested(polled.body.run_id);
    await service.call('POST', '/sessions', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: 'empty' }),
    });
    expect((await service.get('/sessions/empty/runs', compat)).body).toEqual([]);
  });

  test('has its text and tools so far also where another process lists it', async () => {
    const { url: database } = await freshPostgres();
    const shared = { database, agents: [writer], autoMigrate: true };
    const [here, there] = [await startService(shared), await startService(shared)];
    const end = gate();
    const message = book.write('Elsewhere', { chunks: ['Heard ', 'so far', end.opened, ' all'] });
    const stream = await speaking(new RunLife(here, 'writer'), 'shared', message);
    const listed = await until('the text is stored', async () => {
      const [run] = (await there.get('/sessions/shared/runs')).body;
      return run.content === 'Heard so far' && (run as Body);
    });
    expect(listed.status).toBe('running');
    expect(names(listed)[0]).toBe('RunStarted');
    expect((await there.get('/sessions/shared/runs', compat)).status).toBe(404);
    end.open();
    await stream.end();
  });
});
