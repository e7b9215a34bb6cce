import { basename } from 'node:path';
import { madeHere } from '../../../core/agents/context/chosen-sources.js';
import type { OfRun, RunValues } from '../../../core/agents/context/run-values.js';
import { untilAborted } from '../../../core/async/abort.js';
import { errorCode } from '../../../core/errors/error-code.js';
import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { Log } from '../../../core/log.js';
import { nearestName } from '../../../core/nearest-name.js';
import { checkOptions, checkValue } from '../../../core/options/check-options.js';
import {
  anyOf,
  callable,
  count,
  flag,
  kind,
  listOf,
  milliseconds,
  name,
  objectOf,
  recordOf,
  required,
  text,
} from '../../../core/options/kinds.js';
import { fromElsewhere } from '../../../core/schemas/json-schema.js';
import { type Tool, tool } from '../../../core/tools/tool.js';
import type { ToolContext } from '../../../core/tools/tool-context.js';
import type { ToolSource } from '../../../core/tools/tool-source.js';
import { connect, type McpCommand, type McpServer, type OpenConnection } from './connection.js';
import { resultOf } from './content.js';
import { callFailureOf, reasonOf, unofferedIn } from './failures.js';
import type { McpToolDefinition } from './library.js';
import type { SamplingOptions } from './server-requests.js';
import type { McpAddress } from './watched-transport.js';

export interface McpToolsOptions {
  /** Stands before names that are taken, and in messages. Default: the command, or the host of the URL. */
  readonly name?: string;
  /** Only these tools, by the names that the server gives them. */
  readonly include?: readonly string[];
  /** All but these. */
  readonly exclude?: readonly string[];
  /** Stands before the name of each tool. */
  readonly prefix?: string;
  /** For each call, and again after each sign of progress. Default 60 s. */
  readonly timeoutMs?: number;
  /** For the connection and the list of tools. Default 30 s: a command may have to be downloaded first. */
  readonly connectTimeoutMs?: number;
  /** A person has to agree to calls of these tools, or of all (`true`). */
  readonly requiresConfirmation?: boolean | readonly string[];
  /** Adds what the server says about itself to the system message: only for servers that you trust. */
  readonly useServerInstructions?: boolean;
  /** The folders that are announced to the server, as file URLs or paths. Left out: none. */
  readonly roots?: readonly string[];
  /** A run does without the tools of a server that cannot be reached. Default `false`: the run fails. */
  readonly optional?: boolean;
  /** Lets the server call the agent's model, within the limits of the run. Default `false`. */
  readonly sampling?: boolean | SamplingOptions;
}

const mcpCommand = objectOf<McpCommand>({
  command: required(name),
  args: listOf(text),
  env: recordOf({ ...text, secret: true }),
  cwd: name,
});

const address = kind('a URL that begins with http:// or https://', (value) =>
  /^https?:\/\//.test(typeof value === 'string' ? value : ''),
);

/** A server that is called over HTTP, with headers that may depend on the run. */
export interface McpAddressOfRun {
  readonly url: string;
  /** As a function, it is called for each run. Runs with the same headers share a connection. */
  readonly headers?: OfRun<Readonly<Record<string, string>>>;
}

const headers = recordOf({ ...text, secret: true });

const mcpAddress = objectOf<McpAddressOfRun>({
  url: required(address),
  headers: { ...anyOf(headers, callable), allowed: 'an object of texts, or a function of the run' },
});

const root = kind(
  'a path or a URL that begins with file:',
  (value) => typeof value === 'string' && value !== '' && !/^(?!file:)[a-z][a-z0-9+.-]+:\/\//i.test(value),
);

const mcpToolsOptions = objectOf<McpToolsOptions>({
  name,
  include: listOf(text),
  exclude: listOf(text),
  prefix: text,
  timeoutMs: milliseconds(1),
  connectTimeoutMs: milliseconds(1),
  requiresConfirmation: anyOf(flag, listOf(text)),
  useServerInstructions: flag,
  optional: flag,
  roots: listOf(root),
  sampling: anyOf(flag, objectOf<SamplingOptions>({ maxTokens: count(1), maxCalls: count(1) })),
});

/**
 * The tools of an MCP server. It is connected to at first use and again after it died; its list of tools is
 * asked for again when it says that it changed.
 */
export function mcpTools(server: McpCommand | McpAddressOfRun, options: McpToolsOptions = {}): ToolSource {
  checkOptions('mcpTools()', server, 'url' in Object(server) ? mcpAddress : mcpCommand);
  checkOptions('mcpTools()', options, mcpToolsOptions);
  const { headers: given, ...target } = 'url' in server ? server : { ...server, headers: undefined };
  if (typeof given !== 'function')
    return madeHere(new McpSource({ ...target, ...(given !== undefined && { headers: given }) }, options));
  // what a server says to one caller is not for the prompts of others
  if (options.useServerInstructions)
    throw errors.invalidConfig(
      'mcpTools(): useServerInstructions cannot be given together with headers that depend on the run.',
    );
  return madeHere(new McpSourceOfRuns(target, given, options));
}

