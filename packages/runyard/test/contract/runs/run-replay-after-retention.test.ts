import { describe, expect, test } from 'vitest';
import { RetentionService } from '../../../src/capabilities/retention/service.js';
import { silentLog } from '../../../src/core/log.js';
import { agent, step, team, tool, workflow } from '../../../src/index.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import type { SseClient } from '../../support/clients/sse-client.js';
import { WsClient } from '../../support/clients/ws-client.js';
import { payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { freshSqlite } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService } from '../../support/service.js';
import { gate } from '../../support/until.js';

const hour = 3_600_000;

/** A service, and what removes the events of all its runs that have ended. */
async function aService() {
  const book = new ScriptBook();
  const place = await freshSqlite();
  const breaks = tool({
    name: 'breaks',
    description: 'Breaks',
    execute: () => Promise.reject(new Error('Broken')),
  });
  const helper = agent({ id: 'helper', name: 'Helper', model: book.model });
  const service = await startService({
    database: place.url,
    autoMigrate: true,
    websocket: true,
    agents: [payingAgent(book, 'a').agent, agent({ id: 'b', name: 'B', model: book.model, tools: [breaks] })],
    teams: [team({ id: 'desk', name: 'Desk', model: book.model, members: [helper] })],
    workflows: [
      workflow({
        id: 'press',
        name: 'Press',
        steps: [
          step({ name: 'draft', agent: helper }),
          step({ name: 'loud', run: ({ previousStepContent }) => String(previousStepContent).toUpperCase() }),
        ],
      }),
    ],
  });
  const database = await place.open();
  const timers = { ...systemTimers, now: () => Date.now() + 2 * hour };
  const retention = {
    settings: { eventRetentionHours: 1, traceRetentionDays: 0 },
    timers,
    log: silentLog,
  };
  const forget = () => new RetentionService(database, retention).sweep();
  return { book, service, life: new RunLife(service, 'a'), forget };
}

const eventsOf = (stream: SseClient) => stream.events.filter(({ event }) => event !== 'replay');
const names = (stream: SseClient) => eventsOf(stream).map(({ event }) => event);

async function finished(life: RunLife, message: string) {
  const stream = await (await life.stream({ message })).end();
  const original = stream.events;
  return { runId: original[0]!.run_id as string, original, last: original.at(-1)! };
}

