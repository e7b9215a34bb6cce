import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { JsonSchemaValidator, Transport } from '@modelcontextprotocol/client';
import { version } from '../../version.js';
import { CallsUnderWay } from './calls-under-way.js';
import { isUnsupportedVersion, unavailable } from './failures.js';
import { loadMcpLibrary, type McpClient, type McpLibrary, type McpToolDefinition } from './library.js';
import { capabilitiesOf, type OfferedToServer, serveRequests } from './server-requests.js';
import { type McpAddress, watchedTransport } from './watched-transport.js';

/** A server that is started as a process of its own and called over its input and output. */
export interface McpCommand {
  readonly command: string;
  readonly args?: readonly string[];
  /** Beside a few harmless variables, all that the process gets of this one's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export type McpServer = McpCommand | McpAddress;

/** One connection, from its opening to its end. */
export interface OpenConnection {
  readonly client: McpClient;
  readonly calls: CallsUnderWay;
  readonly instructions: string | undefined;
  /** The tools of the server, as it last listed them. */
  tools(): Promise<readonly McpToolDefinition[]>;
  close(): Promise<void>;
}

export interface ConnectionOptions extends OfferedToServer {
  readonly sourceName: string;
  readonly timeoutMs: number;
  /** Called when the connection has ended, for whatever reason. */
  onEnd(): void;
}

/** How long a list is believed: not every server says when it changes, and what it says may get lost. */
const listAgeMs = 60_000;
const goodbyeMs = 1_000;
/** As many as a call may ask questions. */
const mostRounds = 20;

export async function connect(server: McpServer, options: ConnectionOptions): Promise<OpenConnection> {
  const library = await loadMcpLibrary();
  if ('url' in server) return open(library, watchedTransport(library, server), 'auto', options);
  try {
    // Nearly every server still speaks the older protocol, and a probe would start it twice.
    return await openProcess(library, server, 'legacy', options);
  } catch (error) {
    if (!isUnsupportedVersion(error)) throw error;
    return openProcess(library, server, 'auto', options);
  }
}

function openProcess(
  library: McpLibrary,
  server: McpCommand,
  mode: 'legacy' | 'auto',
  options: ConnectionOptions,
): Promise<OpenConnection> {
  const transport = new library.stdio.StdioClientTransport({
    command: server.command,
    args: [...(server.args ?? [])],
    stderr: 'pipe',
    ...(server.env !== undefined && { env: { ...server.env } }),
    ...(server.cwd !== undefined && { cwd: server.cwd }),
  });
  // piped, as asked for above
  return open(library, transport, mode, options, lastWords(transport.stderr as Readable | null));
}

/** The end of what a process logged: it has the reason why the process does not start. */
function lastWords(stream: Readable | null): () => string {
  let text = '';
  stream?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-1_000);
  });
  return () => text.trim();
}

async function open(
  library: McpLibrary,
  transport: Transport,
  mode: 'legacy' | 'auto',
  options: ConnectionOptions,
  words: () => string = () => '',
): Promise<OpenConnection> {
  let list: { readonly tools: Promise<readonly McpToolDefinition[]>; readonly until: number } | undefined;
  const client = new library.client.Client(
    { name: 'runyard', version },
    {
      versionNegotiation: { mode, probe: { timeoutMs: options.timeoutMs } },
      capabilities: capabilitiesOf(options),
      inputRequired: { maxRounds: mostRounds },
      // results are checked as those of any tool, and what a person answers as any answer
      jsonSchemaValidator: { getValidator: () => unchecked },
      listChanged: {
        tools: {
          autoRefresh: false,
          debounceMs: 0,
          onChanged: () => {
            list = undefined;
          },
        },
      },
    },
  );
  const calls = new CallsUnderWay();
  serveRequests(client, calls, options);
  try {
    await client.connect(transport, { timeout: options.timeoutMs });
    client.onclose = options.onEnd;
  } catch (error) {
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
    if (isUnsupportedVersion(error)) throw error;
    throw unavailable(options.sourceName, error, words());
  }
  const ask = async () => {
    if (client.getServerCapabilities()?.tools === undefined) return [];
    const { tools } = await client.listTools(undefined, { timeout: options.timeoutMs, cacheMode: 'refresh' });
    return tools;
  };
  return {
    client,
    calls,
    instructions: client.getInstructions(),
    tools() {
      if (list === undefined || list.until <= Date.now()) {
        const asked = { tools: ask(), until: Date.now() + listAgeMs };
        asked.tools.catch(() => {
          if (list === asked) list = undefined;
        });
        list = asked;
      }
      return list.tools;
    },
    close: () => {
      // At once: the next caller must not wait for a process to end.
      options.onEnd();
      return closeClient(client, transport);
    },
  };
}

function unchecked<T>(result: unknown): ReturnType<JsonSchemaValidator<T>> {
  // the client returns what it is given, whatever it is
  return { valid: true, data: result as T, errorMessage: undefined };
}

async function closeClient(
  client: McpClient,
  transport: Transport & { terminateSession?(): Promise<void> },
): Promise<void> {
  // A server keeps a session until the client ends it. One that is gone or hangs is not waited for.
  if (transport.terminateSession !== undefined) {
    const terminated = transport.terminateSession().catch(() => {});
    await Promise.race([terminated, setTimeout(goodbyeMs, undefined, { ref: false })]);
  }
  await client.close().catch(() => {});
}
