import { randomUUID } from 'node:crypto';
import { Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, step, team, tool, workflow } from '../../../src/index.js';
import { a2a } from '../../../src/interfaces.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { type Gate, gate } from '../../support/until.js';

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
const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: z.object({ cents: z.number() }),
  requiresConfirmation: true,
  execute: ({ cents }) => `paid ${cents}`,
});
const clerk = agent({ id: 'clerk', name: 'Clerk', model: book.model, tools: [linger, pay] });

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({
    agents: [clerk],
    teams: [
      team({
        id: 'desk',
        name: 'Desk',
        model: book.model,
        members: [agent({ id: 'payer', model: book.model, tools: [pay] })],
      }),
    ],
    workflows: [workflow({ id: 'letters', name: 'Letters', steps: [step({ name: 'draft', agent: clerk })] })],
    interfaces: [a2a()],
  });
});
afterAll(() => service.stop());

const legacy = { legacyCompat: { enabled: true } };

/** The bindings of the official client, with where each is served. */
const modes = [
  { name: '1.0 over JSON-RPC', binding: 'JSONRPC', version: '1.0', path: '' },
  { name: '1.0 over HTTP+JSON', binding: 'HTTP+JSON', version: '1.0', path: '' },
  { name: '0.3 over JSON-RPC', binding: 'JSONRPC', version: '0.3', path: '/v1/message:stream' },
  { name: '0.3 over HTTP+JSON', binding: 'HTTP+JSON', version: '0.3', path: '' },
] as const;
type Mode = (typeof modes)[number];

function clientOf({ binding, version, path }: Mode, place = 'agents/clerk'): Promise<Client> {
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(legacy), new RestTransportFactory(legacy)],
  });
  const url = `${service.url}/a2a/${place}${path}`;
  return factory.createFromAgentCard({
    name: 'Clerk',
    description: '',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: version, tenant: '' }],
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
    provider: undefined,
  });
}

function sending(text: string, more: Body = {}, configuration: Body = {}): Body {
  const part = { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' };
  return {
    tenant: '',
    message: {
      messageId: randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [part],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...more,
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      historyLength: undefined,
      returnImmediately: false,
      ...configuration,
    },
    metadata: undefined,
  };
}

const dataPart = (value: unknown) => ({
  content: { $case: 'data', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
});

/** What a task answers: an artifact in 1.0, a message in 0.3. */
function answerIn(task: Task): string {
  const parts = [...task.artifacts, ...task.history.filter(({ role }) => role === Role.ROLE_AGENT)];
  return parts
    .flatMap(({ parts: all }) =>
      all.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])),
    )
    .join('');
}

async function eventsOf(stream: AsyncIterable<StreamResponse>): Promise<Body[]> {
  const events: Body[] = [];
  for await (const { payload } of stream) events.push(payload);
  return events;
}

const statesOf = (events: Body[]) =>
  events.filter(({ $case }) => $case === 'statusUpdate').map(({ value }) => value.status.state);