/** How many connections a source keeps open for different headers. */
const mostConnections = 100;

/** The tools of a server whose headers depend on the run: a connection for each set of headers. */
class McpSourceOfRuns implements ToolSource {
  readonly name: string;
  readonly readsRun = true;
  /** By their headers, those that were asked last at the end. */
  readonly #sources = new Map<string, McpSource>();

  constructor(
    private readonly server: McpServer,
    private readonly headers: (run: RunValues) => unknown,
    private readonly options: McpToolsOptions,
  ) {
    this.name = options.name ?? defaultName(server);
  }

  get optional(): boolean {
    return this.options.optional ?? false;
  }

  async tools(signal: AbortSignal, log?: Log, run?: RunValues): Promise<readonly Tool[]> {
    if (run === undefined)
      throw errors.invalidConfig(
        `MCP server '${this.name}' has headers that depend on the run, and is asked outside of a run.`,
      );
    const given = await this.headers(run);
    checkValue(
      `The function for the headers of MCP server '${this.name}'`,
      'what it returned',
      given,
      headers,
    );
    return this.#sourceWith(given).tools(signal, log);
  }

  async close(): Promise<void> {
    const sources = [...this.#sources.values()];
    this.#sources.clear();
    await Promise.all(sources.map((source) => source.close()));
  }

  #sourceWith(given: unknown): McpSource {
    const key = JSON.stringify(Object.entries(Object(given)).sort());
    const name = this.name;
    const source =
      this.#sources.get(key) ??
      // the headers were just checked
      new McpSource({ ...this.server, headers: given } as McpAddress, { ...this.options, name });
    this.#sources.delete(key);
    this.#sources.set(key, source);
    const [oldest] = this.#sources;
    if (oldest !== undefined && this.#sources.size > mostConnections) {
      this.#sources.delete(oldest[0]);
      void oldest[1].retire();
    }
    return source;
  }
}

class McpSource implements ToolSource {
  readonly name: string;
  readonly #timeoutMs: number;
  #connection: Promise<OpenConnection> | undefined;
  #serverInstructions: string | undefined;
  /** The tools of the last list that was seen, by their names and definitions. */
  #known: ReadonlyMap<string, Tool> | undefined;
  #list: readonly McpToolDefinition[] | undefined;
  #isRetired = false;

  constructor(
    private readonly server: McpServer,
    private readonly options: McpToolsOptions,
  ) {
    this.name = options.name ?? defaultName(server);
    this.#timeoutMs = options.timeoutMs ?? 60_000;
  }

  get optional(): boolean {
    return this.options.optional ?? false;
  }

  get instructions(): string | undefined {
    return this.options.useServerInstructions ? this.#serverInstructions : undefined;
  }

