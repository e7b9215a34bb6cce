import { strToU8, zipSync } from 'fflate';
import { afterAll, describe, expect, it } from 'vitest';
import { docxOf, zipOf } from '../../../test/support/files/office.js';
import { pdfFile, pdfOf } from '../../../test/support/files/pdf.js';
import { chooseReader } from '../../core/knowledge/readers/choose-reader.js';
import { ContentUnreadable, type ReadableContent } from '../../core/knowledge/readers/reader.js';
import { type Documents, openDocuments } from './documents.js';
import { contentOf } from './parent-content.js';

const MiB = 1_048_576;
const opened: Documents[] = [];
function open(limits: Parameters<typeof openDocuments>[0] = {}): Documents {
  const documents = openDocuments(limits);
  opened.push(documents);
  return documents;
}
afterAll(async () => {
  await Promise.all(opened.map((documents) => documents.close()));
});

/** One set of small bounds for all files that break one of them. */
const small = open({
  limits: {
    wholeFileBytes: 4 * MiB,
    inflatedBytes: 3 * MiB,
    entryBytes: 2 * MiB,
    entries: 8,
    depth: 2,
    pages: 3,
    rows: 20,
    rowCharacters: 1000,
    characters: 100_000,
    heapMib: 48,
  },
});

function readerFor(documents: Documents, content: ReadableContent) {
  return chooseReader(documents.readers, content) ?? expect.fail('no reader');
}

async function* documentsOf(
  documents: Documents,
  content: ReadableContent,
  signal = new AbortController().signal,
) {
  yield* documents.read(readerFor(documents, content), content, { signal });
}

async function textsOf(name: string, file: Uint8Array | string, documents = small): Promise<string[]> {
  const texts: string[] = [];
  const bytes = typeof file === 'string' ? strToU8(file) : file;
  for await (const { content } of documentsOf(documents, contentOf(bytes, name))) texts.push(content);
  return texts;
}

async function failure(name: string, file: Uint8Array | string, documents = small): Promise<string> {
  const error = await textsOf(name, file, documents).then(
    (texts) => expect.fail(`it was read: ${texts.join().slice(0, 200)}`),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ContentUnreadable);
  return error instanceof Error ? error.message : '';
}

/** Changes bytes of the directory of an archive, by their place in each record. */
function withDirectory(archive: Uint8Array, change: (view: DataView, at: number) => void): Uint8Array {
  const view = new DataView(archive.buffer, archive.byteOffset);
  for (let at = 0; at + 4 <= archive.length; at++)
    if (view.getUint32(at, true) === 0x02014b50) change(view, at);
  return archive;
}

describe('an archive fails when', () => {
  it('it is a bomb, whatever its headers say', async () => {
    const bomb = new Uint8Array(2.5 * MiB);
    const one = withDirectory(zipOf({ 'a.txt': bomb }), (view, at) => view.setUint32(at + 24, 5, true));
    expect(await failure('a.zip', one)).toBe('An entry of the archive inflates to more than 2 MiB');
    const part = bomb.subarray(0, 1.4 * MiB).fill(65);
    const many = zipOf({ 'a.txt': part, 'b.txt': part, 'c.txt': part });
    expect(await failure('a.zip', many)).toBe('The archive inflates to more than 3 MiB');
    const office = zipOf({ 'word/document.xml': bomb });
    expect(await failure('a.docx', office)).toBe('An entry of the archive inflates to more than 2 MiB');
  });

  it('archives are nested too deeply, or have too many entries', async () => {
    const nested = zipOf({ 'b.zip': zipOf({ 'c.zip': zipOf({ 'd.txt': 'x' }) }) });
    expect(await failure('a.zip', nested)).toBe(
      'b.zip: c.zip: d.txt: Archives and messages are nested more than 2 deep',
    );
    const many = zipOf(Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`${index}.txt`, 'x'])));
    expect(await failure('a.zip', many)).toBe('The archive has more than 8 entries');
  });

  it('it is encrypted, damaged, or has an unsafe or repeated path', async () => {
    const plain = () => zipOf({ 'a.txt': 'hello', 'b.txt': 'world' });
    const encrypted = withDirectory(plain(), (view, at) => view.setUint16(at + 8, 1, true));
    expect(await failure('a.zip', encrypted)).toBe('The archive is encrypted');
    expect(await failure('a.zip', plain().subarray(0, 100))).toBe('The archive is damaged');
    const beyond = withDirectory(plain(), (view, at) => view.setUint32(at + 42, 1e9, true));
    expect(await failure('a.zip', beyond)).toBe('The archive is damaged');
    expect(await failure('a.zip', zipOf({ '../a.txt': 'x' }))).toBe(
      "The archive has an unsafe path: '../a.txt'",
    );
    expect(await failure('a.zip', zipOf({ 'C:\\a.txt': 'x' }))).toBe(
      "The archive has an unsafe path: 'C:/a.txt'",
    );
    const repeated = withDirectory(plain(), (view, at) => view.setUint8(at + 46, 97));
    expect(await failure('a.zip', repeated)).toBe("The archive has the file 'a.txt' twice");
  });

  it('a document in it cannot be read, which it names', async () => {
    expect(await failure('a.zip', zipOf({ 'x/b.pdf': 'no PDF' }))).toBe('x/b.pdf: Content could not be read');
  });
});

