import { describe, expect, it } from 'vitest';
import { fakeAiSdkModel } from '../../../../test/support/providers/ai-sdk-model.js';
import {
  ask,
  collect,
  kept,
  mediaOf,
  message,
  open,
} from '../../../../test/support/providers/model-calls.js';
import type { Message } from '../message.js';

type Part = { readonly type: string } & Record<string, unknown>;

const usage = { inputTokens: { total: 2 }, outputTokens: { total: 3 } };
const finish = (unified: string, raw: string | undefined = undefined) => ({
  type: 'finish',
  usage,
  finishReason: { unified, raw },
});
const text = (id: string, ...deltas: string[]): Part[] => [
  { type: 'text-start', id },
  ...deltas.map((delta) => ({ type: 'text-delta', id, delta })),
  { type: 'text-end', id },
];
const searching = (rest: object = {}): Part[] => [
  { type: 'tool-call', toolCallId: 's', toolName: 'search', input: '{"q":"x"}', providerExecuted: true },
  { type: 'tool-result', toolCallId: 's', toolName: 'search', result: { error_code: 'gone' }, ...rest },
];

/** The response to a stream of these parts, after a check that it is the same as its deltas. */
async function streamed(parts: readonly Part[], version: 'v2' | 'v3' | 'v4' = 'v3') {
  const fake = fakeAiSdkModel(version, [[...parts], [finish('stop')]]);
  const media = mediaOf({ 'hash of PNG': 'PNG' });
  const { deltas, response } = await collect(fake.bridge.stream(ask({ media }), open()));
  expect(deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('')).toBe(response.content);
  /** What the model is shown of its answer in the next call. */
  const shown = async (...answers: Message[]) => {
    await collect(fake.bridge.stream(ask({ messages: [kept(response), ...answers], media }), open()));
    return fake.calls[1].prompt;
  };
  return { response, shown };
}

