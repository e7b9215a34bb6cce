import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, step, tool, workflow } from '../../../src/index.js';
import { a2a } from '../../../src/interfaces.js';
import { Gatehouse, type Holder } from '../../support/clients/tokens.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Body } from '../../support/service.js';
import { type Gate, gate } from '../../support/until.js';

/* What the older interface of AgentOS got wrong, and what its clients and those of each version need. */

const book = new ScriptBook();
let door: Gate = gate();
const linger = tool({
  name: 'linger',
  description: 'Takes its time',
  execute: async () => {
    await door.opened;
    return 'done';
  },
});
const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, execute: () => 'paid' });
const clerk = agent({ id: 'clerk', name: 'Clerk', model: book.model, tools: [linger, pay] });
const hidden = agent({ id: 'hidden', model: book.model });
const letters = workflow({
  id: 'letters',
  steps: [
    step({ name: 'draft', agent: clerk }),
    step({ name: 'send', run: ({ previousStepContent }) => `Sent: ${previousStepContent}` }),
  ],
});
const reviewed = workflow({
  id: 'reviewed',
  steps: [
    step({ name: 'draft', run: () => 'Dear Grace' }),
    step({
      name: 'send',
      review: { requiresConfirmation: true, confirmationMessage: 'Send it?' },
      run: () => 'Sent.',
    }),
  ],
});

let house: Gatehouse;
let ada: Holder;
let eve: Holder;
beforeAll(async () => {
  const interfaces = [a2a({ agents: [clerk], workflows: ['letters', reviewed], prefix: '/partners' })];
  house = await Gatehouse.shared({ agents: [clerk, hidden], workflows: [letters, reviewed], interfaces });
  [ada, eve] = await Promise.all([house.person('ada'), house.person('eve')]);
});
afterAll(() => house.service.stop());

const clerkAt = '/partners/agents/clerk';
const lettersAt = '/partners/workflows/letters';
let requests = 0;

