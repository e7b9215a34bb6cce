import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ContentSource,
  type Embedder,
  type Knowledge,
  knowledge,
  type SourceFile,
} from '../../../src/index.js';
import { signedWithSecret } from '../../support/clients/issuer.js';
import { type Body, TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

const secret = 'a secret that is known to this test alone';
const held = gate();
let service: TestService;
let shelf: Knowledge;
let admin: Record<string, string>;

/** Waits for the gate with texts that say so. */
const embedder: Embedder = {
  id: 'held',
  provider: 'test',
  async embed(texts) {
    if (texts.some((text) => text.includes('wait'))) await held.opened;
    const vectors = texts.map((text) => Float32Array.from([text.length, 1, 2]));
    return { vectors, usage: { inputTokens: 1, outputTokens: 0, totalTokens: 1 } };
  },
};

const files: Record<string, string> = {
  'docs/a.md': 'Apples',
  'docs/b.md': 'Bananas',
  'one.txt': 'Only one',
};

function fileAt(path: string): SourceFile {
  const bytes = Buffer.from(files[path] ?? '');
  return {
    path,
    virtualPath: `s3://bucket/${path}`,
    provenance: { s3_bucket: 'bucket', s3_object_name: path },
    content: {
      name: path,
      mediaType: undefined,
      size: bytes.length,
      open: async function* () {
        yield bytes;
      },
    },
  };
}

const bucket: ContentSource = {
  id: 'docs',
  name: 'Docs bucket',
  type: 's3',
  contentType: 's3',
  configName: 'S3Config',
  metadata: { team: 'legal' },
  prefix: null,
  parameters: [],
  check: () => {},
  identity: (path) => `s3:bucket:${path}`,
  list: async () => ({
    folders: [{ prefix: 'docs/', name: 'docs' }],
    files: [{ key: 'one.txt', name: 'one.txt', size: 8, lastModified: null, contentType: 'text/plain' }],
    totalCount: 1,
    more: true,
  }),
  async *find(path) {
    for (const key of Object.keys(files)) if (key.startsWith(path)) yield fileAt(key);
  },
};

beforeAll(async () => {
  shelf = knowledge({ name: 'Shelf', embedder, sources: [bucket], claimFilters: { tenant: 'tenant' } });
  service = await TestService.start({ authorization: true, jwtKeys: [secret], knowledge: [shelf] });
  admin = await caller({ scopes: ['agent_os:admin'], sub: 'root' });
});

afterAll(() => service.stop());

async function caller(claims: Record<string, unknown>): Promise<Record<string, string>> {
  const scopes = ['knowledge:read', 'knowledge:write', 'knowledge:delete'];
  return { authorization: `Bearer ${await signedWithSecret(secret, { scopes, ...claims })}` };
}

const add = (form: Record<string, string>, headers: Record<string, string>, path = 'content') =>
  service.submit(`/knowledge/${path}`, form, { headers });

async function search(
  query: string,
  headers: Record<string, string>,
  filters: object = {},
): Promise<string[]> {
  const { body } = await service.call('POST', '/knowledge/search', {
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, filters, search_type: 'keyword' }),
  });
  return body.data.map(({ content }: Body) => content).sort();
}

test('a folder of a source is a content with a content for each file, and one file is the content itself', async () => {
  const folder = await add({ config_id: 'docs', path: 'docs/' }, admin, 'remote-content');
  expect([folder.status, folder.body.type]).toEqual([202, 's3']);
  const done = await shelf.processed(folder.body.id);
  expect(done).toMatchObject({ status: 'completed', statusMessage: '2 files indexed' });
  const { body } = await service.get('/knowledge/content?sort_by=name&sort_order=asc', admin);
  expect(body.data.map(({ name }: Body) => name)).toEqual(['docs/', 'docs/a.md', 'docs/b.md']);
  expect(body.data[1].metadata._agno).toEqual({
    source_type: 's3',
    source_config_id: 'docs',
    source_config_name: 'Docs bucket',
    s3_bucket: 'bucket',
    s3_object_name: 'docs/a.md',
    parent_id: folder.body.id,
  });
  delete files['docs/a.md'];
  files['docs/c.md'] = 'Cherries';
  await add({ config_id: 'docs', path: 'docs/' }, admin, 'remote-content');
  await shelf.processed(folder.body.id);
  expect(await search('apples bananas cherries', admin)).toEqual(['Bananas', 'Cherries']);
  delete files['docs/b.md'];
  await add({ config_id: 'docs', path: 'docs/' }, admin, 'remote-content');
  await shelf.processed(folder.body.id);
  expect(await search('apples bananas cherries', admin)).toEqual(['Cherries']);
  delete files['docs/c.md'];
  await add({ config_id: 'docs', path: 'docs/' }, admin, 'remote-content');
  expect(await shelf.processed(folder.body.id)).toMatchObject({
    status: 'failed',
    statusMessage: 'Nothing was found at docs/',
  });
  expect(await search('apples bananas cherries', admin)).toEqual(['Cherries']);
  const single = await add({ config_id: 'docs', path: 'one.txt', name: 'single' }, admin, 'remote-content');
  await shelf.processed(single.body.id);
  const { body: shown } = await service.get(`/knowledge/content/${single.body.id}`, admin);
  expect(shown).toMatchObject({
    status: 'completed',
    size: '8',
    metadata: { _agno: { s3_object_name: 'one.txt' } },
  });
  files['one.txt/more.txt'] = 'Many now';
  await add({ config_id: 'docs', path: 'one.txt', name: 'single' }, admin, 'remote-content');
  await shelf.processed(single.body.id);
  expect(await search('only many', admin)).toEqual(['Many now', 'Only one']);
  await service.call('DELETE', `/knowledge/content/${folder.body.id}`, { headers: admin });
  expect(await search('apples bananas cherries only', admin)).toEqual(['Only one']);
});