  async tools(signal: AbortSignal, log?: Log): Promise<readonly Tool[]> {
    try {
      const list = await untilAborted(this.#currentList(), signal);
      if (this.#list !== list) this.#known = this.#toolsOf(list, log);
      this.#list = list;
    } catch (error) {
      signal.throwIfAborted();
      // Once known, a tool stays: a call shows the model that the server is unavailable, and it may be back by then.
      if (this.#known === undefined) throw error;
    }
    return [...(this.#known?.values() ?? [])];
  }

  /** From now on, it connects only for single calls of runs that still have its tools. */
  retire(): Promise<void> {
    this.#isRetired = true;
    return this.close();
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await (await connection?.catch(() => undefined))?.close();
  }

  /** The list of the server; of one that is connected and turns out to be gone, the list of its successor. */
  async #currentList(): Promise<readonly McpToolDefinition[]> {
    const connection = await this.#connected();
    try {
      return await connection.tools();
    } catch (error) {
      if (callFailureOf(error) === 'answered') throw error;
      void connection.close();
      return (await this.#connected()).tools();
    }
  }

  /** One connection for all runs: it belongs to none of them, and the abort of one does not end it. */
  #connected(): Promise<OpenConnection> {
    if (this.#connection === undefined) {
      const connection = connect(this.server, {
        sourceName: this.name,
        timeoutMs: this.options.connectTimeoutMs ?? 30_000,
        roots: this.options.roots,
        sampling: this.options.sampling,
        onEnd: () => this.#forget(connection),
      });
      this.#connection = connection;
      connection.then(
        ({ instructions }) => {
          this.#serverInstructions = instructions;
        },
        () => this.#forget(connection),
      );
    }
    return this.#connection;
  }

  #forget(connection: Promise<OpenConnection>): void {
    if (this.#connection === connection) this.#connection = undefined;
  }

  #toolsOf(list: readonly McpToolDefinition[], log: Log | undefined): ReadonlyMap<string, Tool> {
    const { include, exclude, prefix = '' } = this.options;
    this.#checkNames(list);
    const taken = new Set<string>();
    const wanted = list.filter(({ name }) => (include?.includes(name) ?? true) && !exclude?.includes(name));
    this.#nameLeftOut(wanted.filter(demandsTask), log);
    return new Map(
      wanted
        .filter((definition) => !demandsTask(definition))
        .map((definition) => {
          const name = freeName(prefix + definition.name, taken);
          const key = JSON.stringify([name, definition]);
          // One that has not changed stays: its schema is compiled already.
          return [key, this.#known?.get(key) ?? this.#tool(definition, name)];
        }),
    );
  }

  #nameLeftOut(leftOut: readonly McpToolDefinition[], log: Log | undefined): void {
    if (leftOut.length === 0) return;
    const tools = leftOut.map(({ name }) => name);
    log?.warn(
      { source: this.name, tools },
      `MCP server '${this.name}' offers tools that can only be called as tasks, which Runyard does not support. They are left out: ${tools.join(', ')}`,
    );
  }

  /** A misspelt name would let a call through that a person was to agree to, or a tool that was to be left out. */
  #checkNames(list: readonly McpToolDefinition[]): void {
    const { include = [], exclude = [], requiresConfirmation } = this.options;
    const gated = typeof requiresConfirmation === 'object' ? requiresConfirmation : [];
    const known = list.map((definition) => definition.name);
    for (const wanted of [...gated, ...exclude, ...include]) {
      const near = known.includes(wanted) ? undefined : nearestName(wanted, known);
      if (near !== undefined)
        throw errors.invalidConfig(
          `MCP server '${this.name}' has no tool '${wanted}'. Did you mean '${near}'?`,
        );
    }
  }

  #tool(definition: McpToolDefinition, name: string): Tool {
    const { readOnlyHint = false, idempotentHint = false } = definition.annotations ?? {};
    const { requiresConfirmation = false } = this.options;
    return tool({
      name,
      description: definition.description ?? definition.title ?? definition.name,
      inputSchema: fromElsewhere({ ...definition.inputSchema }),
      ...(definition.outputSchema && { outputSchema: fromElsewhere({ ...definition.outputSchema }) }),
      readOnly: readOnlyHint,
      // The protocol has no key by which a server could recognize a repeated call.
      sideEffects: !readOnlyHint && !idempotentHint,
      requiresConfirmation:
        typeof requiresConfirmation === 'boolean'
          ? requiresConfirmation
          : requiresConfirmation.includes(definition.name),
      execute: (args, context) => this.#call(definition, args, context, readOnlyHint || idempotentHint),
    });
  }

  async #call(
    { name, outputSchema }: McpToolDefinition,
    args: JsonObject,
    context: ToolContext,
    repeatable: boolean,
  ): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      const connection = await untilAborted(this.#connected(), context.signal);
      try {
        return resultOf(await this.#request(connection, name, args, context), outputSchema !== undefined);
      } catch (error) {
        context.signal.throwIfAborted();
        const failure = callFailureOf(error);
        if (failure === 'answered') throw unofferedIn(error) ?? error;
        if (errorCode(error) === 'REQUEST_TIMEOUT') throw tooSlow(this.#timeoutMs, repeatable);
        void connection.close();
        if (attempt === 0 && (failure === 'unsent' || repeatable)) continue;
        throw new Error(
          `the connection to MCP server '${this.name}' was lost (${reasonOf(error)}).${effect(repeatable)}`,
        );
      } finally {
        if (this.#isRetired) void connection.close();
      }
    }
  }

  #request({ client, calls }: OpenConnection, name: string, args: JsonObject, context: ToolContext) {
    return calls.run(context, (signal) =>
      client.callTool(
        { name, arguments: args },
        {
          signal,
          timeout: this.#timeoutMs,
          resetTimeoutOnProgress: true,
          onprogress: ({ progress, total, message }) =>
            context.progress(total ? progress / total : 0, message),
        },
      ),
    );
  }
}

/** The client has types for tasks, and nothing that runs them. */
function demandsTask({ execution }: McpToolDefinition): boolean {
  return execution?.taskSupport === 'required';
}

function tooSlow(timeoutMs: number, repeatable: boolean): Error {
  return new Error(`the server did not answer within ${timeoutMs} ms.${effect(repeatable)}`);
}

function effect(repeatable: boolean): string {
  return repeatable ? '' : ' The call may or may not have taken effect.';
}

/** A name that models accept and that no other tool of the server has. */
function freeName(wanted: string, taken: Set<string>): string {
  const plain = wanted.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 60) || 'tool';
  let name = plain;
  for (let number = 2; taken.has(name); number++) name = `${plain}_${number}`;
  taken.add(name);
  return name;
}

function defaultName(server: McpServer): string {
  if ('url' in server) return new URL(server.url).hostname;
  return basename(server.command).replace(/\.\w+$/, '');
}
