import { inspect } from 'node:util';
import { expect, it, vi } from 'vitest';
import { findAll, list, textOf } from '../../../test/support/sources/found.js';
import { answerAsS3, type S3Double } from '../../../test/support/sources/s3-double.js';
import { startWebServer } from '../../../test/tools/web-server.js';
import { type S3SourceOptions, s3Source } from './s3.js';

const hostile = "docs/sub/ü & +%2F'(1)*.md";

async function bucket(options: Partial<S3SourceOptions> = {}, double: Partial<S3Double> = {}) {
  const service: S3Double = {
    bucket: 'hand.book',
    secret: 'TOP-SECRET',
    pageSize: 1000,
    files: new Map([
      ['docs/', ''],
      ['docs/a.md', 'alpha'],
      ['docs/b.txt', 'beta'],
      [hostile, 'gamma'],
      ['docs-private/x.md', 'private'],
      ['other.md', 'other'],
    ]),
    ...double,
  };
  const server = await startWebServer((request, response) => answerAsS3(service, request, response));
  const source = s3Source({
    id: 'docs-s3',
    bucket: 'hand.book',
    region: 'eu-west-1',
    endpoint: server.url,
    accessKeyId: 'KEY',
    secretAccessKey: 'TOP-SECRET',
    ...options,
  });
  return { service, server, source };
}

it('lists files and folders with signed requests, page by page', async () => {
  const { source, service, server } = await bucket();
  expect(await list(source, { prefix: 'docs/' })).toEqual({
    folders: [{ prefix: 'docs/sub/', name: 'sub' }],
    files: [
      {
        key: 'docs/a.md',
        name: 'a.md',
        size: 5,
        lastModified: '2026-01-02T03:04:05Z',
        contentType: 'text/markdown',
      },
      {
        key: 'docs/b.txt',
        name: 'b.txt',
        size: 4,
        lastModified: '2026-01-02T03:04:05Z',
        contentType: 'text/plain',
      },
    ],
    totalCount: 2,
    more: false,
  });
  service.pageSize = 2;
  const flat = await list(source, { delimiter: '', limit: 2, page: 2 });
  expect(flat.files.map(({ key }) => key)).toEqual(['docs/b.txt', hostile]);
  expect(flat).toMatchObject({ folders: [], totalCount: 5, more: false });
  service.files.clear();
  for (let index = 0; index < 40; index++) service.files.set(`f${index}`, '');
  server.requests.length = 0;
  expect(await list(source, { limit: 5 })).toMatchObject({ totalCount: 10, more: true });
  expect(server.requests).toHaveLength(6);
});

it('finds a file or a folder and streams it, whatever its name', async () => {
  const { source } = await bucket();
  const [file] = await findAll(source, hostile);
  expect(file).toMatchObject({
    path: hostile,
    virtualPath: `s3://hand.book/${hostile}`,
    provenance: { s3_bucket: 'hand.book', s3_object_name: hostile, s3_region: 'eu-west-1' },
    content: { name: hostile.slice('docs/sub/'.length), size: 5, mediaType: 'text/markdown' },
  });
  expect(await textOf(file!)).toBe('gamma');
  expect(await textOf(file!)).toBe('gamma');
  for (const path of ['docs/', 'docs'])
    expect((await findAll(source, path)).map((one) => one.path).sort()).toEqual(
      ['docs/a.md', 'docs/b.txt', hostile].sort(),
    );
  expect(source.identity('docs/', {})).toBe('s3:hand.book:docs/');
  await expect(findAll(source, 'nothing')).rejects.toMatchObject({ status: 404 });
});

it('refuses what is outside of its prefix, before and after a listing', async () => {
  const { source, service, server } = await bucket({ prefix: 'docs' });
  for (const path of [
    'other.md',
    'docs-private/x.md',
    'docs/../other.md',
    'docs/./a.md',
    'docs/x\\..\\..\\other.md',
    '/docs/a.md',
    'docs/\u0000',
    'docs\\..\\x',
    '',
  ])
    expect(() => source.check(path, {}), path).toThrow(expect.objectContaining({ status: 400 }));
  for (const prefix of ['other', 'docs-', '/', 'docs/../'])
    await expect(list(source, { prefix })).rejects.toMatchObject({ status: 400 });
  expect(server.requests).toHaveLength(0);
  expect((await list(source, { prefix: '' })).files.map(({ key }) => key)).toEqual([
    'docs/a.md',
    'docs/b.txt',
  ]);
  service.files.set('docs/../../secret', 'secret');
  const escaping = (await findAll(source, 'docs/')).find(({ path }) => path.includes('..'));
  await expect(textOf(escaping!)).rejects.toMatchObject({ status: 400 });
  service.files.set('docs', 'beside the folder');
  expect((await findAll(source, 'docs')).map(({ path }) => path)).not.toContain('docs');
  expect(source.prefix).toBe('docs');
});

