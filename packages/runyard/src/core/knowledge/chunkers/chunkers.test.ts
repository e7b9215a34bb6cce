import { describe, expect, it } from 'vitest';
import type { Embedder } from '../../embedders/embedder.js';
import type { Model } from '../../models/model.js';
import type { Chunk, Document } from '../document.js';
import { readerTable } from '../readers/reader-table.js';
import type { ChunkerOptions } from './chunker.js';
import { checkChunkerOptions, chunkerOf, chunkers, defaultChunker, shownDefaults } from './chunkers.js';

const emptyUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** Animals and money have nothing in common for it. */
const embedder: Embedder = {
  id: 'topics',
  provider: 'test',
  embed: async (texts) => ({
    vectors: texts.map((text) =>
      Float32Array.of(Number(/cat|dog/i.test(text)), Number(/bank|money/i.test(text)), 0.1),
    ),
    usage: emptyUsage,
  }),
};

interface Given extends ChunkerOptions {
  readonly name?: string;
  readonly metadata?: Document['metadata'];
  readonly model?: Model;
}

async function chunks(key: string, content: string, given: Given = {}): Promise<Chunk[]> {
  const { name = null, metadata = {}, model, ...options } = given;
  const chunker = chunkerOf(key);
  if (chunker === undefined) throw new Error(`There is no ${key}.`);
  const { signal } = new AbortController();
  const found: Chunk[] = [];
  for await (const chunk of chunker.chunk({ name, content, metadata }, options, { signal, embedder, model }))
    found.push(chunk);
  return found;
}

const texts = async (key: string, content: string, given?: Given) =>
  (await chunks(key, content, given)).map((chunk) => chunk.content);

describe('every chunker', () => {
  const family = '👨‍👩‍👧‍👦';
  const given = `# Title\n\nÅ e\u0301 ${family}${family}${family} ${'long'.repeat(30)}. Next 😀😀😀😀 one.\n\n\n  \n${'- item 🇩🇪🇫🇷\n'.repeat(9)}`;

  for (const { key, defaults } of chunkers)
    it(`${key} makes no empty chunk, splits no character and loses no text`, async () => {
      for (const chunkSize of [1, 7, 40, 100_000]) {
        const overlaps = defaults.chunkOverlap === undefined ? [0] : [0, 3, 39].filter((n) => n < chunkSize);
        for (const chunkOverlap of overlaps) {
          const found = await texts(key, given, { chunkSize, chunkOverlap });
          expect(found.filter((text) => text.trim() === '')).toEqual([]);
          expect(found.filter((text) => /\p{Surrogate}/u.test(text))).toEqual([]);
          // each family is whole somewhere, or counted in whole ones
          const people = found.join(' ').split('👧').length - 1;
          expect(found.join(' ').split(family).length - 1).toBe(people);
          const letters = (text: string) => text.replace(/\s/g, '');
          if (chunkOverlap === 0) expect(letters(found.join(''))).toBe(letters(given));
        }
      }
      expect(await texts(key, ' \n\n ')).toEqual([]);
    });

  it('numbers its chunks, and keeps the metadata of the document', async () => {
    expect(await chunks('FixedSizeChunker', 'aa bb', { chunkSize: 2, metadata: { page: 3 } })).toEqual([
      { content: 'aa', metadata: { page: 3, chunk: 1, chunk_size: 2 } },
      { content: 'bb', metadata: { page: 3, chunk: 2, chunk_size: 2 } },
    ]);
    for (const key of ['DocumentChunker', 'RecursiveChunker', 'MarkdownChunker', 'AgenticChunker'])
      expect(await chunks(key, 'a  b\n', { metadata: { page: 3 } })).toEqual([
        { content: 'a  b\n', metadata: { page: 3 } },
      ]);
  });
});

it('FixedSizeChunker cuts at white space, and overlaps by characters', async () => {
  expect(await texts('FixedSizeChunker', ' one  two\nthree ', { chunkSize: 7 })).toEqual([
    'one two',
    'three',
  ]);
  expect(await texts('FixedSizeChunker', 'one two three', { chunkSize: 8, chunkOverlap: 2 })).toEqual([
    'one two',
    'wo three',
  ]);
  expect(await texts('FixedSizeChunker', 'abcdefgh', { chunkSize: 3 })).toEqual(['abc', 'def', 'gh']);
});