describe('after the events of a run were removed', () => {
  test('an agent replays its text in one event, with its tool calls and its end', async () => {
    const { book, life, forget } = await aService();
    book.write(
      'rebuild',
      { toolCalls: [{ name: 'look', arguments: {}, id: 'l' }] },
      { chunks: ['It ', 'is ', 'so.'] },
    );
    const { runId, original, last } = await finished(life, 'rebuild');
    await forget();
    const stream = await (await life.resume(runId)).end();
    expect(names(stream)).toEqual([
      'RunStarted',
      'ToolCallStarted',
      'ToolCallCompleted',
      'RunContent',
      'RunCompleted',
    ]);
    expect(stream.events[0]).toMatchObject({ event: 'replay', total_events: 5, total_buffered: 5 });
    expect(stream.content).toBe('It is so.');
    const named = (name: string) => original.find(({ event }) => event === name);
    const { event_index: _index, created_at: _at, ...started } = named('RunStarted')!;
    expect(stream.first('RunStarted')).toMatchObject({ ...started, rebuilt: true });
    const { event_index: _place, created_at: _when, ...done } = named('ToolCallCompleted')!;
    expect(stream.first('ToolCallCompleted')).toMatchObject(done);
    const { created_at: _end, ...end } = last;
    expect(stream.first('RunCompleted')).toMatchObject(end);
    const ids = stream.frames.slice(1).map(({ id }) => Number(id));
    expect(ids).toEqual([4, 3, 2, 1, 0].map((back) => last.event_index - back));
    expect(eventsOf(stream).map(({ event_index }) => event_index)).toEqual(ids);
  });

  test('lists of runs have the events of the journal, those of members included', async () => {
    const { book, service, life, forget } = await aService();
    const { runId } = await finished(life, 'listed');
    const call = { name: 'delegate_task_to_member', arguments: { member_id: 'helper', task: 'Help' } };
    book.write('Ask', { toolCalls: [call] }, 'All done');
    const desk = new RunLife(service, 'desk', 'teams');
    await (await desk.stream({ message: 'Ask', session_id: 'desk' })).end();
    await forget();
    const listed = (run: Body) => run.events.map(({ event, rebuilt }: Body) => rebuilt && event);
    const runs = (await service.get('/agents/a/runs')).body;
    expect(runs.map(({ run_id: id }: Body) => id)).toEqual([runId]);
    expect(listed(runs[0])).toEqual(['RunStarted', 'RunCompleted']);
    const [member, team] = (await service.get('/sessions/desk/runs')).body;
    expect(listed(member)).toEqual(['RunStarted', 'RunCompleted']);
    const called = ['TeamToolCallStarted', 'TeamToolCallCompleted'];
    expect(listed(team)).toEqual(['TeamRunStarted', ...called, 'TeamRunCompleted']);
  });

  test('a client that had a part gets the whole text, and one that had the end gets nothing', async () => {
    const { service, life, forget } = await aService();
    const { runId, last } = await finished(life, 'seen in part');
    await forget();
    const part = await (await life.events(runId, '', { 'last-event-id': '0' })).end();
    expect(names(part)).toEqual(['RunStarted', 'RunContent', 'RunCompleted']);
    const again = await (await life.events(runId, '', { 'last-event-id': part.frames[0]!.id! })).end();
    expect(names(again)).toEqual(['RunContent', 'RunCompleted']);
    expect(again.content).toBe(last.content);
    const all = { 'last-event-id': String(last.event_index) };
    expect((await service.get(life.path(runId, '/events'), all)).status).toBe(204);
    const resumed = await (await life.resume(runId, { last_event_index: last.event_index })).end();
    expect(resumed.names).toEqual(['replay']);
    expect(resumed.events[0]).toMatchObject({ total_events: 0, total_buffered: 3 });
  });

  test('a failed run replays what was said before, and its failure', async () => {
    const { book, service, forget } = await aService();
    book.write(
      'fails',
      { text: 'Let me see.', toolCalls: [{ name: 'breaks', arguments: {}, id: 't' }] },
      { error: 'No such model' },
    );
    const life = new RunLife(service, 'b');
    const { runId, last } = await finished(life, 'fails');
    expect(last.event).toBe('RunError');
    await forget();
    const stream = await (await life.events(runId)).end();
    expect(names(stream)).toEqual([
      'RunStarted',
      'ToolCallStarted',
      'ToolCallError',
      'RunContent',
      'RunError',
    ]);
    expect(stream.content).toBe('Let me see.');
    const { created_at: _at, ...error } = last;
    expect(stream.first('RunError')).toMatchObject(error);
  });

  test('a cancelled run replays what it had said', async () => {
    const { book, life, forget } = await aService();
    book.write('is cancelled', { chunks: ['Half of ', gate().opened, 'it'] });
    const stream = await life.stream({ message: 'is cancelled' });
    const { run_id: runId } = await stream.event('RunContent');
    await life.cancel(runId);
    await stream.end();
    await forget();
    const replay = await (await life.events(runId)).end();
    expect(names(replay)).toEqual(['RunStarted', 'RunContent', 'RunCancelled', 'RunCompleted']);
    expect(replay.content).toBe('Half of ');
  });

  test('a team replays the same under its names', async () => {
    const { service, forget } = await aService();
    const life = new RunLife(service, 'desk', 'teams');
    const { runId, last } = await finished(life, 'team it');
    await forget();
    const stream = await (await life.resume(runId)).end();
    expect(names(stream)).toEqual(['TeamRunStarted', 'TeamRunContent', 'TeamRunCompleted']);
    expect(stream.first('TeamRunContent')).toMatchObject({ team_id: 'desk', content: last.content });
    const { created_at: _at, ...end } = last;
    expect(stream.first('TeamRunCompleted')).toMatchObject(end);
  });

  test('a workflow replays its steps and its end', async () => {
    const { book, service, forget } = await aService();
    book.write('write it', 'a text');
    const life = new RunLife(service, 'press', 'workflows');
    const { runId, original, last } = await finished(life, 'write it');
    await forget();
    const stream = await (await life.resume(runId)).end();
    expect(names(stream)).toEqual([
      'WorkflowStarted',
      'StepStarted',
      'StepCompleted',
      'StepStarted',
      'StepOutput',
      'StepCompleted',
      'WorkflowCompleted',
    ]);
    const { created_at: _at, ...end } = last;
    expect(stream.first('WorkflowCompleted')).toMatchObject(end);
    const completed = original.filter(({ event }) => event === 'StepCompleted');
    const again = stream.all('StepCompleted');
    expect(again.map(({ step_name, content }) => [step_name, content])).toEqual([
      ['draft', 'a text'],
      ['loud', 'A TEXT'],
    ]);
    expect(again.map(({ step_id }) => step_id)).toEqual(completed.map(({ step_id }) => step_id));
  });

  test('the body of the run has them too, without the text, which is the content', async () => {
    const { life, forget } = await aService();
    const { runId } = await finished(life, 'body');
    const before = await life.stored(runId);
    await forget();
    const after = await life.stored(runId);
    expect(after.events.map(({ event }: Body) => event)).toEqual(['RunStarted', 'RunCompleted']);
    expect({ ...after, events: null }).toEqual({ ...before, events: null });
  });

  test('a request with the same Idempotency-Key gets the run from its start', async () => {
    const { service, book, forget } = await aService();
    const request = { headers: { 'idempotency-key': 'once' } };
    const first = await (await service.stream('a', { message: 'keyed' }, request)).end();
    await forget();
    const second = await (await service.stream('a', { message: 'keyed' }, request)).end();
    expect(second.names).toEqual(['RunStarted', 'RunContent', 'RunCompleted']);
    expect(second.content).toBe(first.content);
    expect(book.requests('keyed')).toHaveLength(1);
  });

  test('a WebSocket that comes back gets them', async () => {
    const { service, life, forget } = await aService();
    const { runId, last } = await finished(life, 'by socket');
    await forget();
    const client = await WsClient.connect(service.url, '/agents/ws');
    client.send({ action: 'reconnect', run_id: runId, agent_id: 'a', last_event_index: 0 });
    await client.event('RunCompleted');
    expect(client.names).toEqual(['connected', 'replay', 'RunStarted', 'RunContent', 'RunCompleted']);
    expect(client.events.at(-1)).toMatchObject({ content: last.content, event_index: last.event_index });
  });
});

test('the events of a run that waits for an answer stay', async () => {
  const { book, life, forget } = await aService();
  book.write('waits', { toolCalls: [payCall(5)] }, 'paid');
  const { runId, original } = await finished(life, 'waits');
  await forget();
  const stream = await (await life.resume(runId)).end();
  expect(eventsOf(stream)).toEqual(original);
});

test('a failed run that is continued after its events were removed replays what comes from there on', async () => {
  const { book, life, forget } = await aService();
  book.write('tries again', { error: 'No such model' }, 'Better.');
  const { runId, last } = await finished(life, 'tries again');
  await forget();
  const further = await (await life.continueStreamed(runId)).end();
  expect(further.names[0]).toBe('RunContinued');
  expect(further.events[0]!.event_index).toBe(last.event_index + 1);
  const stream = await (await life.resume(runId)).end();
  expect(eventsOf(stream)).toEqual(further.events);
});