it('says what the service refused, without what was sent to it', async () => {
  const wrong = await bucket({ secretAccessKey: 'WRONG-SECRET' });
  await expect(list(wrong.source)).rejects.toMatchObject({
    status: 401,
    message: 'Invalid or missing AWS credentials for this source',
  });
  await expect(findAll(wrong.source, 'docs/a.md')).rejects.toMatchObject({ status: 401 });
  const missing = await bucket({ bucket: 'elsewhere' });
  await expect(list(missing.source)).rejects.toMatchObject({
    status: 404,
    message: "Bucket 'elsewhere' does not exist",
  });
  const unset = await bucket({ accessKeyId: { env: 'NO_SUCH_VARIABLE' } });
  await expect(list(unset.source)).rejects.toMatchObject({ status: 401 });
  const { source, service } = await bucket();
  expect(() => source.check('a', { repo: 'x' })).toThrow(
    "Source type 'S3Config' does not accept source_params.",
  );
  service.answer = (_, response) =>
    Boolean(response.writeHead(301, { 'x-amz-bucket-region': 'us-west-2' }).end());
  await expect(list(source)).rejects.toThrow('it is in the region us-west-2');
  service.answer = (_, response) => Boolean(response.writeHead(418).end());
  await expect(list(source)).rejects.toMatchObject({
    status: 502,
    message: expect.stringContaining('Failed to list files:'),
  });
  service.answer = (_, response) =>
    Boolean(response.end('<!DOCTYPE x [<!ENTITY a "x">]><ListBucketResult>&a;</ListBucketResult>'));
  await expect(list(source)).rejects.toMatchObject({ status: 502 });
});

it('keeps its credentials to itself, and reads rotated ones again after a refusal', async () => {
  const given = vi.fn(() => 'TOP-SECRET');
  const { source, service } = await bucket({ secretAccessKey: given });
  await list(source);
  await findAll(source, 'docs/');
  expect(given).toHaveBeenCalledTimes(1);
  service.secret = 'NEW-SECRET';
  given.mockReturnValue('NEW-SECRET');
  await Promise.all([list(source), list(source), list(source)]);
  expect(given).toHaveBeenCalledTimes(2);
  const shown = JSON.stringify(source) + inspect(source, { depth: 9, showHidden: true });
  expect(shown).toContain('docs-s3');
  expect(shown).not.toMatch(/SECRET|KEY/);
  given.mockImplementation(() => {
    throw new Error('NEW-SECRET is locked');
  });
  service.secret = 'OTHER';
  const failed = await list(source).catch((error: Error) => error);
  expect(inspect(failed, { depth: 9 })).not.toMatch(/NEW-SECRET/);
  expect(() => s3Source({ id: 'x', bucket: 'b', secretAccessKey: { envv: 'MY-SECRET' } as never })).toThrow(
    /^(?!.*MY-SECRET)/s,
  );
});

it('bounds files, folders and waits', async () => {
  const { source, service } = await bucket({ maxFiles: 2, maxFileBytes: 4 });
  await expect(findAll(source, 'docs/')).rejects.toThrow("Folder 'docs/' has more than 2 files");
  const [large] = await findAll(source, 'docs/a.md');
  await expect(textOf(large!)).rejects.toThrow('larger than 4 bytes');
  service.answer = (request, response) => {
    if (request.method === 'HEAD') return false;
    response.writeHead(200, { 'content-length': '4' }).write('ab');
    response.destroy();
    return true;
  };
  const [cut] = await findAll(source, 'docs/b.txt');
  await expect(textOf(cut!)).rejects.toMatchObject({
    status: 502,
    message: expect.stringContaining("Failed to read 'docs/b.txt'"),
  });
  // a service inside the network redirects to another place inside
  service.answer = (_, response) =>
    Boolean(response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end());
  await expect(list(source)).rejects.toThrow('127.0.0.1 is not a public address');
  // what fails for a moment is asked again
  let failures = 0;
  service.answer = (_, response) => failures++ === 0 && Boolean(response.writeHead(503).end());
  expect((await list(source)).files).toHaveLength(1);
});
