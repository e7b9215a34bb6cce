import { describe, expect, it } from 'vitest';
import {
  chunk,
  sentBack,
  stopped,
  streamed,
  whole,
} from '../../../../test/support/providers/gemini-calls.js';
import { mediaOf } from '../../../../test/support/providers/model-calls.js';

describe('the parts of an answer of Gemini', () => {
  const code = { executableCode: { language: 'PYTHON', code: 'print(6*7)' }, thoughtSignature: 'SIG-C' };
  const result = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42\n' } };
  const parts = [
    { text: 'Let me ' },
    { text: 'see.' },
    code,
    result,
    { text: 'It is ' },
    { text: '42', thoughtSignature: 'SIG-T' },
    { text: '.' },
    { text: 'Sure?', thought: true },
    { text: 'Yes.' },
    { functionCall: { name: 'note', args: {} } },
    { unheardOf: { a: 1 } },
    { text: 'Noted.' },
  ];

  it('are one text where they are adjacent, and paragraphs where they are not', async () => {
    const expected = { content: 'Let me see.\n\nIt is 42.\n\nYes.\n\nNoted.', reasoningContent: 'Sure?' };
    expect(await streamed([...parts.map((part) => chunk([part])), chunk([], stopped)])).toMatchObject(
      expected,
    );
    expect(await whole(chunk(parts, stopped))).toMatchObject(expected);
  });

  it('are sent back as they came, without the gaps', async () => {
    const response = await streamed([...parts.map((part) => chunk([part])), chunk([], stopped)]);
    expect(await sentBack(response, mediaOf({}))).toEqual([
      { text: 'Let me see.' },
      code,
      result,
      { text: 'It is ' },
      { text: '42', thoughtSignature: 'SIG-T' },
      { text: '.' },
      { text: 'Yes.' },
      { functionCall: { name: 'note', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
      { unheardOf: { a: 1 } },
      { text: 'Noted.' },
    ]);
  });
});

describe('a picture that Gemini made', () => {
  const data = Buffer.from('PNG').toString('base64');
  const picture = { inlineData: { mimeType: 'image/png', data }, thoughtSignature: 'SIG-P' };
  const draft = {
    inlineData: { mimeType: 'image/png', data: Buffer.from('draft').toString('base64') },
    thought: true,
  };
  const parts = [draft, { text: 'Here:' }, picture, { text: 'Nice?' }];

  it('is media of the response and is sent back in its place with its signature; a draft is neither', async () => {
    const media = mediaOf({ 'hash of PNG': 'PNG' });
    const response = await streamed([chunk(parts, stopped)], { media });
    expect(response.content).toBe('Here:\n\nNice?');
    expect(response.media).toMatchObject([
      { kind: 'image', mimeType: 'image/png', hash: 'hash of PNG', size: 3 },
    ]);
    expect(media.put).toHaveBeenCalledOnce();
    expect(JSON.stringify(response.providerData)).not.toContain(data);
    expect(await sentBack(response, media)).toEqual([{ text: 'Here:' }, picture, { text: 'Nice?' }]);
  });

  it('is left out when it is not stored any longer', async () => {
    const response = await streamed([chunk(parts, stopped)], { media: mediaOf({}) });
    expect(await sentBack(response, mediaOf({}))).toEqual([{ text: 'Here:' }, { text: 'Nice?' }]);
  });
});

describe('the end of an answer of Gemini', () => {
  const safetyRatings = [
    { category: 'HARM_CATEGORY_HARASSMENT', probability: 'LOW' },
    { category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH', blocked: true },
  ];

  it.each(['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'])(
    'is a content filter after %s',
    async (finishReason) => {
      expect(await streamed([{ candidates: [{ finishReason }] }])).toMatchObject({
        content: '',
        finishReason: 'content_filter',
        finishMessage: finishReason,
      });
    },
  );

  it.each([
    ['the blocked categories', 'SAFETY', { safetyRatings }, 'SAFETY (HARM_CATEGORY_DANGEROUS_CONTENT)'],
    ['the explanation', 'RECITATION', { finishMessage: 'From a book.' }, 'RECITATION: From a book.'],
    ['the word for what is new', 'NO_IMAGE', {}, 'NO_IMAGE'],
    ['the explanation of a limit', 'MAX_TOKENS', { finishMessage: 'At 8192.' }, 'MAX_TOKENS: At 8192.'],
    ['nothing of a limit', 'MAX_TOKENS', {}, undefined],
    ['nothing of a plain end', 'STOP', { finishMessage: 'Done.', safetyRatings }, undefined],
  ])('says %s', async (_, finishReason, rest, expected) => {
    const { finishMessage } = await whole(chunk([{ text: 'x' }], { finishReason, ...rest }));
    expect(finishMessage).toBe(expected);
  });

  it.each([
    [{ blockReason: 'OTHER' }, 'The prompt was blocked by Google (OTHER).', 'OTHER'],
    [
      { blockReason: 'SAFETY', safetyRatings },
      'The prompt was blocked by Google (SAFETY).',
      'SAFETY (HARM_CATEGORY_DANGEROUS_CONTENT)',
    ],
    [{ blockReason: 'MODEL_ARMOR', blockReasonMessage: 'No.' }, 'No.', 'MODEL_ARMOR: No.'],
  ])(
    'is a content filter when the prompt was blocked: %j',
    async (promptFeedback, content, finishMessage) => {
      const expected = { content, finishMessage, finishReason: 'content_filter' };
      expect(await streamed([{ promptFeedback }])).toMatchObject(expected);
      expect(await whole({ promptFeedback })).toMatchObject(expected);
    },
  );
});
