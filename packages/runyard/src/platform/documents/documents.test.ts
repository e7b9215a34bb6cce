import { afterAll, describe, expect, it, vi } from 'vitest';
import { docxOf, pptxOf, xlsxOf, zipOf } from '../../../test/support/files/office.js';
import { pdfOf } from '../../../test/support/files/pdf.js';
import { offlineEmbedder } from '../../core/embedders/offline.js';
import type { Chunker } from '../../core/knowledge/chunkers/chunker.js';
import { chunkers, isPlain, splitAlone } from '../../core/knowledge/chunkers/chunkers.js';
import type { Chunk, Document } from '../../core/knowledge/document.js';
import { chooseReader } from '../../core/knowledge/readers/choose-reader.js';
import type { ReadableContent } from '../../core/knowledge/readers/reader.js';
import { openDocuments } from './documents.js';
import { contentOf } from './parent-content.js';

const documents = openDocuments();
afterAll(() => documents.close());

interface Given {
  readonly readerId?: string;
  readonly mediaType?: string;
  readonly url?: string;
}

async function read(name: string, file: Uint8Array | string, given: Given = {}): Promise<Document[]> {
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file;
  const content = { ...contentOf(bytes, name, given.mediaType), url: given.url };
  const reader = chooseReader(documents.readers, { ...content, readerId: given.readerId });
  if (reader === undefined) throw new Error('There is no such reader.');
  const { signal } = new AbortController();
  const found: Document[] = [];
  for await (const document of documents.read(reader, content, { signal })) found.push(document);
  return found;
}

const shapeOf = ({ content, metadata }: Document) => [content, metadata];

describe('each reader makes its documents', () => {
  it('text, Markdown and code: one', async () => {
    for (const name of ['a.txt', 'a.md', 'a.py', 'unknown'])
      expect(await read(name, 'Grüße\n\n# x')).toEqual([{ name, content: 'Grüße\n\n# x', metadata: {} }]);
  });

  it('JSON: one for each element of an array, or line of JSON Lines', async () => {
    expect((await read('a.json', '[1, {"a": [1, "x,]\\""]}]')).map(shapeOf)).toEqual([
      ['1', { page: 1 }],
      ['{"a":[1,"x,]\\""]}', { page: 2 }],
    ]);
    expect((await read('a.json', ' {"a": 1} ')).map(shapeOf)).toEqual([['{"a":1}', { page: 1 }]]);
    expect((await read('a.jsonl', '{"a": 1}\n\n2\n')).map(({ content }) => content)).toEqual([
      '{"a":1}',
      '2',
    ]);
    await expect(read('a.json', '[1, 2')).rejects.toThrow('The JSON is malformed: its array does not end');
    await expect(read('a.json', '{"a"')).rejects.toThrow('The JSON is malformed in value 1');
  });

  it('CSV: one of a few rows, else one for each thousand', async () => {
    expect((await read('a.csv', 'name;text\nx;"a\nb"\n')).map(shapeOf)).toEqual([['name, text\nx, a b', {}]]);
    const many = Array.from({ length: 1001 }, (_, row) => `${row},y`).join('\n');
    expect((await read('a.csv', many)).map(({ metadata }) => metadata)).toEqual([
      { page: 1, start_row: 1, rows: 1000 },
      { page: 2, start_row: 1001, rows: 1 },
    ]);
  });

  it('labeled CSV: one for each row, with the names of its fields', async () => {
    const about = { headers: ['name', 'age'], total_rows: 2, source: 'a.csv' };
    const given = { readerId: 'Field-Labeled CSV Reader' };
    expect((await read('a.csv', 'name,age\nAda,36\nBob,\n', given)).map(shapeOf)).toEqual([
      ['name: Ada\nage: 36', { row_index: 0, ...about }],
      ['name: Bob', { row_index: 1, ...about }],
    ]);
  });

  it('PDF: one for each page', async () => {
    expect((await read('a.pdf', pdfOf('First page', 'Second page'))).map(shapeOf)).toEqual([
      ['First page', { page: 1 }],
      ['Second page', { page: 2 }],
    ]);
  });

  it('Word: its paragraphs', async () => {
    expect((await read('a.docx', docxOf('One', 'Two &amp; three'))).map(shapeOf)).toEqual([
      ['One\n\nTwo & three', {}],
    ]);
  });

  it('Excel: one for each sheet that is not empty', async () => {
    const file = xlsxOf({ First: [['a', 'b'], [], [1, 2.5]], Empty: [], Last: [['x']] });
    expect((await read('a.xlsx', file)).map(shapeOf)).toEqual([
      ['a, b\n\n1, 2.5', { sheet_name: 'First', sheet_index: 1 }],
      ['x', { sheet_name: 'Last', sheet_index: 3 }],
    ]);
  });

  it('PowerPoint: one for each slide, in order, with its notes', async () => {
    const file = pptxOf({ text: 'Title\nA &lt; B' }, { text: 'Second', notes: 'Speak slowly' });
    expect((await read('a.pptx', file)).map(shapeOf)).toEqual([
      ['Title\nA < B', { slide: 1 }],
      ['Second\n\nNotes:\nSpeak slowly', { slide: 2 }],
    ]);
  });

  it('HTML: the main part as Markdown, with its title', async () => {
    const page = `<!doctype html><html><head><title>The  title</title><style>p{}</style></head><body><nav>Menu</nav>
      <main><h1>Heading</h1><p>Some <b>bold</b> text.</p><script>alert(1)</script>
      <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></main><footer>Imprint</footer></body></html>`;
    const text = '# Heading\n\nSome **bold** text.\n\na | b\n1 | 2';
    expect((await read('a.html', page)).map(shapeOf)).toEqual([[text, { title: 'The title' }]]);
    const given = { readerId: 'website', url: 'https://example.com/a', mediaType: 'text/html' };
    expect((await read('a', page, given)).map(shapeOf)).toEqual([
      [text, { title: 'The title', url: 'https://example.com/a' }],
    ]);
    expect((await read('a.html', '<p>Hello <nav>Menu</nav>')).map(shapeOf)).toEqual([['Hello', {}]]);
  });

  it('an address whose server sends another kind of file is read as that', async () => {
    const given = { readerId: 'website', url: 'https://example.com/a', mediaType: 'application/pdf' };
    expect((await read('a', pdfOf('A page'), given)).map(shapeOf)).toEqual([
      ['A page', { page: 1, url: 'https://example.com/a' }],
    ]);
  });

  it('e-mail: the message, and each attachment as its own kind', async () => {
    const message = [
      'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
      'From: Ada <ada@example.com>',
      'To: bob@example.com',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/html; charset=utf-8',
      '',
      '<p>Hello <b>Bob</b></p>',
      '--b',
      'Content-Type: text/csv; name=list.csv',
      'Content-Disposition: attachment; filename=list.csv',
      '',
      '1,2',
      '--b',
      'Content-Type: image/png',
      'Content-Disposition: attachment; filename=dot.png',
      'Content-Transfer-Encoding: base64',
      '',
      'iVBORw0KGgoAAAANSUhEUg==',
      '--b--',
    ].join('\r\n');
    expect((await read('a.eml', message)).map(shapeOf)).toEqual([
      [
        'Subject: Grüße\nFrom: Ada <ada@example.com>\nTo: bob@example.com\n\nHello **Bob**',
        { subject: 'Grüße', from: 'Ada <ada@example.com>' },
      ],
      ['1, 2', { path: 'list.csv' }],
    ]);
  });

  it('zip: each file as its own kind, with its path; pictures and programs are left out', async () => {
    const inner = zipOf({ 'deep/b.pdf': pdfOf('A page') });
    const file = zipOf({
      'docs/a.md': '# A',
      'empty.py': '',
      'x.png': new Uint8Array([137, 0, 1]),
      'in.zip': inner,
    });
    expect((await read('a.zip', file)).map(shapeOf)).toEqual([
      ['# A', { path: 'docs/a.md' }],
      ['A page', { page: 1, path: 'in.zip/deep/b.pdf' }],
    ]);
  });

  it('HTML that is nested without end becomes text or fails alone', async () => {
    const deep = read('a.html', `${'<div>'.repeat(1500)}deep`).then(([document]) => document?.content);
    expect(await deep.catch((error: Error) => error.message)).toMatch(/^deep$|nested too deeply/);
    await expect(read('a.html', '<script>1</script>')).rejects.toThrow('Content could not be read');
  });
});

