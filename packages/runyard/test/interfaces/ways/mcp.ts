import {
  type CallToolResult,
  Client,
  type RequestOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import type { Body } from '../../support/service.js';
import { until } from '../../support/until.js';
import {
  type Asked,
  type Following,
  type Person,
  Refused,
  type Client as RunClient,
  type Seen,
  seenIn,
  type Way,
} from '../way.js';

/** The official client, over streamable HTTP. A run tool reports its tool calls as progress, and no text. */
export const mcp: Way = {
  name: 'MCP',
  news: ['tool'],
  open: (person) => McpRunClient.connect(person),
};

class McpRunClient implements RunClient {
  private constructor(
    private readonly client: Client,
    private readonly connection: Connection,
  ) {}

  static async connect({ url, headers }: Person): Promise<McpRunClient> {
    const client = new Client({ name: 'suite', version: '1.0.0' });
    const connection = new Connection();
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', url), {
        requestInit: { headers },
        fetch: connection.fetch,
        reconnectionOptions: {
          initialReconnectionDelay: 10,
          maxReconnectionDelay: 100,
          reconnectionDelayGrowFactor: 2,
          maxRetries: 50,
        },
      }),
    );
    return new McpRunClient(client, connection);
  }

  start(asked: Asked): Following {
    const { message, sessionId: session_id, factoryInput: factory_input } = asked;
    const reported: string[] = [];
    const rested = this.call(
      `run_${kindOf(asked)}`,
      { ...componentOf(asked), message, session_id, ...(factory_input && { factory_input }) },
      {
        onprogress: (progress) => reported.push(progress.message ?? ''),
      },
    ).then(seenOf);
    rested.catch(() => {});
    return {
      rested,
      receives: () =>
        until('the client learns of the call', () =>
          reported.some((text) => text.startsWith('Tool call started')),
        ),
      drop: () => this.connection.cut(),
    };
  }

  async answer(asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen> {
    const answer = await this.call('continue_run', { ...componentOf(asked), run_id: runId, requirements });
    const seen = seenOf(answer);
    // a run that failed is an answer; a run that could not be continued is not
    if (answer.isError && !(seen.status === 'error' && sessionIn(answer) !== null))
      throw new Refused(textOf(answer));
    return seen;
  }

  async cancel(asked: Asked, runId: string): Promise<void> {
    const answer = await this.call('cancel_run', { ...componentOf(asked), run_id: runId });
    if (answer.isError) throw new Refused(textOf(answer));
  }

  /** The client reconnects by itself to what it has asked for; any other run is in its session. */
  async comeBack(asked: Asked, runId: string, lost?: Following): Promise<Seen> {
    if (lost !== undefined) return lost.rested;
    const given = { session_id: asked.sessionId, session_type: kindOf(asked), run_id: runId };
    return until('the run rests', async () => {
      const answer = await this.call('get_session_runs', given);
      if (answer.isError) throw new Refused(textOf(answer));
      const [run] = (answer.structuredContent as { result: Body[] }).result;
      return !['pending', 'running'].includes(run.status) && seenIn(run);
    });
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private async call(
    name: string,
    given: Record<string, unknown>,
    options: RequestOptions = {},
  ): Promise<CallToolResult> {
    // the types of the library also know results of tasks, which this server does not offer
    return (await this.client.callTool({ name, arguments: given }, options)) as CallToolResult;
  }
}

/** Carries the requests of a client, and can break off what is being answered. */
class Connection {
  private readonly open = new Set<AbortController>();

  readonly fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const cutting = new AbortController();
    const signals = [cutting.signal, ...(init.signal ? [init.signal] : [])];
    if (init.method === 'POST') this.open.add(cutting);
    return fetch(url, { ...init, signal: AbortSignal.any(signals) });
  };

  cut(): void {
    for (const one of this.open) one.abort();
    this.open.clear();
  }
}

function kindOf({ plural }: Asked): string {
  return plural.slice(0, -1);
}

function componentOf(asked: Asked): Record<string, string> {
  return { [`${kindOf(asked)}_id`]: asked.id };
}

function seenOf(answer: CallToolResult): Seen {
  const said = answer.structuredContent as Body | undefined;
  if (said?.run_id === undefined) throw new Refused(textOf(answer));
  return { ...seenIn(said), content: textOf(answer) };
}

function sessionIn({ structuredContent }: CallToolResult): unknown {
  return (structuredContent as Body | undefined)?.session_id;
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