it('RecursiveChunker cuts at lines, then sentences, without repeated tails', async () => {
  const text = 'First line.\nSecond line is longer. It has two sentences.';
  expect(await texts('RecursiveChunker', text, { chunkSize: 25 })).toEqual([
    'First line.',
    'Second line is longer.',
    'It has two sentences.',
  ]);
  expect(await texts('RecursiveChunker', 'abcdefghij', { chunkSize: 8, chunkOverlap: 5 })).toEqual([
    'abcdefgh',
    'defghij',
  ]);
});

it('DocumentChunker joins paragraphs, and cuts long ones between sentences', async () => {
  const text = 'One.\n\nTwo\nlines.\r\n\r\nThis one is long. It is cut. Really.';
  expect(await texts('DocumentChunker', text, { chunkSize: 20 })).toEqual([
    'One.\n\nTwo lines.',
    'This one is long.',
    'It is cut. Really.',
  ]);
  expect(await texts('DocumentChunker', 'aaaa\n\nbbbb', { chunkSize: 5, chunkOverlap: 2 })).toEqual([
    'aaaa',
    'aabbbb',
  ]);
});

it('SentenceChunker keeps sentences whole in every script, also in the overlap', async () => {
  expect(await texts('SentenceChunker', '今日は晴れです。明日は雨です。', { chunkSize: 9 })).toEqual([
    '今日は晴れです。',
    '明日は雨です。',
  ]);
  const text = 'A first one. A second one. A third one.';
  expect(await texts('SentenceChunker', text, { chunkSize: 27, chunkOverlap: 14 })).toEqual([
    'A first one. A second one.',
    'A second one. A third one.',
  ]);
});

it('MarkdownChunker cuts at headings, but not in code', async () => {
  const code = '```sh\n# no heading\n\nls\n```';
  const text = `# One\n\nText.\n\n${code}\n\n## Two\nMore text.`;
  expect(await texts('MarkdownChunker', text, { chunkSize: 45 })).toEqual([
    `# One\n\nText.\n\n${code}`,
    '## Two\n\nMore text.',
  ]);
  expect(await texts('MarkdownChunker', '# A\n\n- one\n- two\n- three', { chunkSize: 12 })).toEqual([
    '# A',
    '- one\n- two',
    '- three',
  ]);
});

it('RowChunker makes a chunk of each line, with its number in the file', async () => {
  expect(await chunks('RowChunker', 'a,  b\n\nc', { metadata: { start_row: 1001 } })).toEqual([
    { content: 'a, b', metadata: { start_row: 1001, row_number: 1001, chunk: 1, chunk_size: 4 } },
    { content: 'c', metadata: { start_row: 1001, row_number: 1003, chunk: 2, chunk_size: 1 } },
  ]);
});

it('SemanticChunker cuts where the meaning changes', async () => {
  const text = 'The cat sleeps. The dog barks.\nThe bank opens. It lends money.';
  expect(await texts('SemanticChunker', text)).toEqual([
    'The cat sleeps. The dog barks.',
    'The bank opens. It lends money.',
  ]);
});

