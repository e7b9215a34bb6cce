import { afterEach, expect } from 'vitest';
import type { Message, Role } from '../../src/core/models/message.js';
import type { ModelChunk, ModelRequest, ModelResponse } from '../../src/core/models/model.js';
import { ModelError } from '../../src/core/models/model-error.js';
import { type OpenAICompatibleOptions, openAICompatible } from '../../src/core/models/openai-compatible.js';
import { type ModelServer, type ModelServerScript, startModelServer } from './model-server.js';

/** The key that the model of a test sends, and that must not show up in any error. */
export const secret = 'sk-very-secret-key';

let running: ModelServer | undefined;

afterEach(async () => {
  await running?.stop();
  running = undefined;
});

/** A model whose server follows the script; both are gone after the test. */
export async function modelFor(script: ModelServerScript, options: Partial<OpenAICompatibleOptions> = {}) {
  const server = await startModelServer(script);
  running = server;
  const waits: number[] = [];
  const model = openAICompatible({
    id: 'test-model',
    provider: 'Test',
    baseUrl: server.url,
    apiKey: secret,
    wait: async (ms) => void waits.push(ms),
    ...options,
  });
  return { model, server, waits };
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

/** The options of a call that nobody aborts. */
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

/** The error of a call that must fail, and must not tell the key. */
export async function failure(work: Promise<unknown>): Promise<ModelError> {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  expect(error.message).not.toContain(secret);
  return error as ModelError;
}
