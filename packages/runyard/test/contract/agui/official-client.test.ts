import { randomUUID } from 'node:crypto';
import { type BaseEvent, HttpAgent, type RunAgentInput } from '@ag-ui/client';
import { EventSchema } from '@ag-ui/core/schemas';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, step, team, tool, workflow } from '../../../src/index.js';
import { agui } from '../../../src/interfaces.js';
import type { ScriptedTurn } from '../../../src/testing.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { type Gate, gate } from '../../support/until.js';

const book = new ScriptBook();
let door: Gate = gate();

const count = tool({
  name: 'count',
  description: 'Counts in the state',
  execute: (_given, { state, emit }) => {
    state.set('seen', Number(state.get('seen') ?? 0) + 1);
    emit({ name: 'counted', by: 1 });
    return 'counted';
  },
});
const linger = tool({
  name: 'linger',
  description: 'Takes its time',
  execute: async () => {
    await door.opened;
    return { done: true };
  },
});
const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: z.object({ cents: z.number() }),
  requiresConfirmation: true,
  execute: ({ cents }) => `paid ${cents}`,
});
const clerk = agent({ id: 'clerk', name: 'Clerk', model: book.model, tools: [count, linger, pay] });

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({
    agents: [clerk, agent({ id: 'stumbler', model: book.model, retries: 1 })],
    teams: [
      team({
        id: 'desk',
        name: 'Desk',
        model: book.model,
        members: [agent({ id: 'payer', name: 'Payer', model: book.model })],
      }),
    ],
    workflows: [
      workflow({
        id: 'letters',
        name: 'Letters',
        steps: [
          step({ name: 'draft', agent: clerk }),
          step({ name: 'send', run: ({ previousStepContent }) => `Sent: ${previousStepContent}` }),
        ],
      }),
    ],
    interfaces: [agui(), agui({ agent: clerk, prefix: '/one' })],
  });
});
afterAll(() => service.stop());

class ReturningAgent extends HttpAgent {
  protected override connect(input: RunAgentInput) {
    return new HttpAgent({ url: `${this.url}/connect` }).run(input);
  }
}

function clientOf(place = 'agents/clerk', threadId: string = randomUUID()): ReturningAgent {
  return new ReturningAgent({ url: `${service.url}/agui/${place}`, threadId });
}

function ask(client: HttpAgent, message: string, ...turns: ScriptedTurn[]): void {
  book.write(message, ...turns);
  client.addMessage({ id: randomUUID(), role: 'user', content: message });
}

/** Runs the client and returns what it received. Each event has the form that the protocol says. */
async function received(
  client: HttpAgent,
  parameters: Parameters<HttpAgent['runAgent']>[0] = {},
  how: 'runAgent' | 'connectAgent' = 'runAgent',
): Promise<Body[]> {
  const events: Body[] = [];
  const onEvent = ({ event }: { event: BaseEvent }) => {
    EventSchema.parse(event);
    events.push(event);
  };
  await client[how](parameters, { onEvent }).catch((error: unknown) => {
    if (events.at(-1)?.type !== 'RUN_ERROR') throw error;
  });
  return events;
}

const typesOf = (events: Body[]) => events.map(({ type }) => type).filter((type) => type !== 'RAW');
const calls = (name: string, given: Record<string, never> = {}, id = `call-${name}-${randomUUID()}`) => ({
  toolCalls: [{ name, id, arguments: given }],
});

test('text, a tool that changes the state, an event of the application, and usage', async () => {
  const client = clientOf();
  client.setState({ user: 'Ada' });
  ask(client, 'Count once', { ...calls('count'), chunks: ['Let me count.'] }, 'One.');
  const events = await received(client);
  expect(typesOf(events)).toEqual([
    'RUN_STARTED',
    'STATE_SNAPSHOT',
    ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
    ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'CUSTOM', 'TOOL_CALL_RESULT', 'STATE_DELTA'],
    ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
    'STATE_SNAPSHOT',
    'RUN_FINISHED',
  ]);
  expect(client.state).toEqual({ user: 'Ada', seen: 1 });
  expect(events.find(({ type }) => type === 'CUSTOM')).toMatchObject({ name: 'counted', value: { by: 1 } });
  expect(events.at(-1)).toMatchObject({
    outcome: { type: 'success' },
    usage: [{ model: expect.any(String) }],
  });
  expect(client.messages.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'Count once'],
    ['assistant', 'Let me count.'],
    ['tool', '"counted"'],
    ['assistant', 'One.'],
  ]);
});