it('reads a table of any length in bounded memory, no faster than it is taken', async () => {
  let sent = 0;
  let closed = false;
  const endless: ReadableContent = {
    name: 'a.csv',
    mediaType: undefined,
    size: undefined,
    async *open() {
      try {
        for (;;) {
          sent += 1;
          yield new TextEncoder().encode('some,cells\n'.repeat(1000));
        }
      } finally {
        closed = true;
      }
    },
  };
  let taken = 0;
  const csv = chooseReader(documents.readers, endless) ?? expect.fail('no reader');
  const { signal } = new AbortController();
  for await (const _ of documents.read(csv, endless, { signal })) if (++taken === 30) break;
  expect(sent).toBeLessThan(200);
  expect(closed).toBe(true);
});

describe('documents are split', () => {
  const { signal } = new AbortController();
  const tools = { signal, embedder: offlineEmbedder(), model: undefined };
  const split = async (chunker: Chunker, content: string): Promise<Chunk[]> => {
    const document = { name: 'a.ts', content, metadata: { page: 1 } };
    const chunks: Chunk[] = [];
    for await (const { content: text, metadata } of documents.split(chunker, document, {}, tools))
      chunks.push({ content: text, metadata });
    return chunks;
  };

  it('a long one in another process, as here', async () => {
    const text = '# Title\n\nif (x) {\n  A sentence. Another.\n}\n\ud800'.repeat(1_000);
    const plain = chunkers.filter(isPlain);
    expect(plain).toHaveLength(7);
    for (const chunker of plain) {
      const document = { name: 'a.ts', content: text, metadata: { page: 1 } };
      const here = [...splitAlone(chunker.key, document, {})];
      const inThread = vi.spyOn(chunker, 'chunk');
      expect(await split(chunker, text)).toEqual(here);
      expect(inThread).not.toHaveBeenCalled();
      inThread.mockRestore();
    }
  });

  it('with a turn for other work between chunks that take long', async () => {
    let turns = 0;
    const count = setInterval(() => (turns += 1));
    const slow: Chunker = {
      ...{ key: 'slow', name: 'slow', description: '', defaults: {} },
      *chunk() {
        for (let chunk = 0; chunk < 4; chunk += 1) {
          for (const began = performance.now(); performance.now() - began < 25; );
          yield { content: `${chunk}`, metadata: {} };
        }
      },
    };
    expect(await split(slow, 'x')).toHaveLength(4);
    clearInterval(count);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});
