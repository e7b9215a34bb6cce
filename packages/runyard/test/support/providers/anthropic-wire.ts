import { type AnthropicOptions, anthropic } from '../../../src/core/models/anthropic/anthropic.js';
import type { ModelChunk, ModelRequest } from '../../../src/core/models/model.js';
import { adapterFor, ask, joined, open } from './model-calls.js';
import { type ModelServerScript, namedEvents } from './model-server.js';

export const id = 'claude-sonnet-5-5';
export const modelFor = (script: ModelServerScript, options: Partial<AnthropicOptions> = {}) =>
  adapterFor(script, (connection) => anthropic({ id, ...connection, ...options }));

export const whole = (content: object[], rest: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 10, output_tokens: 5 },
  ...rest,
});
export const text = (words: string) => ({ type: 'text', text: words });

/** The body that the server was sent for a request. */
export async function sent(request: Partial<ModelRequest>, options: Partial<AnthropicOptions> = {}) {
  const { model, server } = await modelFor([{ body: whole([text('ok')]) }], options);
  await model.generate(ask(request), open());
  return server.requests[0]?.body;
}

export const start = {
  type: 'message_start',
  message: whole([], {
    stop_reason: null,
    usage: {
      input_tokens: 7,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 20,
      output_tokens: 1,
    },
  }),
};
export const block = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});
export const delta = (index: number, change: object) => ({
  type: 'content_block_delta',
  index,
  delta: change,
});
export const stop = (index: number) => ({ type: 'content_block_stop', index });
export const end = (stop_reason: string, usage: object = { output_tokens: 30 }) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
];

export const words = (index: number, ...pieces: string[]) => [
  block(index, text('')),
  ...pieces.map((piece) => delta(index, { type: 'text_delta', text: piece })),
  stop(index),
];
export const thought = (index: number, words: string, signature = 'S==') => [
  block(index, { type: 'thinking', thinking: '', signature: '' }),
  delta(index, { type: 'thinking_delta', thinking: words }),
  delta(index, { type: 'signature_delta', signature }),
  stop(index),
];
export const searchCall = (input: object) => ({
  type: 'server_tool_use',
  id: 'srv_1',
  name: 'web_search',
  input,
});
export const search = (index: number) => [
  block(index, searchCall({})),
  delta(index, { type: 'input_json_delta', partial_json: '{"query":' }),
  delta(index, { type: 'input_json_delta', partial_json: '"Ada"}' }),
  stop(index),
];
export const found = {
  type: 'web_search_tool_result',
  tool_use_id: 'srv_1',
  content: [{ type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: 'E==' }],
};
export const citation = {
  type: 'web_search_result_location',
  url: 'https://a.example',
  title: 'A',
  encrypted_index: 'I==',
  cited_text: 'Ada was born in 1815.',
};
export const stream = (...events: { readonly type: string }[]) =>
  ({ raw: namedEvents(events), ending: 'end' }) as const;
export const wholeText = (deltas: readonly ModelChunk[]) =>
  joined(deltas)
    .flatMap(([type, piece]) => (type === 'text' ? [piece] : []))
    .join('');
