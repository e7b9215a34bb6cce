import { expect } from 'vitest';
import { gemini } from '../../../src/core/models/gemini/gemini.js';
import type { ModelRequest, ModelResponse } from '../../../src/core/models/model.js';
import { ask, collect, kept, message, open, secret } from './model-calls.js';
import { plainEvents } from './model-server.js';

export const geminiId = 'gemini-3.8-flash';

/** One object of a stream. */
export const chunk = (parts: object[], rest: object = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...rest }],
});

export const stopped = { finishReason: 'STOP' };

/** The result of a stream. Its deltas must be its content. */
export async function streamed(
  chunks: readonly object[],
  request: Partial<ModelRequest> = {},
): Promise<ModelResponse> {
  const model = modelThatGets(plainEvents([...chunks]), 'text/event-stream');
  const { deltas, response } = await collect(model.stream(ask(request), open()));
  const text = deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');
  expect(text).toBe(response.content);
  return response;
}

/** The response for one body, in a call without streaming. */
export function whole(body: object): Promise<ModelResponse> {
  return modelThatGets(JSON.stringify(body), 'application/json').generate(ask(), open());
}

/** The parts of the model's turn when the response is sent back. */
export async function sentBack(response: ModelResponse, media: ModelRequest['media']): Promise<object[]> {
  let sent = '';
  const model = modelThatGets(JSON.stringify(chunk([], stopped)), 'application/json', (body) => {
    sent = body;
  });
  const messages = [message('user', 'Hello'), kept(response), message('user', 'And now?')];
  await model.generate(ask({ messages, media }), open());
  return JSON.parse(sent).contents[1].parts;
}

function modelThatGets(answer: string, contentType: string, see: (body: string) => void = () => {}) {
  const fetch = async (_: unknown, init?: RequestInit) => {
    see(String(init?.body));
    return new Response(answer, { headers: { 'content-type': contentType } });
  };
  return gemini({ id: geminiId, apiKey: secret, fetch });
}
