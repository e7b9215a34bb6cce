import { describe, expect, it } from 'vitest';
import { chunk, stopped, streamed, whole } from '../../../../test/support/providers/gemini-calls.js';

const text = 'Grüße aus 東京 🌍! It rains.';
const bytes = (words: string) => Buffer.byteLength(words);
/** A segment as Google counts it. */
const segment = (words: string, rest: object = {}) => ({
  startIndex: bytes(text.slice(0, text.indexOf(words))),
  endIndex: bytes(text.slice(0, text.indexOf(words))) + bytes(words),
  text: words,
  ...rest,
});
const range = (words: string, content = text) => ({
  start: content.indexOf(words),
  end: content.indexOf(words) + words.length,
});
const groundingMetadata = {
  webSearchQueries: ['weather tokyo', 'rain tokyo'],
  groundingChunks: [
    { web: { uri: 'https://a.example', title: 'a.example' } },
    { retrievedContext: { uri: 'gs://b/doc.pdf', title: 'doc', text: 'It will rain.' } },
    { maps: { uri: 'https://maps.example/?cid=1', title: 'Tokyo', placeId: 'places/1' } },
  ],
  groundingSupports: [
    { segment: segment('東京 🌍!'), groundingChunkIndices: [0] },
    { segment: segment('It rains.'), groundingChunkIndices: [0, 1] },
  ],
};
const citations = {
  sources: [
    { url: 'https://a.example', title: 'a.example', ...range('東京 🌍!') },
    { url: 'https://a.example', title: 'a.example', ...range('It rains.') },
    { url: 'gs://b/doc.pdf', title: 'doc', citedText: 'It will rain.', ...range('It rains.') },
    { url: 'https://maps.example/?cid=1', title: 'Tokyo' },
  ],
  searchQueries: ['weather tokyo', 'rain tokyo'],
};

describe('the sources of an answer of Gemini', () => {
  it('are citations at the places of the content that they support', async () => {
    const body = chunk([{ text }], { ...stopped, groundingMetadata });
    expect((await whole(body)).citations).toEqual(citations);
    expect((await streamed([body])).citations).toEqual(citations);
  });

  it('are the same when each event repeats them, and when each says only what is new', async () => {
    const letters = [...text];
    const repeated = letters.map((letter) => chunk([{ text: letter }], { groundingMetadata }));
    expect((await streamed([...repeated, chunk([], stopped)])).citations).toEqual(citations);
    const { webSearchQueries, groundingChunks, groundingSupports } = groundingMetadata;
    const parts = [0, 1, 2].map((at) => ({
      webSearchQueries: webSearchQueries.slice(at, at + 1),
      groundingChunks: groundingChunks.slice(at, at + 1),
      groundingSupports: groundingSupports.slice(at, at + 1),
    }));
    const added = parts.map((part) => chunk([], { groundingMetadata: part }));
    expect((await streamed([chunk([{ text }]), ...added, chunk([], stopped)])).citations).toEqual(citations);
  });

  it('are found after code that Google ran, whether positions count from the part or from the text', async () => {
    const parts = [
      { text: 'One.' },
      { executableCode: { code: '1' } },
      { text: 'Twö.' },
      { text: ' Three.' },
    ];
    const supports = [
      { segment: { startIndex: 5, endIndex: 11, partIndex: 2, text: ' Three' }, groundingChunkIndices: [0] },
      { segment: { endIndex: 9, text: 'One.Twö.' }, groundingChunkIndices: [0] },
      { segment: { startIndex: 4, endIndex: 9, text: 'Twö.' }, groundingChunkIndices: [0] },
      { segment: { startIndex: 0, endIndex: 4, text: 'Four' }, groundingChunkIndices: [0] },
      { segment: { startIndex: 3, endIndex: 999 }, groundingChunkIndices: [0, 7, -1] },
    ];
    const metadata = {
      groundingChunks: [{ web: { uri: 'https://a.example' } }],
      groundingSupports: supports,
    };
    const { content, citations } = await whole(chunk(parts, { ...stopped, groundingMetadata: metadata }));
    expect(content).toBe('One.\n\nTwö. Three.');
    expect(citations?.sources.map(({ start, end }) => content.slice(start, end))).toEqual([
      ' Three',
      'One.\n\nTwö.',
      'Twö.',
    ]);
  });

  it('are also those that it recites, and the pages that it could fetch', async () => {
    const response = await whole(
      chunk([{ text }], {
        ...stopped,
        citationMetadata: { citationSources: [{ ...segment('It rains.'), uri: 'https://r.example' }] },
        urlContextMetadata: {
          urlMetadata: [
            { retrievedUrl: 'https://u.example', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
            { retrievedUrl: 'https://gone.example', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_ERROR' },
          ],
        },
      }),
    );
    expect(response.citations).toEqual({
      sources: [{ url: 'https://r.example', ...range('It rains.') }, { url: 'https://u.example' }],
    });
  });

  it('are absent where Google names none', async () => {
    for (const metadata of [
      undefined,
      null,
      'x',
      {},
      { groundingChunks: [1, {}], groundingSupports: [{}] },
    ]) {
      const response = await whole(chunk([{ text }], { ...stopped, groundingMetadata: metadata }));
      expect(response).not.toHaveProperty('citations');
    }
  });
});