test('sources are refused with the texts of the contract, and list their files', async () => {
  const detail = async (form: Record<string, string>) =>
    (await add(form, admin, 'remote-content')).body.detail;
  expect(await detail({ config_id: 'nope', path: 'x' })).toBe(
    'Unknown content source: nope. Check /knowledge/config for available sources.',
  );
  expect(await detail({ config_id: 'docs', path: 'x', source_params: '{"a":"b"}' })).toBe(
    "Source type 'S3Config' does not accept source_params.",
  );
  expect(await detail({ config_id: 'docs', path: 'x', source_params: 'x' })).toBe(
    'source_params must be a valid JSON object',
  );
  const [{ id }] = (await service.get('/config', admin)).body.knowledge.knowledge_instances;
  expect((await service.get(`/knowledge/${id}/sources`, admin)).body).toEqual([
    { id: 'docs', name: 'Docs bucket', type: 's3', metadata: { team: 'legal' }, prefix: null },
  ]);
  const { body } = await service.get(`/knowledge/${id}/sources/docs/files`, admin);
  expect(body).toMatchObject({
    source_id: 'docs',
    folders: [{ prefix: 'docs/', name: 'docs', is_empty: false }],
    meta: { page: 1, limit: 100, total_pages: 2, total_count: 1 },
  });
  const none = await service.get(`/knowledge/${id}/sources/nope/files`, admin);
  expect([none.status, none.body.detail]).toEqual([404, 'Content source not found: nope']);
});

test('a caller sees, changes and adds only contents with the value of their claim', async () => {
  const acme = await caller({ sub: 'ada', tenant: 'acme' });
  const other = await caller({ sub: 'bob', tenant: 'other' });
  const unbound = await caller({ sub: 'eve' });
  const { body: own } = await add(
    { name: 'plan', text_content: 'Secret plan', metadata: '{"tenant":"other"}' },
    acme,
  );
  expect(own.metadata).toEqual({ tenant: 'acme' });
  await shelf.processed(own.id);
  expect(await search('secret', acme)).toEqual(['Secret plan']);
  expect(await search('secret', acme, { tenant: 'other' })).toEqual([]);
  const path = `/knowledge/content/${own.id}`;
  for (const stranger of [other, unbound]) {
    expect(await search('secret', stranger, { tenant: 'acme' })).toEqual([]);
    expect((await service.get('/knowledge/content', stranger)).body.meta.total_count).toBe(0);
    expect((await service.get(path, stranger)).status).toBe(404);
    expect((await service.get(`${path}/status`, stranger)).body.status).toBe('failed');
    expect((await service.get(`${path}/events`, stranger)).status).toBe(404);
    const patch = { headers: stranger, body: new URLSearchParams({ name: 'x' }) };
    expect((await service.call('PATCH', path, patch)).status).toBe(404);
    expect((await service.call('DELETE', path, { headers: stranger })).status).toBe(200);
    expect((await service.call('DELETE', '/knowledge/content', { headers: stranger })).status).toBe(200);
    expect((await service.get('/knowledge/config', stranger)).body).toMatchObject({
      filters: [],
      remote_content_sources: null,
    });
  }
  expect((await add({ text_content: 'x' }, unbound)).status).toBe(403);
  const moved = await service.call('PATCH', path, {
    headers: acme,
    body: new URLSearchParams({ metadata: '{"tenant":"other","x":1}', remove_metadata: '["tenant"]' }),
  });
  expect(moved.body.metadata).toEqual({ tenant: 'acme', x: 1 });
  expect(await search('secret', acme)).toEqual(['Secret plan']);

  const url = 'http://127.0.0.1:1/a';
  const { body: given } = await add({ url }, acme);
  await shelf.processed(given.id);
  const body = new URLSearchParams({ metadata: '{"tenant":"other"}' });
  await service.call('PATCH', `/knowledge/content/${given.id}`, { headers: admin, body });
  expect((await add({ url }, acme)).status).toBe(409);
  const { body: both } = await add({ url: `["${url}","${url}b"]` }, acme);
  await shelf.processed(both.id);
  expect((await service.get(`/knowledge/content/${given.id}`, other)).status).toBe(200);
});

test('a content that is deleted while it is indexed leaves nothing behind', async () => {
  const { body } = await add({ name: 'slow', text_content: 'Please wait for me' }, admin);
  await until('the job has begun', async () => {
    const { status } = (await service.get(`/knowledge/content/${body.id}/status`, admin)).body;
    return status === 'processing';
  });
  const removal = service.call('DELETE', `/knowledge/content/${body.id}`, { headers: admin });
  expect((await removal).status).toBe(200);
  held.open();
  expect((await service.get(`/knowledge/content/${body.id}`, admin)).status).toBe(404);
  expect(await search('wait', admin)).toEqual([]);
});