test('tools of the page: the run waits for their results, and its context and files reach the model', async () => {
  const client = clientOf();
  const tools = [
    { name: 'show_map', description: 'Shows a map', parameters: { type: 'object', properties: {} } },
  ];
  book.write('Where?', calls('show_map'), 'There.');
  const source = { type: 'data' as const, value: 'iVBORw0KGgo=', mimeType: 'image/png' };
  client.addMessage({
    id: 'm1',
    role: 'user',
    content: [
      { type: 'text', text: 'Where?' },
      { type: 'image', source },
    ],
  });
  const events = await received(client, { tools });
  const { toolCallId } = events.find(({ type }) => type === 'TOOL_CALL_START') ?? {};
  expect(events.at(-1)?.outcome).toEqual({ type: 'success', pendingToolCallIds: [toolCallId] });
  expect(typesOf(events)).not.toContain('TEXT_MESSAGE_START');
  client.addMessage({ id: 'm2', role: 'tool', toolCallId, content: 'The map is there.' });
  expect((await received(client, { tools })).at(-1)?.outcome).toEqual({ type: 'success' });
  expect(client.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'There.' });
  expect(client.messages.filter(({ role }) => role === 'tool')).toHaveLength(1);
  const last = book.requests('Where?').at(-1);
  expect(last?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'The map is there.' });
  expect(last?.messages.some(({ media }) => media?.length === 1)).toBe(true);
  const other = clientOf();
  ask(other, 'Which place?');
  await received(other, { context: [{ description: 'place', value: '{"city":"Rome"}' }] });
  expect(JSON.stringify(book.model.requests.at(-1)?.messages)).toContain('Rome');
});

