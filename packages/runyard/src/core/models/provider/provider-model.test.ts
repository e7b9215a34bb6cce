import { describe, expect, it } from 'vitest';
import {
  adapterFor,
  ask,
  collect,
  failure,
  open,
  secret,
} from '../../../../test/support/providers/model-calls.js';
import { namedEvents, plainEvents, textChunk } from '../../../../test/support/providers/model-server.js';
import { anthropic } from '../anthropic/anthropic.js';
import { gemini } from '../gemini/gemini.js';
import { openAICompatible } from '../openai-compatible/openai-compatible.js';
import { openAIResponses } from '../openai-responses/openai-responses.js';

/** Each adapter with the beginning of a stream in its wire format. */
const adapters = [
  ['OpenAI-compatible', openAICompatible, plainEvents([textChunk('x')])],
  ['Responses', openAIResponses, namedEvents([{ type: 'response.output_text.delta', delta: 'x' } as never])],
  [
    'Anthropic',
    anthropic,
    namedEvents([
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'x' } } as never,
    ]),
  ],
  ['Gemini', gemini, plainEvents([{ candidates: [{ content: { parts: [{ text: 'x' }] } }] }])],
] as const;

describe.each(adapters)('every adapter: %s', (_, make, begun) => {
  const modelFor = (script: Parameters<typeof adapterFor>[0]) =>
    adapterFor(script, (connection) => make({ id: 'm', provider: 'Test', ...connection }));

  it('closes its connection when it is aborted in the middle of a stream', async () => {
    const { model, server } = await modelFor([{ raw: begun, ending: 'stall' }]);
    const controller = new AbortController();
    const reason = new Error('cancelled by the user');
    const chunks = model.stream(ask(), { signal: controller.signal })[Symbol.asyncIterator]();
    expect(await chunks.next()).toEqual({ done: false, value: { type: 'text', text: 'x' } });
    const pending = chunks.next();
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
    await server.clientLeft();
  });

  it('closes its connection when it is aborted before the first byte', async () => {
    const { model, server } = await modelFor([{ instead: 'stall' }]);
    const controller = new AbortController();
    const answer = model.generate(ask(), { signal: controller.signal });
    await Promise.race([server.answered(), answer]);
    controller.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    await server.clientLeft();
  });

  it('says what the provider said, without the key', async () => {
    const { model } = await modelFor([
      { status: 403, body: { error: { message: `Key ${secret} may not`, type: 'permission_error' } } },
    ]);
    expect(await failure(model.generate(ask(), open()))).toMatchObject({
      message: 'Test answered 403: Key *** may not',
      status: 403,
      retryable: false,
    });
  });

  it('fails on a stream that breaks off, and is tried again if nothing had come', async () => {
    const { model, server } = await modelFor([
      { raw: ': nothing yet\n\n', ending: 'end' },
      { raw: begun, ending: 'reset' },
    ]);
    expect(await failure(collect(model.stream(ask(), open())))).toMatchObject({
      kind: 'connection',
      retryable: true,
    });
    expect(server.requests).toHaveLength(2);
  });

  it('names what is not JSON', async () => {
    const { model } = await modelFor([{ raw: 'data: {"half\n\n', ending: 'end' }]);
    expect(await failure(collect(model.stream(ask(), open())))).toMatchObject({
      kind: 'protocol',
      message: 'Test sent something that is not JSON: {"half',
    });
  });
});
