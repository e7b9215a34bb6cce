import { expect } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import type { Message } from '../../../src/core/models/message.js';
import type { ModelRequest, ModelResponse } from '../../../src/core/models/model.js';
import { openAIResponses } from '../../../src/core/models/openai-responses/openai-responses.js';
import { adapterFor, ask, collect, joined, kept, mediaOf, message, open, secret } from './model-calls.js';
import { type ModelServerScript, namedEvents } from './model-server.js';

export const modelId = 'gpt-5-mini';
export const modelFor = (script: ModelServerScript) =>
  adapterFor(script, (connection) => openAIResponses({ id: modelId, ...connection }));

export type Item = JsonObject & { type: string };
type WireEvent = { readonly type: string };
export const response = (rest: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [],
  ...rest,
});
export const part = (text: string, annotations: object[] = []) => ({
  type: 'output_text',
  text,
  annotations,
});
export const said = (itemId: string, ...content: object[]) =>
  ({ type: 'message', id: itemId, role: 'assistant', status: 'completed', content }) as unknown as Item;
export const event = <Fields extends object>(type: string, rest: Fields) => ({
  type: `response.${type}`,
  sequence_number: 0,
  ...rest,
});
export const words = (item_id: string, output_index: number, delta: string) =>
  event('output_text.delta', { item_id, output_index, content_index: 0, delta });
export const done = (output_index: number, item: object) => event('output_item.done', { output_index, item });
export const added = (output_index: number, item: object) =>
  event('output_item.added', { output_index, item });
export const completed = event('completed', { response: response() });

/** The events of these items, each as OpenAI sends them: announced, in deltas, complete. */
function streamOf(items: readonly Item[]): WireEvent[] {
  return items.flatMap((item, index) => [
    added(index, { ...item, status: 'in_progress', content: [], result: null, arguments: '' }),
    ...(item.type === 'message' ? textEvents(item, index) : []),
    done(index, item),
  ]);
}

function textEvents({ id: itemId, content }: Item, output_index: number): WireEvent[] {
  return (content as { text: string; annotations: object[] }[]).flatMap(
    ({ text, annotations }, content_index) => [
      ...text
        .split(/(?<= )/)
        .map((delta) => event('output_text.delta', { item_id: itemId, output_index, content_index, delta })),
      ...annotations.map((annotation, annotation_index) =>
        event('output_text.annotation.added', {
          item_id: itemId,
          output_index,
          content_index,
          annotation_index,
          annotation,
        }),
      ),
    ],
  );
}

/** The result of a stream whose bytes arrive in pieces of this size. */
export async function read(events: readonly WireEvent[], request: Partial<ModelRequest> = {}, size = 3) {
  const bytes = Buffer.from(namedEvents(events));
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size));
      controller.close();
    },
  });
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const { deltas, response: answer } = await collect(
    openAIResponses({ id: modelId, apiKey: secret, fetch }).stream(ask(request), open()),
  );
  const shown = joined(deltas).filter(([kind]) => kind === 'text');
  expect(shown.map(([, text]) => text).join('')).toBe(answer.content);
  return { deltas, answer };
}

/** The same answer streamed, in two sizes of pieces, and whole. */
export async function answerOf(
  output: readonly Item[],
  request: Partial<ModelRequest> = {},
): Promise<ModelResponse> {
  const { model } = await modelFor([{ body: response({ output }) }]);
  const whole = await model.generate(ask(request), open());
  const withoutIds = ({ media, ...rest }: ModelResponse) => ({
    ...rest,
    media: media?.map(({ id: _, ...known }) => known),
  });
  for (const size of [3, 1_000_000]) {
    const { answer } = await read([...streamOf(output), completed], request, size);
    expect(withoutIds(answer)).toEqual(withoutIds(whole));
  }
  return whole;
}

/** The input of the request after this answer, whose calls got these results. */
export async function inputAfter(
  answer: ModelResponse,
  results: readonly Message[] = [],
  media = mediaOf({}),
): Promise<JsonObject[]> {
  const { model, server } = await modelFor([{ body: response({ output: [said('m', part('ok'))] }) }]);
  await model.generate(ask({ messages: [message('user', 'Go'), kept(answer), ...results], media }), open());
  return server.requests[0]?.body.input.slice(1);
}