test('interrupts: an incomplete answer changes nothing, and all answers at once continue the run', async () => {
  const client = clientOf();
  const two = { toolCalls: [1, 2].map((n) => ({ name: 'pay', id: `pay-${n}`, arguments: { cents: n } })) };
  ask(client, 'Pay both', two, 'Both are paid.');
  const paused = await received(client);
  const { interrupts } = paused.at(-1)?.outcome ?? {};
  expect(interrupts).toMatchObject([
    { reason: 'confirmation', toolCallId: 'pay-1', responseSchema: { required: ['confirmed'] } },
    { reason: 'confirmation', toolCallId: 'pay-2' },
  ]);
  const entry = (at: number, payload: unknown) => ({
    interruptId: interrupts[at].id,
    status: 'resolved' as const,
    payload,
  });
  const partial = clientOf('agents/clerk', client.threadId);
  const refused = await received(partial, { resume: [entry(0, { confirmed: true })] });
  expect(refused).toMatchObject([{ type: 'RUN_ERROR', code: 'invalid_answer' }]);
  const resume = [entry(0, { confirmed: true }), entry(1, { confirmed: false, note: 'Too much' })];
  const ended = await received(client, { resume });
  expect(ended.filter(({ type }) => type === 'TOOL_CALL_START')).toEqual([]);
  expect(ended.at(-1)?.outcome).toEqual({ type: 'success' });
  expect(client.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Both are paid.' });
  expect(new Set(client.messages.map(({ id }) => id)).size).toBe(client.messages.length);
  // it waits for nothing now
  const again = await received(clientOf('agents/clerk', client.threadId), { resume });
  expect(again).toMatchObject([{ type: 'RUN_ERROR', code: 'run_not_found' }]);
});

const nothingElse = { tools: [], context: [], forwardedProps: null };

test('a request without what clients always send is refused with what is missing', async () => {
  const body = { threadId: randomUUID(), runId: randomUUID(), state: null };
  const [{ detail } = {}] = await posted('/one/agui', body);
  const named = ['messages', 'tools', 'context', 'forwardedProps'];
  expect(detail).toMatchObject(named.map((name) => ({ type: 'missing', loc: ['body', name] })));
  const nulled = { ...body, ...nothingElse, messages: [], tools: null };
  const [{ detail: wrong } = {}] = await posted('/one/agui', nulled);
  expect(wrong).toMatchObject([{ loc: ['body', 'tools'] }]);
});

test('an older client answers with tool messages, and receives no events that it does not know', async () => {
  const threadId = randomUUID();
  book.write('Pay one', calls('pay', { cents: 1 } as never, 'pay-old'), 'Paid.');
  const post = (messages: Body[]) =>
    posted('/one/agui', { threadId, runId: randomUUID(), messages, ...nothingElse });
  const asked = { id: 'u', role: 'user', content: 'Pay one' };
  const paused = await post([asked]);
  expect(typesOf(paused)).toEqual([
    'RUN_STARTED',
    ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
    ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'RUN_FINISHED'],
  ]);
  expect(paused.at(-1)?.outcome).toMatchObject({
    type: 'interrupt',
    interrupts: [{ toolCallId: 'pay-old' }],
  });
  const ended = await post([
    asked,
    { id: 't', role: 'tool', toolCallId: 'pay-old', content: '{"accepted":true}' },
  ]);
  expect(ended.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({ content: '"paid 1"' });
  expect(ended.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  book.write('Show it', calls('show'), 'Shown.');
  const shows = { threadId, runId: randomUUID(), messages: [{ ...asked, content: 'Show it' }] };
  const pending = await posted('/one/agui', {
    ...shows,
    ...nothingElse,
    tools: [{ name: 'show', description: '' }],
  });
  // the client 0.0.59 refuses `pendingToolCallIds`
  expect(pending.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  expect(pending.at(-1)?.outcome).not.toHaveProperty('pendingToolCallIds');
  const unknown = await post([asked, { id: 't', role: 'tool', toolCallId: 'none', content: 'x' }]);
  expect(unknown).toMatchObject([{ type: 'RUN_ERROR', message: expect.stringMatching(/^No paused run/) }]);
});

test('a failure is an error, and a cancelled run is no success', async () => {
  const client = clientOf();
  ask(client, 'Fail', { error: 'The model is broken' });
  expect((await received(client)).at(-1)).toMatchObject({
    type: 'RUN_ERROR',
    message: expect.stringContaining('The model is broken'),
  });
  door = gate();
  const other = clientOf();
  ask(other, 'Wait', calls('linger'), 'Done.');
  const running = received(other, { runId: 'to-cancel' });
  await expect
    .poll(() => posted('/agui/agents/clerk/cancel', { threadId: other.threadId }))
    .toMatchObject([{ run_id: 'to-cancel' }]);
  expect((await running).at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
  door.open();
});

test('a client that was cut off comes back: by the same request, and by connecting to its thread', async () => {
  door = gate();
  const client = clientOf();
  ask(client, 'Linger', { ...calls('linger'), text: 'One moment.' }, 'Here it is.');
  const runId = randomUUID();
  const heard = gate();
  const first = client.runAgent({ runId }, { onToolCallEndEvent: () => heard.open() });
  await heard.opened;
  client.abortRun();
  await first;
  const page = clientOf('agents/clerk', client.threadId);
  const connected = received(page, {}, 'connectAgent');
  const repeated = received(client, { runId });
  door.open();
  await Promise.all([connected, repeated]);
  const said = [
    ['user', 'Linger'],
    ['assistant', 'One moment.'],
    ['tool', '{"done":true}'],
    ['assistant', 'Here it is.'],
  ];
  for (const one of [client, page])
    expect(one.messages.map(({ role, content }) => [role, content])).toEqual(said);
  expect(book.requests('Linger')).toHaveLength(2);
  // a page that is opened later sees the same messages, with the same ids
  const later = clientOf('agents/clerk', client.threadId);
  await received(later, {}, 'connectAgent');
  expect(later.messages).toEqual(page.messages);
  // another message with the id of the run is no repetition
  const other = clientOf('agents/clerk', client.threadId);
  ask(other, 'Something else', 'No.');
  expect(await received(other, { runId })).toMatchObject([{ type: 'RUN_ERROR', code: 'run_exists' }]);
  expect(typesOf(await received(clientOf(), {}, 'connectAgent'))).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
});

test('what was said before the model is asked again is void', async () => {
  const client = clientOf('agents/stumbler');
  ask(client, 'Stumble', { chunks: ['Half an '], error: 'overloaded' }, 'Whole.');
  await received(client);
  expect(client.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)).toEqual([
    'Whole.',
  ]);
});

test('reasoning is shown before the answer', async () => {
  const client = clientOf();
  ask(client, 'Think', { reasoning: 'Let me see.', chunks: ['Four.'] });
  expect(typesOf(await received(client))).toEqual([
    ...['RUN_STARTED', 'STATE_SNAPSHOT'],
    ...['REASONING_START', 'REASONING_MESSAGE_START', 'REASONING_MESSAGE_CONTENT'],
    ...['REASONING_MESSAGE_END', 'REASONING_END'],
    ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'RUN_FINISHED'],
  ]);
});

test('members of a team and steps of a workflow are shown as what they are', async () => {
  const desk = clientOf('teams/desk');
  book.write('Do it', 'I did it.');
  ask(
    desk,
    'Have it done',
    calls('delegate_task_to_member', { member_id: 'payer', task: 'Do it' } as never),
    'It is done.',
  );
  const ofTeam = await received(desk);
  const { subagentRunId } = ofTeam.find(({ type }) => type === 'SUBAGENT_STARTED') ?? {};
  expect(ofTeam.find(({ type }) => type === 'SUBAGENT_FINISHED')).toMatchObject({ subagentRunId });
  expect(desk.messages.find(({ content }) => content === 'I did it.')).toMatchObject({ subagentRunId });
  expect(desk.messages.at(-1)).toMatchObject({ content: 'It is done.' });
  const letters = clientOf('workflows/letters');
  ask(letters, 'To Grace', 'Dear Grace');
  const ofWorkflow = await received(letters);
  const steps = ofWorkflow.filter(({ type }) => type === 'STEP_STARTED' || type === 'STEP_FINISHED');
  expect(steps.map(({ stepName }) => stepName)).toEqual(['draft', 'draft', 'send', 'send']);
  expect(letters.messages.find(({ role }) => role === 'activity')?.content).toEqual({
    steps: [
      { name: 'draft', status: 'completed' },
      { name: 'send', status: 'completed' },
    ],
  });
  expect(letters.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Sent: Dear Grace' });
});

test('what is invalid has a status, and streams allow no other origin', async () => {
  const { headers } = await send('/agui/agents/clerk', {
    threadId: 'x',
    runId: 'y',
    messages: [],
    ...nothingElse,
  });
  expect(headers.get('access-control-allow-origin')).toBeNull();
  expect(headers.get('content-type')).toContain('text/event-stream');
  expect((await send('/agui/agents/clerk', { messages: [] })).status).toBe(422);
  expect(
    (
      await send('/agui/agents/none', {
        threadId: 'x',
        runId: 'y',
        messages: [{ role: 'user', content: 'x' }],
        ...nothingElse,
      })
    ).status,
  ).toBe(404);
  expect(await (await fetch(`${service.url}/one/status`)).json()).toEqual({ status: 'available' });
  expect(() => agui({ agent: clerk, agents: [clerk] })).toThrow('not both');
  expect((await service.get('/config')).body.interfaces).toContainEqual({
    type: 'agui',
    version: '1.0',
    route: '/one',
  });
});

function send(path: string, body: Body): Promise<Response> {
  return fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function posted(path: string, body: Body): Promise<Body[]> {
  const text = await (await send(path, body)).text();
  if (text.startsWith('{')) return [JSON.parse(text)];
  const frames = text.split('\n').filter((line) => line.startsWith('data: '));
  return frames.map((line) => EventSchema.parse(JSON.parse(line.slice(6))));
}

test('a run id is followed only with the message that began the run, also without ids of messages', async () => {
  const place = { threadId: randomUUID(), runId: randomUUID(), protocolVersion: '1.0', ...nothingElse };
  book.write('Once', 'One.');
  const post = (content: string) => posted('/one/agui', { ...place, messages: [{ role: 'user', content }] });
  expect((await post('Once')).at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
  expect((await post('Once')).at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
  expect(await post('Twice')).toMatchObject([{ type: 'RUN_ERROR', code: 'run_exists' }]);
});

test('a client that comes back with a state that the thread does not have gets the one of the thread', async () => {
  const client = clientOf();
  ask(client, 'Stateless', 'Yes.');
  await received(client);
  client.setState({ stale: true });
  await received(client, {}, 'connectAgent');
  expect(client.state).toEqual({});
});

test('files that a run made are an activity, in the stream and for a client that comes back', async () => {
  const client = clientOf();
  ask(client, 'Draw', {
    text: 'Look.',
    media: [
      { mimeType: 'image/png', bytes: new Uint8Array([1, 2]) },
      { mimeType: 'text/plain', bytes: new TextEncoder().encode('hi') },
    ],
  });
  await received(client);
  const activity = {
    role: 'activity',
    activityType: 'runyard.media',
    content: {
      parts: [
        { type: 'image', source: { type: 'data', value: 'AQI=', mimeType: 'image/png' } },
        { type: 'document', source: { type: 'data', value: 'aGk=', mimeType: 'text/plain' } },
      ],
    },
  };
  expect(client.messages.at(-1)).toMatchObject(activity);
  const back = clientOf('agents/clerk', client.threadId);
  await received(back, {}, 'connectAgent');
  expect(back.messages.at(-1)).toMatchObject(activity);
});
