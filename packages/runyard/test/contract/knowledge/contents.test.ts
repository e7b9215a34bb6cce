import { afterAll, beforeAll, expect, test } from 'vitest';
import { knowledge } from '../../../src/index.js';
import { type Body, TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

let service: TestService;

const calls: string[][] = [];
const embedder = {
  id: 'letters',
  provider: 'test',
  async embed(texts: readonly string[]) {
    if (texts.some((text) => text.includes('unembeddable'))) throw new Error('no vector for this');
    calls.push([...texts]);
    const vectors = texts.map((text) =>
      Float32Array.from('aeiouwxyz', (letter) => text.split(letter).length),
    );
    return { vectors, usage: { inputTokens: 1, outputTokens: 0, totalTokens: 1 } };
  },
};

const otherBase = knowledge({ name: 'Other' });

beforeAll(async () => {
  service = await TestService.start({
    knowledge: [knowledge({ name: 'Handbook', description: 'Company handbook', embedder }), otherBase],
  });
});

afterAll(() => service.stop());

const handbook = async () => (await instances())[0].id as string;
const other = async () => (await instances())[1].id as string;

async function instances(): Promise<Body[]> {
  return (await service.get('/config')).body.knowledge.knowledge_instances;
}

async function add(form: Record<string, unknown>, knowledgeId?: string) {
  return service.submit(
    `/knowledge/content?knowledge_id=${knowledgeId ?? (await handbook())}`,
    form as never,
  );
}

async function settled(id: string, knowledgeId?: string): Promise<Body> {
  const path = `/knowledge/content/${id}?knowledge_id=${knowledgeId ?? (await handbook())}`;
  await until('the content is processed', async () => (await service.get(path)).body.status !== 'processing');
  return (await service.get(path)).body;
}

async function search(body: object, knowledgeId?: string) {
  return service.call('POST', '/knowledge/search', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ knowledge_id: knowledgeId ?? (await handbook()), ...body }),
  });
}

test('/config names the knowledge bases with ids that depend on their names', async () => {
  const { body } = await service.get('/config');
  expect(body.knowledge.dbs[0]).toEqual({
    db_id: 'default',
    domain_config: { display_name: 'default' },
    tables: ['knowledge_contents'],
  });
  expect(body.knowledge.knowledge_instances.map(({ id, ...rest }: Body) => rest)).toEqual([
    { name: 'Handbook', description: 'Company handbook', db_id: 'default', table: 'knowledge_contents' },
    { name: 'Other', db_id: 'default', table: 'knowledge_contents' },
  ]);
});

test('the description names the knowledge bases of /config and the fields of a deleted content', async () => {
  const { schemas } = (await service.get('/openapi.json')).body.components;
  const { items } = schemas.Config.properties.knowledge.properties.knowledge_instances;
  expect(Object.keys(items.properties)).toEqual(['id', 'name', 'description', 'db_id', 'table']);
  expect(schemas.DeletedContent.required).toEqual(['id']);
  expect(Object.keys(schemas.DeletedContent.properties)).toEqual(Object.keys(schemas.Content.properties));
});

test('a request that could mean several knowledge bases, or none, is refused', async () => {
  const ids = `['${await handbook()}', '${await other()}']`;
  const detail = async (path: string) => {
    const { status, body } = await service.get(path);
    return [status, body.detail];
  };
  expect(await detail('/knowledge/content')).toEqual([
    400,
    `db_id or knowledge_id query parameter is required when using multiple knowledge bases. Available IDs: ${ids}`,
  ]);
  expect(await detail('/knowledge/content?db_id=default')).toEqual([
    400,
    `Multiple knowledge instances found for db_id 'default'. Please specify knowledge_id parameter. Available IDs: ${ids}`,
  ]);
  expect(await detail('/knowledge/content?db_id=none')).toEqual([
    404,
    `Knowledge instance with db_id 'none' not found`,
  ]);
  expect(await detail('/knowledge/content?knowledge_id=x&db_id=default')).toEqual([
    404,
    `Knowledge base 'x' not found`,
  ]);
});

test('a text has the id of the contract, is stored before the answer, and is found', async () => {
  const { status, body } = await add({
    name: 'note1',
    description: 'A note',
    text_content: 'Vacation policy is 25 days.',
    metadata: { lang: 'en', year: 2024 },
  });
  expect(status).toBe(202);
  expect(body).toMatchObject({
    id: 'b2bbf545-78c2-5cc5-a712-3d1deada9bd7',
    name: 'note1',
    description: 'A note',
    type: 'manual',
    size: '27',
    linked_to: null,
    metadata: { lang: 'en', year: 2024 },
    access_count: null,
    status: 'processing',
  });
  expect(await settled(body.id)).toMatchObject({ status: 'completed', status_message: '', size: '27' });
  const found = await search({ query: 'vacation' });
  expect(found.body.data[0]).toMatchObject({
    content: 'Vacation policy is 25 days.',
    name: 'note1',
    content_id: body.id,
    meta_data: { lang: 'en', year: 2024, linked_to: 'Handbook' },
  });
  expect(found.body.meta).toMatchObject({ page: 1, limit: 20, total_count: 1, total_pages: 1 });
});

