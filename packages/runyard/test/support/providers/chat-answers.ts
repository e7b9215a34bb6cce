import { expect } from 'vitest';
import type { Model } from '../../../src/core/models/model.js';
import { openAICompatible } from '../../../src/core/models/openai-compatible/openai-compatible.js';
import { ask, collect, mediaOf, open } from './model-calls.js';
import { plainEvents } from './model-server.js';

/** An object of a chat completion. */
export type Wire = Record<string, unknown>;

/** A chunk of a stream, the last one of it, and an answer without streaming. */
export const delta = (part: Wire, choice: Wire = {}, chunk: Wire = {}) => ({
  id: 'chatcmpl-1',
  choices: [{ index: 0, delta: part, finish_reason: null, ...choice }],
  ...chunk,
});
export const finish = (reason: string, choice: Wire = {}, chunk: Wire = {}) =>
  delta({}, { finish_reason: reason, ...choice }, chunk);
export const whole = (part: Wire, choice: Wire = {}, chunk: Wire = {}) => ({
  id: 'chatcmpl-1',
  choices: [{ index: 0, message: { role: 'assistant', ...part }, finish_reason: 'stop', ...choice }],
  ...chunk,
});
export const callOf = (id: string, args: unknown, rest: Wire = {}) => ({
  id,
  type: 'function',
  function: { name: 'add', arguments: args },
  ...rest,
});

export const mistralThought = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });

/** The response of a stream, after a check that its deltas say the same. */
export async function read(model: Model) {
  const request = ask({ media: mediaOf({}) });
  const { deltas, response } = await collect(model.stream(request, open()));
  const said = deltas.map((chunk) => (chunk.type === 'text' ? chunk.text : ''));
  expect(said.join('')).toBe(response.content);
  const thought = deltas.map((chunk) => (chunk.type === 'reasoning' ? chunk.text : ''));
  expect(thought.join('')).toBe(response.reasoningContent ?? '');
  return response;
}

/** A model whose answer arrives one byte at a time, so that it is cut in every place. */
export function byByte(events: readonly object[], parameters: object = {}): Model {
  const raw = Buffer.from(plainEvents(events));
  const body = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of raw) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
  const headers = { 'content-type': 'text/event-stream' };
  return modelWith(async () => new Response(body(), { headers }), parameters);
}

export function modelWith(fetch: typeof globalThis.fetch, parameters: object = {}): Model {
  return openAICompatible({
    id: 'm',
    baseUrl: 'http://127.0.0.1:1/v1',
    fetch,
    parameters: { ...parameters },
  });
}
