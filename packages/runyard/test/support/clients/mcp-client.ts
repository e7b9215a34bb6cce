import type { CallToolResult, ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { newId } from '../../../src/core/ids.js';
import { DefinedInterface, type InterfaceSite } from '../../../src/interfaces/interface.js';
import { authInfoOf, type McpCall } from '../../../src/interfaces/mcp/call.js';
import { type McpOptions, mcpConfigOf } from '../../../src/interfaces/mcp/options.js';
import { mcpServer } from '../../../src/interfaces/mcp/server/mcp-server.js';
import { anonymousCaller, type Caller } from '../../../src/platform/auth/caller.js';
import type { Body } from '../service.js';

/** Gives a test what interfaces are opened with. */
export function interfaceSite(): { readonly defined: DefinedInterface; readonly site: () => InterfaceSite } {
  let opened: InterfaceSite | undefined;
  const load = async () => ({
    name: 'probe',
    open(site: InterfaceSite) {
      opened = site;
      return {};
    },
  });
  return {
    defined: new DefinedInterface('probe', '/probe', load),
    site() {
      if (opened === undefined) throw new Error('The service is not open.');
      return opened;
    },
  };
}

type Elicited = ElicitRequest['params'];

export interface McpClientOptions {
  readonly caller?: Caller;
  readonly options?: McpOptions;
  /** The client shows forms, and answers them like this. */
  readonly person?: (form: Elicited) => ElicitResult | Promise<ElicitResult>;
  /** Of the call of each request. */
  readonly call?: Partial<McpCall>;
}

/** The official client, connected with a server of the service in this process. */
export class McpClient {
  /** Messages of progress. */
  readonly progress: { readonly progress: number; readonly message?: string | undefined }[] = [];

  private constructor(readonly client: Client) {}

  static async connect(site: InterfaceSite, options: McpClientOptions = {}): Promise<McpClient> {
    const { person, caller = anonymousCaller } = options;
    const config = mcpConfigOf(options.options ?? {});
    const server = mcpServer({ ...site, config });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const cancellers = new Map<unknown, AbortController>();
    const send = ours.send.bind(ours);
    ours.send = (message) => {
      const canceller = new AbortController();
      if ('id' in message) cancellers.set(message.id, canceller);
      if ('method' in message && message.method === 'notifications/cancelled')
        cancellers.get(message.params?.requestId)?.abort();
      const call: McpCall = {
        caller,
        runId: newId(),
        isRepeated: false,
        cancelled: canceller.signal,
        headers: {},
        basePath: '',
        ...options.call,
      };
      return send(message, { authInfo: authInfoOf(call) });
    };
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: person === undefined ? {} : { elicitation: { form: {} } } },
    );
    if (person !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => person(params));
    await server.connect(theirs);
    await client.connect(ours);
    return new McpClient(client);
  }

  async call(
    name: string,
    args: object = {},
    signal?: AbortSignal,
  ): Promise<CallToolResult & { data: Body }> {
    const params = { name, arguments: { ...args } };
    const result = await this.client.callTool(params, { ...(signal && { signal }) });
    return { ...result, data: result.structuredContent };
  }

  /** The same, with messages of progress. */
  async watched(name: string, args: object): Promise<CallToolResult> {
    const onprogress = (one: { progress: number; message?: string | undefined }) =>
      void this.progress.push(one);
    return this.client.callTool({ name, arguments: { ...args } }, { onprogress });
  }

  /** The text of a failure. */
  async failure(name: string, args: object = {}): Promise<string> {
    const result = await this.call(name, args);
    if (!result.isError) throw new Error(`No failure: ${JSON.stringify(result)}`);
    return textOf(result);
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

export function textOf({ content: [first] }: CallToolResult): string {
  return first?.type === 'text' ? first.text : '';
}