it('symbolic links in an archive are left out', async () => {
  const file = zipSync({
    link: [strToU8('/etc/passwd'), { os: 3, attrs: 0o120777 << 16 }],
    'a.txt': strToU8('text'),
  });
  expect(await textsOf('a.zip', file)).toEqual(['text']);
});

describe('a file fails when', () => {
  it('it is larger than its kind may be', async () => {
    expect(await failure('a.pdf', new Uint8Array(5 * MiB))).toBe('Files of this kind can have at most 4 MiB');
  });

  it('a PDF is encrypted, broken, endless or has too many pages', async () => {
    const encryption = `<< /Filter /Standard /V 1 /R 2 /O <${'00'.repeat(32)}> /U <${'11'.repeat(32)}> /P -4 >>`;
    const encrypted = pdfFile(
      ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [] /Count 0 >>', encryption],
      '/Encrypt 3 0 R /ID [<00> <00>] ',
    );
    expect(await failure('a.pdf', encrypted)).toBe('The PDF is encrypted: save it without a password');
    expect(await failure('a.pdf', '%PDF-1.4\nnothing')).toBe('Content could not be read');
    const loop = pdfFile(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R] /Count 2 >>']);
    expect(await failure('a.pdf', loop)).toBe('Content could not be read');
    expect(await failure('a.pdf', pdfOf('1', '2', '3', '4'))).toBe(
      'The file has 4 pages: at most 3 are read',
    );
  });

  it('it is in the format of Office 97-2003', async () => {
    for (const name of ['a.doc', 'a.xls', 'a.ppt'])
      expect(await failure(name, Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1))).toBe(
        `The file is in the format of Office 97-2003 or is encrypted: save it as ${name.slice(1)}x without a password`,
      );
  });

  it('a table has too many rows, too long rows or a cell without end', async () => {
    expect(await failure('a.csv', 'a,b\n'.repeat(21))).toBe('The CSV file has more than 20 rows');
    expect(await failure('a.csv', `a,${'b'.repeat(1001)}\n`)).toBe(
      'The CSV file has a row of more than 1000 characters',
    );
    expect(await failure('a.csv', 'a,"b\nc')).toBe('The CSV file is malformed: a quoted cell does not end');
  });

  it('it has too much text', async () => {
    expect(await failure('a.docx', docxOf('a'.repeat(100_001)))).toBe(
      'The content has more than 100000 characters of text',
    );
  });

  it('it is no text', async () => {
    expect(await failure('a.txt', Uint8Array.of(65, 0, 66))).toBe('Content could not be read');
    expect(await failure('a.bin', Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 1, 2, 3))).toBe(
      'Content could not be read',
    );
    expect(await failure('a.txt', ' \n ')).toBe('Content could not be read');
  });
});

it('reads UTF-16 with a mark, and Windows-1252 where the bytes are no UTF-8', async () => {
  expect(await textsOf('a.txt', Buffer.from('\ufeffGrüße', 'utf16le'))).toEqual(['Grüße']);
  const late = Buffer.concat([Buffer.alloc(100_000, 'a'), Buffer.from(' caf\xe9, na\xefve', 'latin1')]);
  expect((await textsOf('a.txt', late))[0]?.slice(-12)).toBe(' café, naïve');
});

describe('the parsing process', () => {
  it('ends with a content that needs too much memory or time, and the next one gets another', async () => {
    const objects = `[[${'{},'.repeat(1_000_000)}0]]`;
    expect(await failure('a.json', objects)).toBe('The content needs more than 48 MiB of memory to be read');
    expect(await textsOf('a.csv', '1,2')).toEqual(['1, 2']);

    const hasty = open({ limits: { silenceMs: 1 } });
    expect(await failure('a.csv', '1,2', hasty)).toBe('The content takes more than 0.001 seconds to read');
  });

  it('stops when the signal aborts, and passes on an error of the bytes', async () => {
    const controller = new AbortController();
    const stuck: ReadableContent = {
      ...contentOf(strToU8(''), 'a.pdf'),
      async *open() {
        yield strToU8('%PDF');
        controller.abort(new Error('cancelled'));
        await new Promise(() => undefined);
      },
    };
    await expect(documentsOf(small, stuck, controller.signal).next()).rejects.toThrow('cancelled');
    const broken: ReadableContent = {
      ...contentOf(strToU8(''), 'a.pdf'),
      // biome-ignore lint/correctness/useYield: it fails before its first bytes
      async *open() {
        throw new Error('The download failed.');
      },
    };
    await expect(documentsOf(small, broken).next()).rejects.toThrow('The download failed.');
  });
});