describe('the answer of an AI SDK model', () => {
  it('puts a gap between texts that are not adjacent', async () => {
    const parts = [
      ...text('1', 'Let me ', 'look.'),
      ...searching(),
      ...text('2'),
      ...text('3', 'Found', ' it.'),
      ...text('4', ' Really.'),
      { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
      ...text('5', 'Yes.'),
      finish('stop'),
    ];
    const { response, shown } = await streamed(parts);
    expect(response.content).toBe('Let me look.\n\nFound it. Really.\n\nYes.');
    const [{ content }] = await shown();
    const texts = content.filter((part: Part) => part.type === 'text').map((part: Part) => part.text);
    expect(texts).toEqual(['Let me look.', 'Found it.', ' Really.', 'Yes.']);

    const whole = [{ type: 'text', text: 'A' }, ...searching(), { type: 'text', text: 'B' }];
    const { bridge } = fakeAiSdkModel('v3', [
      [{ content: whole, usage, finishReason: finish('stop').finishReason }],
    ]);
    expect((await bridge.generate(ask(), open())).content).toBe('A\n\nB');
  });

  it('shows the model each thought with its own signature, also one without words', async () => {
    const thought = (text: string) => ({ type: 'reasoning', text });
    const signed = (signature: string) => ({ p: { signature } });
    const content = ['A', ''].map((name) => ({ ...thought(name), providerMetadata: signed(name) }));
    const answer = { content: [...content, { type: 'text', text: 'Done' }], usage, finishReason: 'stop' };
    const { bridge, calls } = fakeAiSdkModel('v3', [[answer], [answer]]);
    const first = await bridge.generate(ask(), open());
    await bridge.generate(ask({ messages: [kept(first)] }), open());
    expect(calls[1].prompt[0].content.slice(0, 2)).toEqual(
      ['A', ''].map((name) => ({ ...thought(name), providerOptions: signed(name) })),
    );
  });

  it('shows the provider that its own tool failed', async () => {
    const { shown } = await streamed([
      ...searching({ isError: true, preliminary: true }),
      ...searching({ isError: true }).slice(1),
      finish('stop'),
    ]);
    const [{ content }] = await shown();
    expect(content).toEqual([
      { type: 'tool-call', toolCallId: 's', toolName: 'search', input: { q: 'x' }, providerExecuted: true },
      {
        type: 'tool-result',
        toolCallId: 's',
        toolName: 'search',
        output: { type: 'error-json', value: { error_code: 'gone' } },
      },
    ]);
  });

  it('names its sources', async () => {
    const { response } = await streamed([
      {
        type: 'source',
        sourceType: 'url',
        id: '1',
        url: 'https://example.com',
        title: 'A',
        providerMetadata: { anthropic: { citedText: 'words' } },
      },
      { type: 'source', sourceType: 'document', id: '2', title: 'B', filename: 'b.pdf', mediaType: 'x/y' },
      { type: 'source', sourceType: 'newer', id: '3' },
      finish('stop'),
    ]);
    expect(response.citations).toEqual({
      sources: [
        { url: 'https://example.com', title: 'A', citedText: 'words' },
        { title: 'B', filename: 'b.pdf' },
      ],
    });
  });

  it('has its files among the media, and shows them to the model again', async () => {
    const file = { type: 'file', mediaType: 'image/png', providerMetadata: { google: { signature: 'S' } } };
    const made = await streamed([...text('1', 'Look'), { ...file, data: 'UE5H' }, finish('stop')]);
    expect(made.response.media).toMatchObject([
      { kind: 'image', hash: 'hash of PNG', mimeType: 'image/png' },
    ]);
    const [{ content }] = await made.shown();
    expect(content).toEqual([
      { type: 'text', text: 'Look' },
      {
        type: 'file',
        mediaType: 'image/png',
        data: Buffer.from('PNG'),
        providerOptions: { google: { signature: 'S' } },
      },
    ]);

    const url = 'https://example.com/a.png';
    const linked = await streamed(
      [{ ...file, data: { type: 'url', url: new URL(url) } }, finish('stop')],
      'v4',
    );
    expect(linked.response.media).toMatchObject([{ kind: 'image', url, mimeType: 'image/png' }]);
  });

  it('asks for the approval of a call that the provider is about to make', async () => {
    const parts = [
      ...searching().slice(0, 1),
      { type: 'tool-approval-request', approvalId: 'appr', toolCallId: 's' },
      { type: 'tool-approval-request', approvalId: 'other', toolCallId: 'unknown' },
      finish('tool-calls'),
    ];
    for (const toolCallError of [false, true]) {
      const { response, shown } = await streamed(parts);
      expect(response).toMatchObject({
        toolCalls: [{ id: 's', name: 'search', arguments: '{"q":"x"}', client: 'confirmation' }],
        finishReason: 'tool_calls',
      });
      expect(await shown(message('tool', 'why', { toolCallId: 's', toolCallError }))).toEqual([
        {
          role: 'assistant',
          content: [
            {
              type: 'tool-call',
              toolCallId: 's',
              toolName: 'search',
              input: { q: 'x' },
              providerExecuted: true,
            },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-approval-response',
              approvalId: 'appr',
              approved: !toolCallError,
              ...(toolCallError && { reason: 'why' }),
            },
          ],
        },
      ]);
    }
  });

  it('ignores parts of unknown kinds', async () => {
    const { response } = await streamed([
      { type: 'raw', rawValue: {} },
      { type: 'reasoning-file', mediaType: 'image/png', data: 'UE5H' },
      { type: 'custom', kind: 'a.b' },
      { type: 'file' },
      { type: 'source' },
      { type: 'tool-approval-request' },
      { type: 'text-delta', id: 't' },
      { type: 'text-end', id: 'unknown' },
      ...text('1', 'Hi'),
      finish('stop'),
    ]);
    expect(response).toMatchObject({ content: 'Hi', toolCalls: [], finishReason: 'stop' });
  });

  it('is what was shown, also when its texts grow concurrently', async () => {
    const say = (id: string, delta: string) => ({ type: 'text-delta', id, delta });
    const begin = (id: string) => ({ type: 'text-start', id });
    const { response } = await streamed([
      begin('a'),
      begin('b'),
      say('b', '1'),
      say('a', '2'),
      say('b', '3'),
      finish('stop'),
    ]);
    expect(response.content).toBe('123');
  });

  it('drops a call of the provider that has no result', async () => {
    const { shown } = await streamed([...text('1', 'A'), ...searching().slice(0, 1), finish('length')]);
    expect(await shown()).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'A' }] }]);
  });

  it('makes no call that the token limit cut off', async () => {
    const call = (toolCallId: string, input: string) => ({
      type: 'tool-call',
      toolCallId,
      toolName: 'add',
      input,
    });
    const { response } = await streamed([
      call('a', ''),
      call('b', '{}'),
      call('c', '{"a":'),
      finish('length'),
    ]);
    expect(response).toMatchObject({
      toolCalls: [
        { id: 'a', arguments: '{}' },
        { id: 'b', arguments: '{}' },
      ],
      finishReason: 'length',
      finishMessage: 'The call of add was cut off and is not made.',
    });
  });

  it.each([
    [{ unified: 'stop', raw: 'end_turn' }, 'stop', undefined],
    [{ unified: 'length', raw: 'max_tokens' }, 'length', undefined],
    [{ unified: 'content-filter', raw: 'content_filter' }, 'content_filter', undefined],
    [{ unified: 'content-filter', raw: 'SAFETY' }, 'content_filter', 'SAFETY'],
    [{ unified: 'content-filter', raw: 'refusal' }, 'refusal', undefined],
    [{ unified: 'other', raw: 'pause_turn' }, 'other', 'pause_turn'],
    [{ unified: 'error', raw: undefined }, 'other', 'error'],
    ['other', 'other', undefined],
    ['unknown', 'other', undefined],
  ])('ends for the reason %j', async (finishReason, reason, said) => {
    const { response } = await streamed([{ type: 'finish', usage, finishReason }]);
    expect([response.finishReason, response.finishMessage]).toEqual([reason, said]);
  });
});
