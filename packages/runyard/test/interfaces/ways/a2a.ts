import { randomUUID } from 'node:crypto';
import {
  type AgentCard,
  type Message,
  type Part,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import { JsonRpcTransportFactory, RestTransportFactory, type Transport } from '@a2a-js/sdk/client';
import type { Body } from '../../support/service.js';
import { until } from '../../support/until.js';
import {
  type Asked,
  type Client,
  type Following,
  type Person,
  Refused,
  type Seen,
  type Way,
} from '../way.js';

/** The official client in each of its modes. All of them give it the same values. */
export const a2aWays: readonly Way[] = [
  a2aWay('A2A 1.0, JSON-RPC', JsonRpcTransportFactory, 'JSONRPC', '1.0', false),
  a2aWay('A2A 1.0, HTTP+JSON', RestTransportFactory, 'HTTP+JSON', '1.0'),
  a2aWay('A2A 0.3, JSON-RPC', JsonRpcTransportFactory, 'JSONRPC', '0.3'),
  a2aWay('A2A 0.3, REST', RestTransportFactory, 'HTTP+JSON', '0.3'),
];

function a2aWay(
  name: string,
  Factory: typeof JsonRpcTransportFactory | typeof RestTransportFactory,
  protocolBinding: string,
  protocolVersion: string,
  isVariant = true,
): Way {
  return {
    name,
    news: ['text', 'tool'],
    isVariant,
    open({ url: service, headers }: Person) {
      const fetchImpl: typeof fetch = (url, init) =>
        fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers } });
      const factory = new Factory({ fetchImpl, legacyCompat: { enabled: true } });
      return new A2aClient((asked) => {
        const url = `${service}/a2a/${asked.plural}/${asked.id}`;
        const supportedInterfaces = [{ url, protocolBinding, protocolVersion, tenant: '' }];
        // the factory reads nothing else of a card
        return factory.create(url, { supportedInterfaces } as unknown as AgentCard);
      });
    },
  };
}

class A2aClient implements Client {
  constructor(private readonly to: (asked: Asked) => Promise<Transport>) {}

  start(asked: Asked): Following {
    const connection = new AbortController();
    const received: StreamResponse[] = [];
    const rested = this.stream(asked, connection.signal, received);
    rested.catch(() => {});
    return {
      rested,
      receives: (news) => until(`the client receives ${news}`, () => received.some(isNews[news])),
      drop: () => connection.abort(),
    };
  }

  private async stream(asked: Asked, signal: AbortSignal, received: StreamResponse[]): Promise<Seen> {
    const transport = await this.to(asked);
    const message = messageOf(asked, [textPart(asked.message)]);
    return refusing(() =>
      seenInStream(transport.sendMessageStream(requestOf(message), { signal }), received),
    );
  }

  async answer(asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen> {
    const transport = await this.to(asked);
    const message = { ...messageOf(asked, [dataPart({ requirements })]), taskId: runId };
    return refusing(async () => {
      const sent = await transport.sendMessage(requestOf(message));
      if (!('status' in sent)) throw new Error('A run was answered with a message.');
      return seenInTask(sent);
    });
  }

  async cancel(asked: Asked, runId: string): Promise<void> {
    const transport = await this.to(asked);
    await refusing(() => transport.cancelTask({ id: runId, tenant: '', metadata: undefined }));
  }

  /** A task that has ended cannot be subscribed to. */
  async comeBack(asked: Asked, runId: string): Promise<Seen> {
    const transport = await this.to(asked);
    try {
      return await refusing(() => seenInStream(transport.resubscribeTask({ id: runId, tenant: '' }), []));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return seenInTask(await refusing(() => transport.getTask({ id: runId, tenant: '' })));
    }
  }
}

const isNews = {
  text: ({ payload }: StreamResponse) => payload?.$case === 'artifactUpdate' || payload?.$case === 'message',
  tool: ({ payload }: StreamResponse) =>
    payload?.$case === 'statusUpdate' &&
    [payload.value.metadata?.event_type, payload.value.metadata?.agno_event_type].includes(
      'tool_call_started',
    ),
};

function requestOf(message: Message) {
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

function messageOf(asked: Asked, parts: Part[]): Message {
  return {
    messageId: randomUUID(),
    contextId: asked.sessionId,
    taskId: '',
    role: Role.ROLE_USER,
    parts,
    metadata: asked.factoryInput && { factoryInput: asked.factoryInput },
    extensions: [],
    referenceTaskIds: [],
  };
}

const partFacts = { metadata: undefined, filename: '', mediaType: '' };
const textPart = (value: string): Part => ({ ...partFacts, content: { $case: 'text', value } });
const dataPart = (value: unknown): Part => ({ ...partFacts, content: { $case: 'data', value } });

const statuses: Readonly<Partial<Record<TaskState, string>>> = {
  [TaskState.TASK_STATE_COMPLETED]: 'completed',
  [TaskState.TASK_STATE_INPUT_REQUIRED]: 'paused',
  [TaskState.TASK_STATE_FAILED]: 'error',
  [TaskState.TASK_STATE_CANCELED]: 'cancelled',
};

/** The text is what came as artifacts, or as messages; the last status says how the run ended. */
async function seenInStream(
  stream: AsyncIterable<StreamResponse>,
  received: StreamResponse[],
): Promise<Seen> {
  const texts = new Map<string, string>();
  let status: TaskStatus | undefined;
  let task: Task | undefined;
  let runId = '';
  for await (const response of stream) {
    received.push(response);
    const { payload } = response;
    if (payload?.$case === 'task') {
      task = payload.value;
      runId = task.id;
      status = task.status;
    }
    if (payload?.$case === 'statusUpdate') status = payload.value.status;
    if (payload?.$case === 'artifactUpdate') {
      const { artifact, append } = payload.value;
      const id = artifact?.artifactId ?? '';
      texts.set(id, (append ? (texts.get(id) ?? '') : '') + textOf(artifact?.parts));
    }
  }
  if (status === undefined) throw new Error('The stream had no status.');
  const said = texts.get('answer') ?? (task && answerIn(task)) ?? '';
  return seenIn(runId, status, said);
}

function seenInTask(task: Task): Seen {
  if (task.status === undefined) throw new Error('The task has no status.');
  return seenIn(task.id, task.status, answerIn(task));
}

function answerIn({ artifacts, history }: Task): string {
  const answer = artifacts.find(({ artifactId }) => artifactId === 'answer');
  return textOf(answer?.parts ?? history.findLast(({ role }) => role === Role.ROLE_AGENT)?.parts);
}

function seenIn(runId: string, { state, message }: TaskStatus, said: string): Seen {
  const data = message?.parts.find(({ content }) => content?.$case === 'data')?.content?.value;
  const requirements = (data as { requirements?: Body[] } | undefined)?.requirements ?? [];
  const content = state === TaskState.TASK_STATE_FAILED ? textOf(message?.parts) : said;
  return { runId, status: statuses[state] ?? String(state), content, requirements };
}

function textOf(parts: readonly Part[] = []): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

/** Errors of the protocol are refusals; the rest of a connection that is cut is not. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error && error.name !== 'AbortError' ? new Refused(error.message) : error;
  }
}