test('texts that only their bytes tell apart are contents of their own, and changed bytes are indexed anew', async () => {
  const [first, second] = [
    await add({ text_content: 'Zebras eat grass.' }),
    await add({ text_content: 'Yaks eat hay.' }),
  ];
  expect(first.body.id).not.toBe(second.body.id);
  expect(first.body.name).toBe('Zebras eat');
  const { body: before } = await add({ name: 'menu', text_content: 'Today: walnut soup' });
  await settled(before.id);
  const { body: again } = await add({ name: 'menu', text_content: 'Today: walnut soup' });
  expect(again).toMatchObject({ id: before.id, status: 'completed' });
  const { body: changed } = await add({ name: 'menu', text_content: 'Today: yam stew' });
  expect(changed).toMatchObject({ id: before.id, status: 'processing' });
  expect(await settled(before.id)).toMatchObject({ status: 'completed', size: '15' });
  const found = await search({ query: 'today', filters: {}, search_type: 'keyword' });
  const menus = found.body.data.filter((one: Body) => one.content_id === before.id);
  expect(menus.map(({ content }: Body) => content)).toEqual(['Today: yam stew']);
});

test('the same content in two knowledge bases is two contents', async () => {
  const text = { name: 'both', text_content: 'In both places' };
  const [one, two] = [await add(text), await add(text, await other())];
  expect(one.body.id).toBe(two.body.id);
  await settled(one.body.id);
  await settled(two.body.id, await other());
  const path = `/knowledge/content/${one.body.id}?knowledge_id=`;
  expect((await service.call('DELETE', path + (await other()))).body).toEqual({ id: one.body.id });
  expect((await service.get(path + (await other()))).body.detail).toBe(`Content not found: ${one.body.id}`);
  expect((await service.get(path + (await handbook()))).body.status).toBe('completed');
  expect((await search({ query: 'both places' }, await other())).body.data).toEqual([]);
});

test('what is added once under a key undoes nothing that happened after it', async () => {
  const content = (text: string) => ({ name: 'answer', from: { text } });
  const { id } = await otherBase.add(content('The first answer'));
  const shown = async () => {
    await otherBase.processed(id);
    const { body } = await search({ query: 'answer', filters: { linked_to: 'Other' } }, await other());
    return body.data.filter((found: Body) => found.content_id === id).map((found: Body) => found.content);
  };
  await otherBase.addOnce('run:1', content('The first answer'));
  await otherBase.addOnce('run:2', content('An older answer'));
  expect(await shown()).toEqual(['An older answer']);
  await otherBase.add(content('The newer answer'));
  for (const key of ['run:1', 'run:2']) await otherBase.addOnce(key, content('An older answer'));
  expect(await shown()).toEqual(['The newer answer']);
  await otherBase.remove(id);
  await otherBase.addOnce('run:2', content('An older answer'));
  expect(await otherBase.get(id)).toBeUndefined();
});

test('what is wrong with a content is said before anything is stored', async () => {
  const faults: [Record<string, unknown>, number, string][] = [
    [{}, 400, 'has no content'],
    [{ name: 'only a name' }, 400, 'has no content'],
    [{ text_content: 'a', url: 'https://example.com' }, 400, 'several contents: text_content, url'],
    [{ text_content: 'a', reader_id: 'nope' }, 400, 'Invalid reader_id: nope'],
    [{ text_content: 'a', chunker: 'NopeChunker' }, 422, 'unknown chunker'],
    [{ text_content: 'a', chunk_size: 0 }, 422, 'greater than or equal to 1'],
    [{ text_content: 'a', chunk_overlap: 6000 }, 422, 'chunk_overlap must be less than chunk_size'],
    [{ text_content: 'a', metadata: '[1]' }, 422, 'valid dictionary'],
    [
      { text_content: 'a', metadata: { list: Array(901).fill(1) } },
      422,
      '901 values are more than the limit',
    ],
    [{ text_content: 'a', metadata: `{"a":${'['.repeat(32)}${']'.repeat(32)}}` }, 422, 'nested deeper'],
    [{ url: 'ftp://example.com' }, 422, 'must begin with http'],
    [{ url: '[]' }, 422, 'JSON array of addresses'],
  ];
  const count = async () =>
    (await service.get(`/knowledge/content?knowledge_id=${await other()}`)).body.meta.total_count;
  const before = await count();
  for (const [form, status, text] of faults) {
    const answer = await add(form, await other());
    expect([form, answer.status, answer.text]).toEqual([form, status, expect.stringContaining(text)]);
  }
  expect(await count()).toBe(before);
  const { body } = await add({ text_content: 'Not JSON', metadata: 'plain words' }, await other());
  expect(body.metadata).toEqual({ value: 'plain words' });
});

