import { expect, test } from 'vitest';
import type { Media, MediaContents } from '../../media/media.js';
import { documentName, forOneRequest, loaded } from './media-parts.js';

const paper: Media = { kind: 'file', id: 'f1', url: 'https://example.com/a/paper.pdf?token=secret#x' };

function contentsWith(fetch: NonNullable<MediaContents['fetch']>): MediaContents {
  return { put: async () => '', get: async () => undefined, fetch };
}

test('a medium at a URL is fetched where its bytes are needed, with the type that the server names', async () => {
  const asked: string[] = [];
  const contents = contentsWith(async (url) => {
    asked.push(url);
    return { bytes: Buffer.from('%PDF-'), mimeType: 'application/pdf' };
  });
  expect(await loaded(paper, contents, 'P')).toEqual({
    media: { ...paper, mimeType: 'application/pdf' },
    bytes: Buffer.from('%PDF-'),
  });
  expect(asked).toEqual([paper.url]);
});

test('the given type wins, and without one it follows from the bytes', async () => {
  const bytes = Buffer.from('%PDF-');
  const given = contentsWith(async () => ({ bytes, mimeType: 'text/html' }));
  expect((await loaded({ ...paper, mimeType: 'text/csv' }, given, 'P')).media.mimeType).toBe('text/csv');
  const silent = contentsWith(async () => ({ bytes, mimeType: undefined }));
  expect((await loaded(paper, silent, 'P')).media.mimeType).toBe('application/pdf');
});

test('a fetch that is refused says of which medium', async () => {
  const contents = contentsWith(() => Promise.reject(new Error('It is not a public address.')));
  await expect(loaded(paper, contents, 'P')).rejects.toThrow(
    'P takes the file f1 only as bytes, which could not be fetched. It is not a public address.',
  );
});

test('without a fetcher, a URL has no bytes', async () => {
  const contents: MediaContents = { put: async () => '', get: async () => undefined };
  await expect(loaded(paper, contents, 'P')).rejects.toThrow('has no stored content');
});

test('the name of a document at a URL has nothing of its query', () => {
  expect(documentName(paper)).toBe('paper.pdf');
  expect(documentName({ ...paper, filename: 'mine.pdf' })).toBe('mine.pdf');
  expect(documentName({ ...paper, url: 'https://example.com/' })).toBe('f1');
});

test('the media of one request share a bound, and are fetched one after the other', async () => {
  let open = 0;
  let most = 0;
  const contents = forOneRequest(
    contentsWith(async () => {
      most = Math.max(most, ++open);
      await Promise.resolve();
      open -= 1;
      return { bytes: { length: 20_971_520 } as Uint8Array, mimeType: undefined };
    }),
  );
  const fetched = await Promise.allSettled(['a', 'b', 'c'].map((url) => contents.fetch!(url)));
  expect(fetched.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(most).toBe(1);
});