describe('AgenticChunker', () => {
  const model = (answer: () => string) => {
    const asked: string[] = [];
    const found: Pick<Model, 'generate'> = {
      async generate({ messages }) {
        asked.push(messages[0]?.content ?? '');
        return { content: answer(), toolCalls: [], usage: emptyUsage, finishReason: 'stop' };
      },
    };
    // the chunker calls nothing else
    return { model: found as Model, asked };
  };

  it('cuts where the model says, between words', async () => {
    const { model: says, asked } = model(() => '6');
    expect(await texts('AgenticChunker', 'one two three four', { chunkSize: 14, model: says })).toEqual([
      'one two',
      'three four',
    ]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('one two three');
  });

  it('cuts by size without a usable answer, and stops asking', async () => {
    const { model: says, asked } = model(() => 'I cannot say');
    const text = Array.from({ length: 40 }, () => 'word').join(' ');
    const bySize = await texts('AgenticChunker', text, { chunkSize: 9 });
    expect(bySize).toEqual(Array(20).fill('word word'));
    expect(await texts('AgenticChunker', text, { chunkSize: 9, model: says })).toEqual(bySize);
    expect(asked).toHaveLength(3);
  });
});

describe('CodeChunker', () => {
  const python = [
    'import os',
    '',
    '@cached',
    'def one():',
    '    return 1',
    '',
    '# Two',
    'def two():',
    '    if x:',
    '        return 2',
    '',
    '    return 3',
  ];

  it('keeps functions whole, with their comments and decorators', async () => {
    expect(await texts('CodeChunker', python.join('\n'), { chunkSize: 70, name: 'a.py' })).toEqual([
      python.slice(0, 5).join('\n'),
      python.slice(6).join('\n'),
    ]);
  });

  it('splits a function that is too long at its own blocks', async () => {
    expect(await texts('CodeChunker', python.slice(6).join('\n'), { chunkSize: 45, name: 'a.py' })).toEqual([
      '# Two\ndef two():\n    if x:\n        return 2',
      '    return 3',
    ]);
  });

  it('splits code of any depth and lines of any length', async () => {
    const nested = Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}x`).join('\n');
    const found = await texts('CodeChunker', nested, { chunkSize: 400, name: 'a.py' });
    expect(found.join('\n')).toBe(nested);
    expect(await texts('CodeChunker', 'ab;'.repeat(1000), { chunkSize: 30, name: 'a.js' })).toHaveLength(100);
  });

  it('follows brackets where nothing is indented', async () => {
    const code = 'function a() {\nif (x) {\ncall("}");\n}\n}\nfunction b() {\nreturn 1;\n}';
    expect(await texts('CodeChunker', code, { chunkSize: 45, name: 'a.js' })).toEqual([
      'function a() {\nif (x) {\ncall("}");\n}\n}',
      'function b() {\nreturn 1;\n}',
    ]);
  });
});

it('a file in an archive is split as if it had been added alone', () => {
  const zip = readerTable.find(({ id }) => id === 'zip');
  const keyFor = (metadata: Document['metadata']) =>
    zip && defaultChunker(zip, { name: null, content: '', metadata })?.key;
  expect(keyFor({ path: 'a/b.csv' })).toBe('RowChunker');
  expect(keyFor({ path: 'a/b.py' })).toBe('CodeChunker');
  expect(keyFor({})).toBe('DocumentChunker');
});

it('refuses parameters that make no sense', () => {
  const check = (options: ChunkerOptions) => checkChunkerOptions(chunkers[3] ?? expect.fail(), options);
  expect(check({ chunkSize: 10, chunkOverlap: 9 })).toBeUndefined();
  expect(check({ chunkSize: 0 })).toBe('chunk_size must be an integer from 1 to 1000000');
  expect(check({ chunkOverlap: -1 })).toBe('chunk_overlap must be an integer of at least 0');
  expect(check({ chunkSize: 10, chunkOverlap: 10 })).toBe('chunk_overlap must be less than chunk_size');
});

it('shows the parameters of each chunker', () => {
  expect(Object.fromEntries(chunkers.map((chunker) => [chunker.key, shownDefaults(chunker)]))).toEqual({
    AgenticChunker: { chunk_size: 5000 },
    CodeChunker: { chunk_size: 5000 },
    DocumentChunker: { chunk_size: 5000, chunk_overlap: 0 },
    FixedSizeChunker: { chunk_size: 5000, chunk_overlap: 0 },
    MarkdownChunker: { chunk_size: 5000, chunk_overlap: 0 },
    RecursiveChunker: { chunk_size: 5000, chunk_overlap: 0 },
    RowChunker: {},
    SemanticChunker: { chunk_size: 5000 },
    SentenceChunker: { chunk_size: 5000, chunk_overlap: 0 },
  });
});
