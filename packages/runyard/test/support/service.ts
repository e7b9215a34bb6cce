import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { capabilities } from '../../src/capabilities/capabilities.js';
import { routesOf } from '../../src/capabilities/capability.js';
import { Runyard, type RunyardOptions } from '../../src/index.js';
import { loadInterfaces } from '../../src/interfaces/interfaces.js';
import { ApiCheck } from './clients/api-check.js';
import { type Called, call, called } from './clients/call.js';
import { type LogLine, recordingLog } from './clients/http-server.js';
import { SseClient } from './clients/sse-client.js';
import { preparedSqlite } from './databases.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever the service sent.
export type Body = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when it is not JSON. */
  readonly body: Body;
}

/** Files are uploaded, other objects are sent as JSON. */
export type FormValue = string | number | boolean | object | File[];

/** Fields that are undefined are not sent. */
export type Form = Readonly<Record<string, FormValue | undefined>>;

export interface RunRequest {
  readonly headers?: Record<string, string>;
  readonly encoding?: 'multipart' | 'urlencoded';
  readonly signal?: AbortSignal;
}

/** A service behind a socket whose every answer is checked against its own description. */
export class TestService {
  readonly logged: LogLine[];
  private constructor(
    readonly app: Runyard,
    readonly url: string,
    readonly api: ApiCheck,
    private readonly folder: string,
    logged: LogLine[],
  ) {
    this.logged = logged;
  }

  static async start(options: RunyardOptions): Promise<TestService> {
    const folder = mkdtempSync(join(tmpdir(), 'runyard-contract-'));
    writeFileSync(join(folder, 'runyard.db'), await preparedSqlite());
    const logged: LogLine[] = [];
    const app = new Runyard({ port: 0, dataDir: folder, log: recordingLog(logged), ...options });
    const { url } = await app.listen();
    const routes = routesOf([...capabilities, ...(await loadInterfaces(options.interfaces, app.settings))]);
    const api = await ApiCheck.ofRoutes(routes, async () => JSON.stringify(await app.openapi()));
    return new TestService(app, url, api, folder, logged);
  }

  async stop(): Promise<void> {
    await this.app.close({ graceMs: 0 });
    rmSync(this.folder, { recursive: true, force: true });
  }

  async call(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    return this.answerOf(method, path, await call(this.url + path, { ...init, method }));
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.call('GET', path, { headers });
  }

  /** A run without streaming, unless the form says otherwise. */
  run(agentId: string, form: Form, request: RunRequest = {}): Promise<Answer> {
    return this.submit(`/agents/${agentId}/runs`, { stream: false, ...form }, request);
  }

  /** A streamed run: answers when the stream has begun. */
  stream(agentId: string, form: Form, request: RunRequest = {}): Promise<SseClient> {
    return this.submitForStream(`/agents/${agentId}/runs`, form, request);
  }

  /** Sends a form and reads the whole answer. */
  async submit(path: string, form: Form, request: RunRequest = {}): Promise<Answer> {
    return this.answerOf('POST', path, await call(this.url + path, posted(form, request)));
  }

  /** Sends a form that is answered with a stream. */
  async submitForStream(path: string, form: Form, request: RunRequest = {}): Promise<SseClient> {
    return this.streamOf('POST', path, await fetch(this.url + path, posted(form, request)));
  }

  /** Requests a stream. */
  async follow(path: string, request: Omit<RunRequest, 'encoding'> = {}): Promise<SseClient> {
    return this.streamOf('GET', path, await fetch(this.url + path, request));
  }

  private async streamOf(method: string, path: string, response: Response): Promise<SseClient> {
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('text/event-stream')) {
      const { status, text } = this.answerOf(method, path, await called(response));
      throw new Error(`No stream, but ${status}: ${text}`);
    }
    this.api.check(method, path, response.status, type, '');
    return new SseClient(response);
  }

  private answerOf(method: string, path: string, { status, headers, text }: Called): Answer {
    const type = headers.get('content-type') ?? '';
    if (method !== 'HEAD' && method !== 'OPTIONS') this.api.check(method, path, status, type, text);
    const body = type.startsWith('application/json') && text !== '' ? (JSON.parse(text) as Body) : undefined;
    return { status, headers, text, body };
  }
}

function posted(form: Form, { encoding, headers = {}, signal }: RunRequest): RequestInit {
  const body = encoding === 'urlencoded' ? urlencoded(form) : multipart(form);
  return { method: 'POST', body, headers, ...(signal && { signal }) };
}

/** A service for one test, on a free port with data of its own. */
export async function startService(options: RunyardOptions): Promise<TestService> {
  const service = await TestService.start(options);
  onTestFinished(() => service.stop());
  return service;
}

function multipart(form: Form): FormData {
  const data = new FormData();
  for (const [name, value] of fieldsOf(form)) {
    if (isFiles(value)) for (const file of value) data.append(name, file, file.name);
    else data.append(name, textOf(value));
  }
  return data;
}

function urlencoded(form: Form): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [name, value] of fieldsOf(form)) fields.append(name, textOf(value));
  return fields;
}

function fieldsOf(form: Form): [string, FormValue][] {
  return Object.entries(form).filter((entry): entry is [string, FormValue] => entry[1] !== undefined);
}

function textOf(value: FormValue): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function isFiles(value: FormValue): value is File[] {
  return Array.isArray(value) && value[0] instanceof File;
}