describe.each(modes.map((mode) => [mode.name, mode] as const))('%s', (_name, mode) => {
  const isFirst = mode.version === '1.0';

  test('sends, and finds the task by its id alone', async () => {
    const client = await clientOf(mode);
    const message = sending(book.write(`Hello ${mode.name}`, 'Hello, Ada.'));
    const task = (await client.sendMessage(message)) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answerIn(task)).toBe('Hello, Ada.');
    const [input] = task.history;
    expect(input).toMatchObject({ messageId: message.message.messageId, role: Role.ROLE_USER });
    const again = await client.getTask({ tenant: '', id: task.id });
    expect(again).toEqual(task);
    expect((await client.getTask({ tenant: '', id: task.id, historyLength: 1 })).history).toHaveLength(1);
  });

  test('streams pieces, and the end', async () => {
    const client = await clientOf(mode);
    const text = book.write(`Slowly ${mode.name}`, { chunks: ['Once ', 'upon ', 'a time'] });
    const events = await eventsOf(client.sendMessageStream(sending(text)));
    const kinds = events.map(({ $case }) => $case);
    if (isFirst) {
      expect(kinds[0]).toBe('task');
      const pieces = events.filter(({ $case }) => $case === 'artifactUpdate').map(({ value }) => value);
      expect(pieces.map(({ append }) => append)).toEqual([false, true, true, true].slice(0, pieces.length));
      expect(pieces.at(-1).lastChunk).toBe(true);
      expect(
        pieces.flatMap(({ artifact }) => artifact.parts.map((part: Body) => part.content.value)).join(''),
      ).toBe('Once upon a time');
      expect(kinds.at(-1)).toBe('statusUpdate');
    } else {
      expect(kinds.slice(-2)).toEqual(['statusUpdate', 'task']);
      const said = events.filter(({ $case }) => $case === 'message').map(({ value }) => value);
      expect(said.map(({ parts }) => parts[0].content.value).join('')).toBe('Once upon a time');
      expect(new Set(said.map(({ messageId }) => messageId)).size).toBe(1);
    }
    expect(statesOf(events)).toEqual([TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED]);
  });

  test('a pause is input-required, and a data part answers it', async () => {
    const client = await clientOf(mode);
    const paying = { toolCalls: [{ name: 'pay', id: 'call-1', arguments: { cents: 5 } }] };
    const text = book.write(`Pay ${mode.name}`, paying, 'It is paid.');
    const events = await eventsOf(client.sendMessageStream(sending(text)));
    expect(statesOf(events).at(-1)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const { taskId, contextId, status } = events.filter(({ $case }) => $case === 'statusUpdate').at(-1).value;
    const [said, data] = status.message.parts;
    expect(said.content.value).toContain("'pay'");
    expect(data.content.value.requirements).toMatchObject([{ tool_execution: { tool_call_id: 'call-1' } }]);
    await expect(client.sendMessage(sending('Perhaps', { taskId }))).rejects.toThrow(/data part/);
    const answer = sending('', {
      taskId,
      contextId,
      parts: [dataPart({ tool_call_id: 'call-1', confirmed: true })],
    });
    const task = (await client.sendMessage(answer)) as Task;
    expect(task).toMatchObject({ id: taskId, status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(answerIn(task)).toBe('It is paid.');
    await expect(client.sendMessage(answer)).rejects.toThrow(/waits for no answer/);
  });

  test('a drop does not end the run, and the client subscribes again', async () => {
    door = gate();
    const client = await clientOf(mode);
    const text = book.write(
      `Wait ${mode.name}`,
      { toolCalls: [{ name: 'linger', id: 'call-1', arguments: {} }] },
      'At last.',
    );
    const left = new AbortController();
    let taskId = '';
    const reading = (async () => {
      for await (const { payload } of client.sendMessageStream(sending(text), { signal: left.signal })) {
        const value: Body = payload?.value;
        taskId = value.taskId || value.id;
        if (value.metadata?.tool_name === 'linger') left.abort();
      }
    })();
    await expect(reading).rejects.toThrow();
    const events: Body[] = [];
    for await (const { payload } of client.resubscribeTask({ tenant: '', id: taskId })) {
      events.push(payload);
      door.open();
    }
    expect(statesOf(events).at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answerIn(await client.getTask({ tenant: '', id: taskId }))).toBe('At last.');
    await expect(eventsOf(client.resubscribeTask({ tenant: '', id: taskId }))).rejects.toThrow(/Get it/);
  });

  test('an immediate answer is a task that is canceled once', async () => {
    door = gate();
    const client = await clientOf(mode);
    const text = book.write(`Stop ${mode.name}`, {
      toolCalls: [{ name: 'linger', id: 'call-1', arguments: {} }],
    });
    const task = (await client.sendMessage(sending(text, {}, { returnImmediately: true }))) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
    const canceled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    expect(canceled).toMatchObject({ id: task.id, status: { state: TaskState.TASK_STATE_CANCELED } });
    await expect(client.cancelTask({ tenant: '', id: task.id, metadata: undefined })).rejects.toThrow(
      /canceled/,
    );
    door.open();
  });

  test('a failure is failed, with what went wrong', async () => {
    const client = await clientOf(mode);
    const text = book.write(`Break ${mode.name}`, { error: 'The model is broken' });
    const events = await eventsOf(client.sendMessageStream(sending(text)));
    expect(statesOf(events).at(-1)).toBe(TaskState.TASK_STATE_FAILED);
    const { status } = events.filter(({ $case }) => $case === 'statusUpdate').at(-1).value;
    expect(status.message.parts[0].content.value).toContain('The model is broken');
  });

  test('an unknown task is not found', async () => {
    const client = await clientOf(mode);
    await expect(client.getTask({ tenant: '', id: 'nobody' })).rejects.toMatchObject({
      name: 'TaskNotFoundError',
    });
    await expect(client.cancelTask({ tenant: '', id: 'nobody', metadata: undefined })).rejects.toMatchObject({
      name: 'TaskNotFoundError',
    });
  });
});

test('where no one proves who they are, the client names the user', async () => {
  const client = await clientOf(modes[0]);
  const message = sending(book.write('I am Ada', 'Hello.'), { metadata: { userId: 'ada', theme: 'dark' } });
  const task = (await client.sendMessage(message)) as Task;
  const { body } = await service.get(`/agents/clerk/runs/${task.id}`);
  expect(body).toMatchObject({ user_id: 'ada', metadata: { theme: 'dark' } });
  expect(task.metadata).toEqual({ theme: 'dark' });
});
