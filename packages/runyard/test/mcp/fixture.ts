import { Server } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { Runyard, type RunyardOptions } from '../../src/index.js';
import { DefinedInterface } from '../../src/interfaces/interface.js';
import { type McpCall, mcpCallOf } from '../../src/interfaces/mcp/call.js';
import { mcpInterface } from '../../src/interfaces/mcp/endpoint.js';
import { type McpOptions, mcpConfigOf } from '../../src/interfaces/mcp/options.js';
import { protocolVersions } from '../../src/interfaces/mcp/server/mcp-server.js';
import { gate } from '../support/until.js';

/** What the slow tool of one test does: it reports when it begins, and answers when it is let go. */
export interface SlowTool {
  readonly calls: McpCall[];
  readonly answer: ReturnType<typeof gate<string>>;
}

export function slowTool(): SlowTool {
  return { calls: [], answer: gate<string>() };
}

/** A server with tools that answer at once, slowly, and after a question to the client. */
function toolServer(slow: SlowTool) {
  return () => {
    const server = new Server(
      { name: 'fixture', version: '1' },
      { capabilities: { tools: {}, logging: {} }, supportedProtocolVersions: protocolVersions },
    );
    const tools = ['quick', 'slow', 'ask', 'level'].map((name) => ({
      name,
      inputSchema: { type: 'object' as const },
    }));
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
      const call = mcpCallOf(context);
      const relatedRequestId = context.mcpReq.id;
      if (params.name === 'quick') return text(`quick for ${call.caller.userId}`);
      if (params.name === 'level') {
        await context.mcpReq.log('info', 'told');
        return text('logged');
      }
      if (params.name === 'slow') {
        slow.calls.push(call);
        const progressToken = params._meta?.progressToken;
        if (progressToken !== undefined)
          await context.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress: call.isRepeated ? 1 : 0 },
          });
        return text(`${await slow.answer.opened} of ${call.runId}`);
      }
      const asked = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
      const { action, content } = await server.elicitInput(
        { mode: 'form', message: 'Who?', requestedSchema: asked },
        { relatedRequestId },
      );
      return text(`${action} ${content?.name}`);
    });
    return server;
  };
}

/** A service with this server, as one process. It stops with the test, or before. */
export function startMcp(slow: SlowTool, options: StartOptions = {}) {
  return startServer(toolServer(slow), options);
}

type StartOptions = RunyardOptions & { mcpOptions?: McpOptions };

export async function startServer(server: () => Server, { mcpOptions = {}, ...settings }: StartOptions) {
  const config = mcpConfigOf(mcpOptions);
  const defined = new DefinedInterface('mcp', '/mcp', async () => mcpInterface(config, { server }));
  const app = new Runyard({ port: 0, logLevel: 'silent', interfaces: [defined], ...settings });
  const { url } = await app.listen();
  const stop = () => app.close({ graceMs: 0 });
  onTestFinished(stop);
  return { url: `${url}/mcp`, base: url, stop };
}

export interface Frame {
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever the service sent.
  readonly data: any;
}

const both = 'application/json, text/event-stream';

/** A client that sees the wire. */
export class RawClient {
  sessionId = '';
  constructor(
    private url: string,
    readonly headers: Record<string, string> = {},
  ) {}

  /** Continues with another process. */
  at(url: string): void {
    this.url = url;
  }

  async connect(protocolVersion = '2025-11-25', capabilities: object = {}): Promise<Frame[]> {
    const clientInfo = { name: 'raw', version: '1' };
    const answer = await this.post(rpc(0, 'initialize', { protocolVersion, capabilities, clientInfo }));
    this.sessionId = answer.headers.get('mcp-session-id') ?? '';
    const frames = await framesOf(answer);
    await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return frames;
  }

  post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.request('POST', { accept: both, 'content-type': 'application/json', ...headers }, body);
  }

  resume(lastEventId: string): Promise<Response> {
    return this.request('GET', { accept: 'text/event-stream', 'last-event-id': lastEventId });
  }

  request(method: string, headers: Record<string, string> = {}, body?: unknown): Promise<Response> {
    const sent = { ...this.headers, ...headers };
    return fetch(this.url, {
      method,
      headers: this.sessionId === '' ? sent : { 'mcp-session-id': this.sessionId, ...sent },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }
}

export function rpc(id: number | string, method: string, params: object = {}) {
  return { jsonrpc: '2.0', id, method, params };
}

export function callTool(id: number | string, name: string, params: object = {}) {
  return rpc(id, 'tools/call', { name, arguments: {}, ...params });
}

/** All frames of a stream that ends. */
export async function framesOf(answer: Response): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of streamed(answer)) frames.push(frame);
  return frames;
}

/** The frames of a stream as they come. */
export async function* streamed(answer: Response): AsyncGenerator<Frame> {
  let text = '';
  // fetch gives a body to every answer with content
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = text.slice(0, end);
      text = text.slice(end + 2);
      if (frame.startsWith(':')) continue;
      const data = /^data: (.*)$/m.exec(frame)?.[1] ?? '';
      yield { id: /^id: (.*)$/m.exec(frame)?.[1], data: data === '' ? undefined : JSON.parse(data) };
    }
  }
}
