import { randomUUID } from 'node:crypto';
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

/** A2A as clients of AgentOS speak it: envelopes of JSON-RPC without a method, at paths that name the operation. */
export const agentosA2a: Way = {
  name: 'A2A of AgentOS',
  news: ['text', 'tool'],
  isVariant: true,
  open: (person) => new AgentosA2aClient(person),
};

class AgentosA2aClient implements Client {
  constructor(private readonly person: Person) {}

  start(asked: Asked): Following {
    const connection = new AbortController();
    const frames: Body[] = [];
    const rested = this.stream(asked, frames, connection.signal);
    rested.catch(() => {});
    const isNews = {
      text: ({ kind }: Body) => kind === 'message',
      tool: ({ metadata }: Body) => metadata?.agno_event_type === 'tool_call_started',
    };
    return {
      rested,
      receives: (news) => until(`the client receives ${news}`, () => frames.some(isNews[news])),
      drop: () => connection.abort(),
    };
  }

  async answer(asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen> {
    const message = { ...messageOf(asked, { kind: 'data', data: { requirements } }), taskId: runId };
    return seenIn(await resultOf(this.post(asked, 'message:send', { message })));
  }

  async cancel(asked: Asked, runId: string): Promise<void> {
    await accepted(await this.post(asked, 'tasks:cancel', { id: runId, contextId: asked.sessionId }));
  }

  /** There is no stream to come back to: it polls. */
  comeBack(asked: Asked, runId: string): Promise<Seen> {
    return until('the task rests', async () => {
      const params = { id: runId, contextId: asked.sessionId };
      const task = await resultOf(this.post(asked, 'tasks:get', params));
      return !['submitted', 'working'].includes(task.status.state) && seenIn(task);
    });
  }

  private async stream(asked: Asked, frames: Body[], signal: AbortSignal): Promise<Seen> {
    const message = messageOf(asked, { kind: 'text', text: asked.message });
    const response = await accepted(await this.post(asked, 'message:stream', { message }, signal));
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data !== undefined) frames.push((JSON.parse(data) as Body).result);
      }
    }
    return seenIn(frames.at(-1));
  }

  private post({ plural, id }: Asked, operation: string, params: object, signal?: AbortSignal) {
    return fetch(`${this.person.url}/a2a/${plural}/${id}/v1/${operation}`, {
      method: 'POST',
      headers: { ...this.person.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'request', params }),
      ...(signal && { signal }),
    });
  }
}

function messageOf({ sessionId, factoryInput }: Asked, part: object): Body {
  const metadata = factoryInput && { factoryInput };
  return { messageId: randomUUID(), role: 'user', contextId: sessionId, parts: [part], metadata };
}

const statuses: Readonly<Record<string, string>> = {
  completed: 'completed',
  'input-required': 'paused',
  failed: 'error',
  canceled: 'cancelled',
};

/** The last frame of a stream is the task, as the other operations return it. */
function seenIn(task: Body): Seen {
  const { state, message } = task.status;
  const data = message?.parts.find(({ kind }: Body) => kind === 'data')?.data;
  const said = state === 'failed' ? message : task.history?.findLast(({ role }: Body) => role === 'agent');
  return {
    runId: task.id,
    status: statuses[state] ?? state,
    content: textOf(said?.parts),
    requirements: data?.requirements ?? [],
  };
}

function textOf(parts: readonly Body[] = []): string {
  return parts.map(({ text = '' }) => text).join('');
}

async function resultOf(answer: Promise<Response>): Promise<Body> {
  return ((await (await accepted(await answer)).json()) as Body).result;
}

async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new Refused(((await response.json()) as Body).detail);
}