/** Sends a body as a client does, and reads JSON or the data of all frames. */
async function post(
  path: string,
  body: unknown,
  { headers } = ada,
): Promise<{ status: number; body: Body; names: string[] }> {
  const response = await fetch(house.service.url + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const { status } = response;
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return { status, body: JSON.parse(text), names: [] };
  const lines = (start: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(start))
      .map((line) => line.slice(start.length));
  return { status, body: lines('data: ').map((line) => JSON.parse(line)), names: lines('event: ') };
}

const envelope = (params: Body, method?: string) => ({
  jsonrpc: '2.0',
  id: `r${++requests}`,
  ...(method && { method }),
  params,
});
const rpc = async (method: string, params: Body, by = ada, at = clerkAt) =>
  (await post(at, envelope(params, method), by)).body;
const said = (text: string, more: Body = {}) => ({
  messageId: 'm1',
  role: 'ROLE_USER',
  parts: [{ text }],
  ...more,
});
const agentosMessage = (text: string, more: Body = {}) => ({
  message: { messageId: 'm1', role: 'user', parts: [{ kind: 'text', text }], ...more },
});
const lingering = { toolCalls: [{ name: 'linger', id: 'call-1', arguments: {} }] };

describe('clients of AgentOS', () => {
  test('send without a method and get a task whose messages stay the same', async () => {
    const message = agentosMessage(book.write('Hello', 'Hello, Ada.'), { contextId: 'ctx-1' });
    const sent = await post(`${clerkAt}/v1/message:send`, envelope(message));
    expect(sent.status).toBe(200);
    expect(sent.body).toMatchObject({
      jsonrpc: '2.0',
      id: `r${requests}`,
      result: {
        kind: 'task',
        contextId: 'ctx-1',
        status: { state: 'completed', timestamp: expect.any(String) },
        history: [
          { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'Hello' }] },
          {
            kind: 'message',
            role: 'agent',
            parts: [{ kind: 'text', text: 'Hello, Ada.' }],
            metadata: { userId: 'ada' },
          },
        ],
      },
    });
    expect(JSON.stringify(sent.body)).not.toContain('null');
    const { result } = sent.body;
    const got = await post(`${clerkAt}/v1/tasks:get`, envelope({ id: result.id }));
    expect(got.body.result).toEqual(result);
    const elsewhere = await post(`${clerkAt}/v1/tasks:get`, envelope({ id: result.id, contextId: 'ctx-2' }));
    expect([elsewhere.status, elsewhere.body.detail]).toEqual([404, 'Task not found']);
  });

  test('stream frames with names, and stop at the final one', async () => {
    const message = agentosMessage(book.write('Tell me', { chunks: ['Once ', 'upon'] }));
    const { body, names } = await post(`${clerkAt}/v1/message:stream`, envelope(message, 'message/stream'));
    expect(names).toEqual([
      'TaskStatusUpdateEvent',
      ...names.slice(1, -2).map(() => 'Message'),
      'TaskStatusUpdateEvent',
      'Task',
    ]);
    const results = body.map(({ result }: Body) => result);
    expect(results.filter(({ final }: Body) => final)).toMatchObject([{ status: { state: 'completed' } }]);
    const pieces = results.filter(({ kind }: Body) => kind === 'message');
    expect(pieces[0].metadata).toEqual({ agno_content_category: 'content' });
    expect(pieces.map(({ parts }: Body) => parts[0].text).join('')).toBe('Once upon');
    expect(results.at(-1).history.at(-1)).toMatchObject({
      parts: [{ text: 'Once upon' }],
      metadata: { metrics: {} },
    });
  });

  test('poll a run that they did not wait for, and cancel one before it begins', async () => {
    const message = { ...agentosMessage(book.write('Soon', 'Now.')), configuration: { blocking: false } };
    const started = await post(`${lettersAt}/v1/message:send`, envelope(message));
    expect([started.status, started.body.result.status.state]).toEqual([202, 'submitted']);
    const { id } = started.body.result;
    const poll = () => post(`${lettersAt}/v1/tasks:get`, envelope({ id }));
    await expect.poll(async () => (await poll()).body.result.status.state).toBe('completed');
    const early = await post(`${clerkAt}/v1/tasks:cancel`, envelope({ id: 'not-yet', contextId: 'ctx' }));
    expect([early.status, early.body.result.status.state]).toEqual([200, 'canceled']);
    const late = await post(`${lettersAt}/v1/tasks:cancel`, envelope({ id }));
    expect([late.status, late.body.error_code]).toEqual([400, 'task_not_cancelable']);
  });

  test('name the component in the message or in a header, on the deprecated path', async () => {
    const at = '/partners/message/send';
    const named = await post(
      at,
      envelope(agentosMessage(book.write('By name', 'Yes.'), { agentId: 'clerk' })),
    );
    expect(named.body.result.status.state).toBe('completed');
    const byHeader = { headers: { ...ada.headers, 'x-agent-id': 'letters' } } as unknown as Holder;
    expect((await post(at, envelope(agentosMessage('By header')), byHeader)).body.result.status.state).toBe(
      'completed',
    );
    const nameless = await post(at, envelope(agentosMessage('To nobody')));
    expect([nameless.status, nameless.body.error_code]).toEqual([400, 'invalid_a2a_request']);
    expect(nameless.body.detail).toContain('Entity ID required');
    const unknown = await post(at, envelope(agentosMessage('x', { agentId: 'zzz' })));
    expect([unknown.status, unknown.body.detail]).toEqual([
      404,
      "Agent, Team, or Workflow with ID 'zzz' not found",
    ]);
  });

  test('read errors as the REST API has them', async () => {
    const at = `${clerkAt}/v1/message:send`;
    const cases: [unknown, number, string | RegExp][] = [
      ['{"jsonrpc":', 400, /JSON/],
      [{ jsonrpc: '2.0', params: agentosMessage('x') }, 400, /id must be/],
      [envelope({}), 400, /message is required/],
      [envelope({ message: { ...said('x'), role: 'agent' } }), 400, 'Only user messages are accepted'],
    ];
    for (const [body, status, detail] of cases) {
      const answer = await post(at, body);
      expect(answer.status).toBe(status);
      expect(answer.body.detail).toMatch(detail);
    }
    const unknown = await post('/partners/agents/zzz/v1/message:send', envelope(agentosMessage('x')));
    expect([unknown.status, unknown.body.detail]).toEqual([404, 'Agent not found']);
  });
});

