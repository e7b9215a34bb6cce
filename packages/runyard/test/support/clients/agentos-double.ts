import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Body } from '../service.js';

const call = {
  tool_call_id: 'call_1',
  tool_name: 'wipe',
  tool_args: { disk: 'a' },
  tool_call_error: null,
  result: null,
  requires_confirmation: true,
  confirmed: null,
  user_input_schema: null,
  user_feedback_schema: null,
  external_execution_required: null,
  approval_type: null,
};

/**
 * The wire of AgentOS 2.9 as far as a remote agent uses it, with its own ways: statuses in capitals, times as numbers, a
 * run that is shown only when it rests, a run id that is used again replaces the run, late refusals as an event.
 */
export class AgentOsDouble {
  readonly forms: { path: string; fields: Record<string, string> }[] = [];
  readonly cancelled: string[] = [];
  /** Ends the first stream after so many events. */
  dropAfter = Number.POSITIVE_INFINITY;
  private readonly runs = new Map<string, { events: Body[]; body: Body | undefined }>();

  private constructor(readonly url: string) {}

  static async start(): Promise<AgentOsDouble> {
    const server = createServer((request, response) => void double.answer(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const double = new AgentOsDouble(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return double;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const [, , , , runId = '', action] = pathname.split('/');
    const fields = request.method === 'POST' ? await fieldsOf(request) : {};
    if (request.method === 'POST') this.forms.push({ path: pathname, fields });
    if (runId === '') return this.begin(fields, response);
    const run = this.runs.get(runId);
    if (action === 'cancel') {
      this.cancelled.push(runId);
      return json(response, 200, {});
    }
    if (action === undefined) {
      if (!searchParams.has('session_id')) return json(response, 422, { detail: [] });
      return run?.body === undefined
        ? json(response, 404, { detail: 'Run not found' })
        : json(response, 200, run.body);
    }
    if (action === 'resume' && run === undefined)
      return this.send(response, [{ event: 'error', error: `Run ${runId} not found in buffer or database` }]);
    if (run === undefined) return json(response, 404, { detail: 'Run not found' });
    if (action === 'resume') {
      const after = Number(fields.last_event_index);
      const missed = run.events.filter(({ event_index: index }) => index > after);
      // it comes to rest while it is followed
      run.body = this.rest(run.events);
      return this.send(response, [{ event: 'replay', run_id: runId, status: 'COMPLETED' }, ...missed]);
    }
    const answers: Body[] = fields.tools ? JSON.parse(fields.tools) : [];
    if (answers.length !== 1 || answers[0].confirmed === null)
      return this.send(response, [
        { event: 'RunError', content: 'Run has unresolved requirements', agent_id: '' },
      ]);
    const from = run.events.length;
    const { run_id, session_id } = run.events[0];
    const head = { run_id, session_id, agent_id: 'far', nested_depth: 0 };
    run.events.push(
      { event: 'RunContinued', event_index: from, ...head },
      { event: 'RunContent', event_index: from + 1, ...head, content: 'Wiped.' },
      { event: 'RunCompleted', event_index: from + 2, ...head, content: 'Wiped.' },
    );
    run.body = { ...this.rest(run.events), tools: [{ ...call, ...answers[0], result: 'wiped a' }] };
    return this.send(response, run.events.slice(from));
  }

  private begin({ run_id, session_id, message }: Record<string, string>, response: ServerResponse): void {
    const head = { run_id, session_id, agent_id: 'far', agent_name: 'Far', nested_depth: 0, created_at: 1 };
    const tool = { ...call };
    const events: Body[] = [
      { event: 'RunStarted', ...head, model: 'm' },
      { event: 'FromTheFuture', ...head },
      { event: 'RunContent', ...head, content: 'Hello ' },
      { event: 'RunContent', ...head, content: 'there' },
      message === 'Wipe it'
        ? { event: 'RunPaused', ...head, tools: [tool], requirements: [{ id: 'r1', tool_execution: tool }] }
        : { event: 'RunCompleted', ...head, content: 'Hello there' },
    ].map((event, index) => ({ ...event, event_index: index }));
    const run = { events, body: undefined as Body };
    this.runs.set(run_id ?? '', run);
    const sent = events.slice(0, this.dropAfter);
    if (sent.length === events.length) run.body = this.rest(events);
    this.dropAfter = Number.POSITIVE_INFINITY;
    this.send(response, sent, sent.length < events.length);
  }

  private rest(events: Body[]): Body {
    const last = events.at(-1);
    const { run_id, session_id } = last;
    const shared = {
      run_id,
      session_id,
      agent_id: 'far',
      created_at: 1_700_000_000,
      model: 'gpt',
      model_provider: 'OpenAI',
    };
    const metrics = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
    return last.event === 'RunPaused'
      ? {
          ...shared,
          status: 'PAUSED',
          content: 'May I?',
          tools: last.tools,
          requirements: last.requirements,
          metrics,
        }
      : { ...shared, status: 'COMPLETED', content: last.content, content_type: 'str', metrics };
  }

  private send(response: ServerResponse, events: Body[], broken = false): void {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const event of events) response.write(`event: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`);
    if (broken) setImmediate(() => response.destroy());
    else response.end();
  }
}

async function fieldsOf(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (chunks.length === 0) return {};
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const form = await new Response(Buffer.concat(chunks), { headers }).formData();
  return Object.fromEntries(Array.from(form, ([name, value]) => [name, String(value)]));
}

function json(response: ServerResponse, status: number, body: Body): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
