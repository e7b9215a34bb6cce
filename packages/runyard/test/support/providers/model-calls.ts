import { afterEach, expect, type Mock, vi } from 'vitest';
import type { Message, Role } from '../../../src/core/models/message.js';
import type { Model, ModelChunk, ModelRequest, ModelResponse } from '../../../src/core/models/model.js';
import { ModelError } from '../../../src/core/models/model-error.js';
import {
  type OpenAICompatibleOptions,
  openAICompatible,
} from '../../../src/core/models/openai-compatible/openai-compatible.js';
import {
  type ModelServer,
  type ModelServerReply,
  type ModelServerScript,
  startModelServer,
} from './model-server.js';

/** The key that the model of a test sends, and that must not show up in any error. */
export const secret = 'sk-very-secret-key';

const running: ModelServer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

/** What a test gives every adapter: the address of its server, a key, and pauses that take no time. */
export interface TestConnection {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly wait: (ms: number) => Promise<void>;
}

/** What any adapter makes, with a server that follows the script; both are gone after the test. */
export async function adapterFor<Made = Model>(
  script: ModelServerScript,
  make: (connection: TestConnection) => Made,
) {
  const server = await startModelServer(script);
  running.push(server);
  const waits: number[] = [];
  const model = make({
    baseUrl: server.url,
    apiKey: secret,
    wait: async (ms) => void waits.push(ms),
  });
  return { model, server, waits };
}

/** A `fetch` that answers in place of a server, where the connection is of no interest. */
// biome-ignore lint/suspicious/noExplicitAny: the body of a request is whatever the adapter sent.
export function fetchOf(reply: (body: any, index: number) => ModelServerReply) {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const bodies: any[] = [];
  const fetch = async (_url: unknown, init?: RequestInit) => {
    const sent = JSON.parse(String(init?.body));
    const { status = 200, body = {}, headers } = reply(sent, bodies.push(sent) - 1);
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
  };
  return { fetch, bodies };
}

export function modelFor(script: ModelServerScript, options: Partial<OpenAICompatibleOptions> = {}) {
  return adapterFor(script, (connection) =>
    openAICompatible({ id: 'test-model', provider: 'Test', ...connection, ...options }),
  );
}

/**
 * What a model makes of a stream that arrives in two parts, for every place where it can be cut; or of the streams of
 * several calls. `every` leaves out places, for recordings that are long.
 */
export async function cutAnywhere(
  raw: string | readonly string[],
  make: (fetch: typeof globalThis.fetch) => Model,
  every = 1,
): Promise<{ deltas: ModelChunk[]; response: ModelResponse }[]> {
  const streams = [raw].flat().map((stream) => Buffer.from(stream));
  const results = [];
  for (let cut = 0; cut <= Math.max(...streams.map(({ length }) => length)); cut += every) {
    let calls = 0;
    const fetch = async () => {
      const bytes = streams[calls++] as Buffer;
      const parts = [bytes.subarray(0, cut), bytes.subarray(cut)].filter((part) => part.length > 0);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    results.push(await collect(make(fetch).stream(ask(), open())));
  }
  return results;
}

/** Deltas joined where they are of one kind: how the text was cut does not matter then. */
export function joined(deltas: readonly ModelChunk[]): [string, string][] {
  const all: [string, string][] = [];
  for (const delta of deltas) {
    if (delta.type === 'response') continue;
    const last = all.at(-1);
    if (last?.[0] === delta.type) last[1] += delta.text;
    else all.push([delta.type, delta.text]);
  }
  return all;
}

/** Contents of media that are held in memory. */
export function mediaOf(stored: Record<string, string>): ModelRequest['media'] & { put: Mock } {
  return {
    put: vi.fn(async (bytes: Uint8Array) => `hash of ${Buffer.from(bytes).toString('latin1')}`),
    get: async (hash) => (stored[hash] === undefined ? undefined : Buffer.from(stored[hash], 'latin1')),
  };
}

/** The assistant's message that an agent keeps of a response. */
export function kept({ content, reasoningContent, toolCalls, providerData }: ModelResponse): Message {
  return message('assistant', content, {
    ...(reasoningContent !== undefined && { reasoningContent }),
    ...(toolCalls.length > 0 && { toolCalls }),
    // As it comes back from the journal.
    ...(providerData && { providerData: JSON.parse(JSON.stringify(providerData)) }),
  });
}

let messageCount = 0;
export function message(role: Role, content: string, rest: Partial<Message> = {}): Message {
  return { id: `m${++messageCount}`, role, content, createdAt: 0, ...rest };
}

export function ask(parts: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [message('user', 'Hello')],
    tools: [],
    media: { put: async () => '', get: async () => undefined },
    ...parts,
  };
}

/** The options of a call that is not aborted. */
export const open = () => ({ signal: new AbortController().signal });

export async function collect(
  chunks: AsyncIterable<ModelChunk>,
): Promise<{ deltas: ModelChunk[]; response: ModelResponse }> {
  const all: ModelChunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  const last = all.pop();
  if (last?.type !== 'response') throw new Error('the stream did not end with a response');
  return { deltas: all, response: last.response };
}

/** The error of a call that must fail, and must not reveal the key. */
export async function failure(work: Promise<unknown>): Promise<ModelError> {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  expect(error.message).not.toContain(secret);
  return error as ModelError;
}
