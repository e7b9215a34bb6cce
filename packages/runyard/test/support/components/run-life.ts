import { z } from 'zod';
import { type Agent, agent, tool } from '../../../src/index.js';
import type { SseClient } from '../clients/sse-client.js';
import type { ScriptBook } from '../providers/script-book.js';
import type { Answer, Body, Form, TestService } from '../service.js';
import { until } from '../until.js';

/** What a client does with the runs of an agent, a team or a workflow. */
export class RunLife {
  constructor(
    readonly service: TestService,
    readonly componentId: string,
    readonly plural: 'agents' | 'teams' | 'workflows' = 'agents',
  ) {}

  get runs(): string {
    return `/${this.plural}/${this.componentId}/runs`;
  }

  path(runId: string, rest = ''): string {
    return `${this.runs}/${encodeURIComponent(runId)}${rest}`;
  }

  async start(form: Form): Promise<Body> {
    return (await this.post(form)).body;
  }

  /** Without streaming, unless the form says otherwise. */
  post(form: Form, headers: Record<string, string> = {}): Promise<Answer> {
    return this.service.submit(this.runs, { stream: false, ...form }, { headers });
  }

  /** Answers when the stream has begun. */
  stream(form: Form): Promise<SseClient> {
    return this.service.submitForStream(this.runs, { stream: true, ...form });
  }

  /** The runs of a session. */
  async list(sessionId: string): Promise<Body[]> {
    return (await this.service.get(`${this.runs}?session_id=${sessionId}`)).body;
  }

  get(runId: string, query = ''): Promise<Answer> {
    return this.service.get(this.path(runId, query));
  }

  async stored(runId: string): Promise<Body> {
    return (await this.get(runId)).body;
  }

  /** Without streaming, unless the form says otherwise. */
  continue(runId: string, form: Form = {}): Promise<Answer> {
    return this.service.submit(this.path(runId, '/continue'), { stream: false, ...form });
  }

  continueStreamed(runId: string, form: Form = {}): Promise<SseClient> {
    return this.service.submitForStream(this.path(runId, '/continue'), form);
  }

  cancel(runId: string, query = ''): Promise<Answer> {
    return this.service.call('POST', this.path(runId, `/cancel${query}`));
  }

  resume(runId: string, form: Form = {}): Promise<SseClient> {
    return this.service.submitForStream(this.path(runId, '/resume'), form);
  }

  events(runId: string, query = '', headers: Record<string, string> = {}): Promise<SseClient> {
    return this.service.follow(this.path(runId, `/events${query}`), { headers });
  }

  /** The run when it rests: it has ended, or waits for an answer. */
  rested(runId: string): Promise<Body> {
    return until(`run ${runId} rests`, async () => {
      const { status, body } = await this.get(runId);
      return status === 200 && !['pending', 'running'].includes(body.status) && (body as Body);
    });
  }
}

/** An agent whose `pay` needs a confirmation, and what was paid, in which run. */
export function payingAgent(book: ScriptBook, id: string): { agent: Agent; paid: Payment[] } {
  const paid: Payment[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    inputSchema: z.object({ cents: z.number() }),
    requiresConfirmation: true,
    execute: ({ cents }, { runId }) => {
      paid.push({ runId, cents });
      return `paid ${cents}`;
    },
  });
  const look = tool({ name: 'look', description: 'Looks', execute: () => 'looked' });
  const fetch = tool({
    name: 'fetch',
    description: 'Is executed outside',
    externalExecution: true,
    inputSchema: z.object({ url: z.string() }),
  });
  const reserve = tool({
    name: 'reserve',
    description: 'Books a seat',
    requiresUserInput: true,
    userInputFields: ['seat'],
    inputSchema: z.object({ train: z.string(), seat: z.number().describe('Which seat') }),
    execute: ({ train, seat }) => `${train} seat ${seat}`,
  });
  return { agent: agent({ id, name: 'Payer', model: book.model, tools: [pay, look, fetch, reserve] }), paid };
}

export interface Payment {
  readonly runId: string;
  readonly cents: number;
}

export const payCall = (cents: number, id = `pay-${cents}`) => ({ name: 'pay', arguments: { cents }, id });

/** The tools of a run body with answers filled in, by the ids of the calls. */
export function answered(run: Body, answers: Readonly<Record<string, object>>): Body[] {
  return run.tools.map((tool: Body) => ({ ...tool, ...answers[tool.tool_call_id] }));
}