describe('protocol 1.0', () => {
  test('errors have the codes of the protocol', async () => {
    const codeOf = async (body: unknown) => (await post(clerkAt, body)).body.error.code;
    expect(await codeOf('{')).toBe(-32700);
    expect(await codeOf([])).toBe(-32600);
    expect(await codeOf({ jsonrpc: '1.0', id: 1, method: 'GetTask', params: {} })).toBe(-32600);
    expect(await codeOf(envelope({}, 'Dance'))).toBe(-32601);
    expect(await codeOf(envelope({}, 'GetTask'))).toBe(-32602);
    expect(await codeOf(envelope({ message: said('x', { parts: [] }) }, 'SendMessage'))).toBe(-32602);
    expect(
      await codeOf(envelope({ message: said('x', { contextId: 'x'.repeat(300) }) }, 'SendMessage')),
    ).toBe(-32602);
    expect(await codeOf(envelope({ id: 'x' }, 'ListTaskPushNotificationConfigs'))).toBe(-32003);
    const { error } = await rpc('GetTask', { id: 'nobody' });
    expect(error).toMatchObject({
      code: -32001,
      data: [{ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }],
    });
    const rest = await fetch(`${house.service.url}${clerkAt}/tasks/nobody`, { headers: ada.headers });
    expect(rest.status).toBe(404);
    expect(await rest.json()).toMatchObject({
      error: { code: 404, status: 'NOT_FOUND', details: [{ reason: 'TASK_NOT_FOUND' }] },
    });
    const other = await fetch(`${house.service.url}${clerkAt}/tasks`, {
      headers: { ...ada.headers, 'A2A-Version': '2.0' },
    });
    expect(await other.json()).toMatchObject({ error: { details: [{ reason: 'VERSION_NOT_SUPPORTED' }] } });
  });

  test('files reach the model, data stays data, and files that are made are artifacts', async () => {
    const png = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
    const text = book.write('Look at this\n{"size":3}', {
      text: 'A picture.',
      media: [{ mimeType: 'image/png', bytes: Buffer.from('made') }],
    });
    const parts = [
      { text: 'Look at this' },
      { data: { size: 3 } },
      { raw: png, mediaType: 'image/png', filename: 'a.png' },
      { url: 'https://example.com/b.pdf', mediaType: 'application/pdf' },
    ];
    const { result } = await rpc('SendMessage', { message: said('', { parts, messageId: 'with-files' }) });
    const media = book.requests(text)[0]?.messages.at(-1)?.media;
    expect(media).toMatchObject([
      { kind: 'image', mimeType: 'image/png', filename: 'a.png', size: 8 },
      { kind: 'file', url: 'https://example.com/b.pdf' },
    ]);
    const { task } = result;
    expect(task.history[0].parts).toMatchObject([
      { text: 'Look at this' },
      { data: { size: 3 } },
      { url: 'https://example.com/b.pdf' },
    ]);
    expect(task.artifacts).toMatchObject([
      { artifactId: 'answer', parts: [{ text: 'A picture.' }] },
      {
        artifactId: 'image_0',
        parts: [{ raw: Buffer.from('made').toString('base64'), mediaType: 'image/png' }],
      },
    ]);
    const bad = await rpc('SendMessage', {
      message: said('', { parts: [{ raw: '§', mediaType: 'image/png' }] }),
    });
    expect(bad.error).toMatchObject({ code: -32602, message: expect.stringContaining('base64') });
  });

  test('the stream of a workflow keeps the id of its task, and ends with the answer', async () => {
    const message = said(book.write('Write to Grace', { chunks: ['Dear ', 'Grace'] }));
    const { body } = await post(lettersAt, envelope({ message }, 'SendStreamingMessage'));
    const results = body.map(({ result }: Body) => result);
    const { id } = results[0].task;
    const updates = results.slice(1).map((one: Body) => one.statusUpdate ?? one.artifactUpdate);
    expect(new Set(updates.map(({ taskId }: Body) => taskId))).toEqual(new Set([id]));
    const names = updates.flatMap(({ artifact }: Body) => (artifact ? [artifact.name] : []));
    expect(names.slice(0, 2)).toEqual(['Clerk', 'Clerk']);
    expect(updates.at(-2)).toMatchObject({
      artifact: { name: 'answer', parts: [{ text: 'Sent: Dear Grace' }] },
      lastChunk: true,
    });
    expect(updates.at(-1).status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('a paused task is canceled, and stays so', async () => {
    const paying = { toolCalls: [{ name: 'pay', id: 'call-1', arguments: {} }] };
    const { result } = await rpc('SendMessage', { message: said(book.write('Pay', paying)) });
    expect(result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const { id } = result.task;
    expect((await rpc('CancelTask', { id })).result.status.state).toBe('TASK_STATE_CANCELED');
    expect((await ada.get(`/agents/clerk/runs/${id}`)).body.status).toBe('cancelled');
    expect((await rpc('SubscribeToTask', { id })).error.code).toBe(-32004);
    expect((await rpc('CancelTask', { id })).error.code).toBe(-32002);
    const late = { message: said('Yes.', { taskId: id }) };
    expect((await rpc('SendMessage', late)).error.code).toBe(-32004);
  });

  test('yes is an answer to one confirmation', async () => {
    const paying = { toolCalls: [{ name: 'pay', id: 'call-1', arguments: {} }] };
    const { result } = await rpc('SendMessage', { message: said(book.write('Pay again', paying, 'Done.')) });
    const { id: taskId, contextId } = result.task;
    const answered = await rpc('SendMessage', { message: said('Yes.', { taskId, contextId }) });
    expect(answered.result.task).toMatchObject({ id: taskId, artifacts: [{ parts: [{ text: 'Done.' }] }] });
  });

  test('a workflow asks its question, and not the output of the step before', async () => {
    const { body } = await post(
      '/partners/workflows/reviewed',
      envelope({ message: said('Write') }, 'SendMessage'),
    );
    const [text] = body.result.task.status.message.parts;
    expect(text).toEqual({ text: "The workflow waits at the step 'send'.\nSend it?" });
  });

  test('the list has pages, and only what the caller may see', async () => {
    const context = 'listed';
    for (const text of ['One', 'Two', 'Three'])
      await rpc('SendMessage', { message: said(book.write(text, text), { contextId: context }) }, eve);
    const list = async (params: Body, by = eve) =>
      (await rpc('ListTasks', { contextId: context, ...params }, by)).result;
    const first = await list({ pageSize: 2, includeArtifacts: true });
    expect(first).toMatchObject({ pageSize: 2, totalSize: 3 });
    const second = await list({ pageSize: 2, includeArtifacts: true, pageToken: first.nextPageToken });
    expect(second.nextPageToken).toBe('');
    const texts = [...first.tasks, ...second.tasks].map(({ artifacts }) => artifacts[0].parts[0].text);
    expect(texts).toEqual(['Three', 'Two', 'One']);
    expect((await list({})).tasks[0].artifacts).toBeUndefined();
    expect((await list({ status: 'TASK_STATE_FAILED' })).tasks).toEqual([]);
    expect((await list({ statusTimestampAfter: first.tasks[0].status.timestamp })).tasks).toEqual([]);
    expect((await list({}, ada)).totalSize).toBe(0);
    const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const pageToken of ['mine', token([1e300, 'x']), token([1.5, 'x']), token([1, 2])])
      expect((await rpc('ListTasks', { pageToken }, eve)).error.code).toBe(-32602);
    expect((await list({ pageSize: 3 })).nextPageToken).toBe('');
    expect((await rpc('ListTasks', { pageSize: 101 }, eve)).error.code).toBe(-32602);
  });
});

describe('callers', () => {
  test('no one finds the task of another user', async () => {
    door = gate();
    const { result } = await rpc('SendMessage', {
      message: said(book.write('Mine', lingering)),
      configuration: { returnImmediately: true },
    });
    const { id } = result.task;
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
      expect((await rpc(method, { id }, eve)).error.code).toBe(-32001);
    expect((await rpc('SendMessage', { message: said('Yes', { taskId: id }) }, eve)).error.code).toBe(-32001);
    expect((await rpc('CancelTask', { id })).result.status.state).toBe('TASK_STATE_CANCELED');
    door.open();
  });

  test('need the scopes of the REST API', async () => {
    const reader = await house.person('ada', ['agents:clerk:read']);
    const sending = await post(clerkAt, envelope({ message: said('x') }, 'SendMessage'), reader);
    expect([sending.status, typeof sending.body.detail]).toEqual([403, 'string']);
    expect((await post(clerkAt, envelope({ id: 'x' }, 'CancelTask'), reader)).status).toBe(403);
    expect((await post(clerkAt, envelope({ id: 'x' }, 'GetTask'), reader)).body.error.code).toBe(-32001);
    const stranger = { headers: {} } as unknown as Holder;
    expect((await post(clerkAt, envelope({ id: 'x' }, 'GetTask'), stranger)).status).toBe(401);
  });

  test('see only what is chosen', async () => {
    const answer = await post('/partners/agents/hidden', envelope({ message: said('x') }, 'SendMessage'));
    expect(answer).toMatchObject({
      status: 404,
      body: { detail: 'Agent not found', error: { code: -32602 } },
    });
    expect((await ada.get('/config')).body.interfaces).toContainEqual({
      type: 'a2a',
      version: '1.0',
      route: '/partners',
    });
  });
});

/** A request that is right, with one value after the other replaced by each of these. */
const wrong: readonly unknown[] = [
  null,
  7,
  -1,
  '',
  'x',
  true,
  [],
  [[]],
  [null],
  {},
  { toString: 1 },
  { $case: 'text' },
];

function* mutations(value: Body): Generator<Body> {
  yield* wrong;
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value))
    for (const inner of mutations(value[key]))
      yield Array.isArray(value) ? [inner] : { ...value, [key]: inner };
}

test('no body makes the service fail, whatever is wrong in it', async () => {
  const message = {
    ...said('x', { taskId: 't', contextId: 'c', metadata: {} }),
    parts: [{ data: {}, mediaType: 'a/b' }],
  };
  const params = { message, configuration: { historyLength: 1, returnImmediately: true } };
  const bodies = [
    ...mutations(envelope(params, 'SendMessage')),
    ...mutations(envelope({ id: 'x', pageToken: 'WzEsMl0' }, 'ListTasks')),
  ];
  const paths = [
    clerkAt,
    `${clerkAt}/v1/message:send`,
    `${clerkAt}/message:stream`,
    `${clerkAt}/v1/tasks:cancel`,
  ];
  const answers = await Promise.all(
    bodies.map((body, at) => post(paths[at % paths.length]!, body ?? 'null')),
  );
  const failed = answers.filter(({ status }) => status >= 500);
  expect(failed).toEqual([]);
  expect(house.service.logged.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a misspelt option, a prefix that is no path and a hidden default are refused', () => {
  expect(() => a2a({ agent: [clerk] } as never)).toThrow(/Did you mean agents/);
  expect(() => a2a({ prefix: 'a2a' })).toThrow(/prefix is 'a2a'/);
  expect(() => a2a({ agents: ['clerk'], defaultComponent: { agent: 'other' } })).toThrow(/does not name/);
  expect(() => a2a({ defaultComponent: {} })).toThrow(/names one/);
});