test('a file is read by its type, split as the request says, and only for this request', async () => {
  const text = Array.from({ length: 40 }, (_, number) => `Line ${number} of the guide.`).join('\n');
  const file = (name: string) => new File([text], name, { type: 'text/plain' });
  const { body: small } = await add({
    file: [file('guide.txt')],
    chunk_size: 100,
    metadata: { part: 'small' },
  });
  expect(small).toMatchObject({ name: 'guide.txt', type: 'text/plain', size: String(text.length) });
  await settled(small.id);
  const { body: whole } = await add({ file: [file('guide.txt')], metadata: { part: 'whole' } });
  await settled(whole.id);
  const chunks = async (part: string) =>
    (await search({ query: 'guide', filters: { part }, max_results: 100 })).body.data.length;
  expect(await chunks('small')).toBeGreaterThan(5);
  expect(await chunks('whole')).toBe(1);
});

test('a content that cannot be read or embedded fails with its reason', async () => {
  const { body: broken } = await add({
    file: [new File(['no pdf'], 'broken.pdf', { type: 'application/pdf' })],
  });
  expect((await settled(broken.id)).status).toBe('failed');
  const { body: unembedded } = await add({ name: 'bad', text_content: 'unembeddable' });
  expect(await settled(unembedded.id)).toMatchObject({
    status: 'failed',
    status_message: 'Could not insert embedding: no vector for this',
  });
  const { body: fine } = await add({ name: 'fine', text_content: 'A fine wine' });
  await settled(fine.id);
  const { body: worse } = await add({ name: 'fine', text_content: 'unembeddable wine' });
  expect(worse.id).toBe(fine.id);
  expect((await settled(fine.id)).status_message).toContain('The earlier version is still searched');
  expect((await search({ query: 'wine', search_type: 'keyword' })).body.data[0].content).toBe('A fine wine');
});

test('a text that was embedded before is not embedded again', async () => {
  const { body } = await add({ name: 'once', text_content: 'Embedded once' });
  await settled(body.id);
  const { body: twice } = await add({ name: 'twice', text_content: 'Embedded once' });
  await settled(twice.id);
  expect(calls.flat().filter((text) => text === 'Embedded once')).toHaveLength(1);
});

test('a change merges metadata, reaches the chunks, and never the keys of Runyard', async () => {
  const { body } = await add({
    name: 'alpha',
    text_content: 'Alpha text',
    metadata: { lang: 'en', old: 1, _agno: { x: 1 }, linked_to: 'Other' },
  });
  expect(body.metadata).toEqual({ lang: 'en', old: 1 });
  await settled(body.id);
  const path = `/knowledge/content/${body.id}?knowledge_id=${await handbook()}`;
  const patch = (fields: Record<string, string>) =>
    service.call('PATCH', path, { body: new URLSearchParams(fields) });
  const changed = await patch({
    name: 'alpha2',
    metadata: '{"lang":"de","none":null,"linked_to":"x"}',
    remove_metadata: '["old"]',
  });
  expect(changed.body).toMatchObject({
    name: 'alpha2',
    type: 'manual',
    size: '10',
    metadata: { lang: 'de', none: null },
  });
  expect(changed.body.metadata).toEqual({ lang: 'de', none: null });
  expect(changed.body.updated_at).toMatch(/Z$/);
  expect((await search({ query: 'alpha', filters: { lang: 'de' } })).body.data[0].meta_data).toMatchObject({
    linked_to: 'Handbook',
  });
  expect((await patch({ metadata: 'nope' })).body.detail).toBe('Invalid JSON format for metadata');
  expect((await patch({ metadata: '[]' })).status).toBe(422);
  expect((await patch({ name: 'x'.repeat(256) })).status).toBe(422);
  expect((await patch({ metadata: JSON.stringify({ list: Array(901).fill(1) }) })).status).toBe(422);
  const keys = ['a', 'b', 'c', 'd', 'e'];
  await Promise.all(keys.map((key) => patch({ metadata: `{"${key}":1,"last":"${key}"}` })));
  const { metadata } = (await service.get(path)).body;
  expect(Object.keys(metadata).sort()).toEqual([...keys, 'lang', 'last', 'none']);
  const filters = { lang: 'de', last: metadata.last, a: 1, e: 1 };
  expect((await search({ query: 'alpha', filters })).body.data).toHaveLength(1);
  expect((await patch({ reader_id: 'nope' })).body.detail).toBe('Invalid reader_id: nope');
  expect(
    (await service.call('PATCH', path.replace(body.id, 'gone'), { body: new URLSearchParams({}) })).status,
  ).toBe(404);
});

