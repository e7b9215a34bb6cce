import { expect, test } from 'vitest';
import { RunyardError } from '../../../core/errors/errors.js';
import { type MultipartLimits, parseMultipart } from './multipart.js';

const limits: MultipartLimits = { maxBodyBytes: 1000, maxFiles: 3, maxFields: 5 };
const header = 'multipart/form-data; boundary=XX';

type Part =
  | [name: string, value: string]
  | [name: string, filename: string, mimeType: string, content: string];

function parse(body: string | Buffer, contentType = header, bounds = limits): Part[] {
  const parts: Part[] = [];
  parseMultipart(Buffer.from(body as string), contentType, bounds, {
    addText: (name, value) => parts.push([name, value]),
    addFile: (name, filename, mimeType, bytes) =>
      parts.push([name, filename, mimeType, Buffer.from(bytes).toString('utf8')]),
  });
  return parts;
}

function field(name: string, value: string): string {
  return `--XX\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

function file(name: string, filename: string, content: string, type = 'text/plain'): string {
  return `--XX\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`;
}

test('fields and files in their order', () => {
  const body = `${field('message', 'Grüße 👋')}${file('files', 'a.txt', 'one')}${field('empty', '')}${file('files', 'b.md', '', 'Text/Markdown; charset=x')}--XX--\r\n`;
  expect(parse(body)).toEqual([
    ['message', 'Grüße 👋'],
    ['files', 'a.txt', 'text/plain', 'one'],
    ['empty', ''],
    ['files', 'b.md', 'text/markdown', ''],
  ]);
});

test('a value may hold what looks like a boundary, line ends and anything else', () => {
  const value = '\r\n--X\r\n--XXY\r\n--XX-\r\n\u0000"\\';
  expect(parse(`${field('a', value)}--XX--`)).toEqual([['a', value]]);
});

test('a preamble, an epilogue, padding after the boundary, a quoted boundary', () => {
  expect(parse(`ignored\r\n${field('a', '1')}--XX--\r\nignored too`)).toEqual([['a', '1']]);
  expect(parse('--XX \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--XX--')).toEqual([['a', '1']]);
  expect(parse(`${field('a', '1')}--XX--`, 'multipart/form-data; charset=utf-8; boundary="XX"')).toEqual([
    ['a', '1'],
  ]);
  expect(parse('--XX--\r\n')).toEqual([]);
});

test('names of files in every spelling that clients use', () => {
  const named = (parameters: string) =>
    parse(`--XX\r\ncontent-disposition: form-data; ${parameters}\r\n\r\nx\r\n--XX--`)[0]?.slice(0, 2);
  expect(named('name="files"; filename="näme.txt"')).toEqual(['files', 'näme.txt']);
  expect(named('name="files"; filename="a\\"b%22c.txt"')).toEqual(['files', 'a"b"c.txt']);
  expect(named("name=files; filename=plain.txt; filename*=UTF-8''n%C3%A4me%20x.txt")).toEqual([
    'files',
    'näme x.txt',
  ]);
  expect(named('filename="a; name=other.txt"; name="files"')).toEqual(['files', 'a; name=other.txt']);
  expect(named('name="files"; filename="C:\\temp\\a.txt"')).toEqual(['files', 'C:\\temp\\a.txt']);
});

test('a file input that was left empty is no file', () => {
  expect(parse(`${file('files', '', '', 'application/octet-stream')}--XX--`)).toEqual([]);
  expect(parse(`${file('files', '', 'x')}--XX--`)).toEqual([['files', '', 'text/plain', 'x']]);
});

test.each([
  ['no boundary in the content type', field('a', '1'), 'multipart/form-data', 'names no boundary'],
  ['another boundary in the body', field('a', '1'), 'multipart/form-data; boundary=YY', 'is not in the body'],
  ['an empty body', '', header, 'is not in the body'],
  ['the end is missing', field('a', '1'), header, 'before its closing boundary'],
  ['cut off in the last boundary', `${field('a', '1')}--XX`, header, 'before its closing boundary'],
  [
    'cut off in a value',
    '--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\nhal',
    header,
    'before its closing boundary',
  ],
  ['cut off in the headers', '--XX\r\nContent-Dispo', header, 'ends inside the headers'],
  ['a part without a name', '--XX\r\nContent-Disposition: form-data\r\n\r\nx\r\n--XX--', header, 'form-data'],
  ['a part without headers', '--XX\r\n\r\nx\r\n--XX--', header, 'form-data'],
  ['endless headers', `--XX\r\nA: ${'x'.repeat(20_000)}\r\n\r\nx\r\n--XX--`, header, 'too long'],
])('malformed: %s', (_name, body, contentType, text) => {
  const failure = catchError(() => parse(body, contentType));
  expect(failure.status).toBe(422);
  expect(failure.options.items?.[0]).toMatchObject({ type: 'value_error', loc: ['body'] });
  expect(failure.message).toContain(text);
});

test('bounds on files, fields and text are named', () => {
  const files = `${file('f', 'a', '1').repeat(4)}--XX--`;
  expect(catchError(() => parse(files)).message).toContain('limit of 3 (setting maxFiles)');
  const fields = `${field('f', 'a').repeat(6)}--XX--`;
  expect(catchError(() => parse(fields)).message).toContain('limit of 5 (setting maxFields)');
  const text = `${field('f', 'a'.repeat(600)).repeat(2)}--XX--`;
  const failure = catchError(() => parse(text));
  expect([failure.status, failure.message]).toEqual([
    413,
    expect.stringContaining('limit of 1000 bytes (setting maxBodyBytes)'),
  ]);
  expect(parse(`${file('f', 'a', 'x'.repeat(5000))}--XX--`)).toHaveLength(1);
});

function catchError(work: () => unknown): RunyardError {
  try {
    work();
  } catch (error) {
    if (error instanceof RunyardError) return error;
    throw error;
  }
  throw new Error('No error was thrown.');
}