test('contents are listed in pages, sorted and filtered', async () => {
  const id = await other();
  await service.call('DELETE', `/knowledge/content?knowledge_id=${id}`);
  for (const [name, kind] of [
    ['b', 'x'],
    ['a', 'y'],
    ['c', 'x'],
  ])
    await settled((await add({ name, text_content: `Text ${name}`, metadata: { kind } }, id)).body.id, id);
  const list = async (query: string) =>
    (await service.get(`/knowledge/content?knowledge_id=${id}&${query}`)).body;
  const names = async (query: string) => (await list(query)).data.map(({ name }: Body) => name);
  expect(await names('sort_by=name&sort_order=asc')).toEqual(['a', 'b', 'c']);
  expect(await names('sort_by=name&limit=2&page=2')).toEqual(['a']);
  expect(await names('sort_by=name&metadata={"kind":"x"}')).toEqual(['c', 'b']);
  expect(await names('search=A&type=manual&status=completed')).toEqual(['a']);
  expect((await list('page=9')).meta).toEqual({
    page: 9,
    limit: 20,
    total_pages: 1,
    total_count: 3,
    search_time_ms: 0,
  });
  expect((await list('page=0')).meta.page).toBe(1);
  expect((await service.get(`/knowledge/content?knowledge_id=${id}&sort_by=bogus`)).status).toBe(422);
  expect((await service.call('DELETE', `/knowledge/content?knowledge_id=${id}`)).body).toBe('success');
  expect((await list('')).meta.total_count).toBe(0);
});

test('the status of an unknown content is a failure, and its events are none', async () => {
  const query = `?knowledge_id=${await handbook()}`;
  expect((await service.get(`/knowledge/content/none/status${query}`)).body).toEqual({
    id: 'none',
    status: 'failed',
    status_message: 'Content not found',
  });
  expect((await service.get(`/knowledge/content/none/events${query}`)).status).toBe(404);
});

test('the processing of a content can be followed, and the stream resumed', async () => {
  const { body } = await add({ name: 'followed', text_content: 'Followed text' });
  const path = `/knowledge/content/${body.id}/events?knowledge_id=${await handbook()}`;
  const { frames, names } = await (await service.follow(path)).end();
  expect([names[0], names.at(-2), names.at(-1)]).toEqual(['JobStarted', 'JobProgress', 'JobCompleted']);
  const last = frames.at(-2)!;
  expect(last.payload).toMatchObject({ done: 1, total: 1, percent: 100, data: { pages: 1, chunks: 1 } });
  const headers = { 'last-event-id': last.id ?? '' };
  expect((await (await service.follow(path, { headers })).end()).names).toEqual(['JobCompleted']);
});

test('a search is refused rather than widened, and its failures are errors', async () => {
  expect((await search({ query: 'x', filters: { op: 'ALMOST', key: 'a', value: 1 } })).status).toBe(422);
  expect((await search({ query: 'x', search_type: 'bogus' })).status).toBe(422);
  expect((await search({ query: 'x', max_results: 0 })).status).toBe(422);
  expect((await search({ query: 'x', vector_db_ids: ['z'] })).body.detail).toMatch(
    /^None of the provided Vector DB IDs \['z'\] match the knowledge base Vector DB ID /,
  );
  const failed = await search({ query: 'unembeddable' });
  expect([failed.status, failed.body.detail]).toEqual([
    502,
    'The query could not be embedded: no vector for this',
  ]);
});

test('the configuration names readers, chunkers, filters and the vector store', async () => {
  const { body } = await service.get(`/knowledge/config?knowledge_id=${await handbook()}`);
  expect(body.readers.text).toMatchObject({ id: 'text', name: 'TextReader' });
  expect(body.readersForType['.txt']).toEqual(['text']);
  expect(body.chunkers.FixedSizeChunker.metadata).toEqual({ chunk_size: 5000, chunk_overlap: 0 });
  expect(body.filters).toEqual([...body.filters].sort());
  expect(body.filters).toContain('lang');
  expect(body.filters).not.toContain('_agno');
  expect(body.vector_dbs[0].search_types).toEqual(['vector', 'keyword', 'hybrid']);
  expect(body.remote_content_sources).toBeNull();
  expect(body.embedder).toEqual({ name: 'test:letters', changed: [] });
  expect((await service.get(`/knowledge/${await handbook()}/sources`)).body).toEqual([]);
});
