import { afterAll, beforeAll, expect, it } from 'vitest';
import { agent, tool } from '../../../src/index.js';
import { everydayScopes, Gatehouse, type Holder } from '../../support/clients/tokens.js';
import { forEachDatabase } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Answer, type Body, startService, type TestService } from '../../support/service.js';

const book = new ScriptBook();
const add = tool({
  name: 'add',
  description: 'Adds.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
  execute: () => '3',
});
const agents = [agent({ id: 'a', model: book.model, tools: [add] })];

let house: Gatehouse;
let ada: Holder;
beforeAll(async () => {
  house = await Gatehouse.shared({ agents });
  ada = await house.person('ada');
});
afterAll(() => house.service.stop());

function send(service: TestService, method: string, path: string, body: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return service.call(method, path, { headers, body: JSON.stringify(body) });
}

const text = ({ status, body }: Answer) => [status, body.detail];

async function datasetOf(holder: Holder, name: string): Promise<string> {
  const { status, body } = await holder.send('POST', '/datasets', { name });
  expect(status).toBe(201);
  return `/datasets/${body.id}`;
}

forEachDatabase((_dialect, freshPlace) => {
  it('stores datasets and their cases, each change with its revision', async () => {
    const place = await freshPlace();
    await place.open();
    const service = await startService({ agents, database: place.url });
    const made = await send(service, 'POST', '/datasets', { name: 'Töne', metadata: { of: 'May' } });
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String),
        user_id: null,
        name: 'Töne',
        description: null,
        metadata: { of: 'May' },
        revision: 0,
        case_count: 0,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        updated_at: made.body.created_at,
      },
    ]);
    const path = `/datasets/${made.body.id}`;
    const taken = await Promise.all([1, 2].map(() => send(service, 'POST', '/datasets', { name: 'Other' })));
    expect(taken.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const named = "A dataset with the name 'Other' exists. Choose another name, or change that dataset.";
    expect(text(await send(service, 'PATCH', path, { name: 'Other' }))).toEqual([409, named]);
    expect((await send(service, 'PATCH', path, { description: 'd', metadata: null })).body).toMatchObject({
      name: 'Töne',
      description: 'd',
      metadata: null,
      revision: 0,
    });
    const listed = await service.get('/datasets?sort_by=name&sort_order=asc');
    expect(listed.body.data.map(({ name }: Body) => name)).toEqual(['Other', 'Töne']);
    expect((await service.get('/datasets?name=Other')).body.meta.total_count).toBe(1);

    // a lone surrogate and NUL are stored as any other text
    const odd = 'nul \u0000 half \ud800';
    const cases = [
      { id: 'one', input: odd, expected_output: { a: 1 }, expected_tool_calls: ['add', { name: 'log' }] },
      { input: 'two' },
      { input: 'two', session_state: { x: 1 }, dependencies: { y: 2 }, metadata: { z: 3 } },
    ];
    const added = await send(service, 'POST', `${path}/cases`, { cases });
    expect([added.status, added.body.added, added.body.updated, added.body.revision]).toEqual([201, 3, 0, 1]);
    expect(added.body.cases[0]).toEqual({
      id: 'one',
      input: odd,
      expected_output: '{"a":1}',
      expected_tool_calls: [{ name: 'add' }, { name: 'log' }],
      metadata: null,
      session_state: null,
      dependencies: null,
    });
    const [, second, third] = added.body.cases;
    expect(third.id).toBe(`${second.id}-2`);

    // the same id replaces the case, which keeps its place
    const again = await send(service, 'POST', `${path}/cases`, { id: 'one', input: 'uno' });
    expect([again.body.added, again.body.updated, again.body.revision]).toEqual([0, 1, 2]);
    const changed = await send(service, 'PATCH', `${path}/cases/${third.id}`, {
      expected_output: 'due',
      metadata: null,
    });
    expect(changed.body).toMatchObject({ ...third, expected_output: 'due', metadata: null });
    expect((await service.call('DELETE', `${path}/cases/${second.id}`)).status).toBe(204);
    const page = await service.get(`${path}/cases?limit=1&page=2`);
    expect(page.body.data.map(({ id }: Body) => id)).toEqual([third.id]);
    expect(page.body.meta).toMatchObject({ page: 2, total_pages: 2, total_count: 2 });
    expect((await service.get(path)).body).toMatchObject({ revision: 4, case_count: 2 });
    for (const [method, body] of [['PATCH', { input: 'x' }], ['DELETE']] as const)
      expect(text(await send(service, method, `${path}/cases/no`, body))).toEqual([
        404,
        "Case 'no' not found in this dataset",
      ]);
    expect((await service.get(path)).body.revision).toBe(4);

    const exported = await service.get(`${path}/export`);
    expect(exported.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = exported.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ id }) => id)).toEqual(['one', third.id]);
    expect(lines[0]).toEqual({ id: 'one', input: 'uno' });
    const file = new File(['id,input\nnew,neu\none,eins\n'], 'cases.csv');
    const imported = await service.submit(`${path}/import`, { file: [file] });
    expect(imported.body).toEqual({ added: 1, updated: 1, removed: 0, revision: 5 });
    const back = new File([exported.text], 'dataset.jsonl');
    const replaced = await service.submit(`${path}/import`, { file: [back], replace: true });
    expect(replaced.body).toEqual({ added: 2, updated: 0, removed: 3, revision: 6 });
    expect((await service.get(`${path}/export`)).text).toBe(exported.text);

    expect((await service.call('DELETE', path)).status).toBe(204);
    expect(text(await service.get(`${path}/cases`))).toEqual([
      404,
      `Dataset with id '${made.body.id}' not found`,
    ]);
  });
});

it('refuses cases that cannot be meant, and says which', async () => {
  const path = `${await datasetOf(ada, 'refused')}/cases`;
  const fault = async (body: unknown) => {
    const { status, body: answer } = await ada.send('POST', path, body);
    expect(status).toBe(422);
    return [answer.detail[0].loc.join('.'), answer.detail[0].msg];
  };
  expect(await fault({})).toEqual([
    'body.input',
    'Value error, give a text that is not empty, or an object.',
  ]);
  expect(await fault({ cases: [{ input: 'a' }, { input: ' ' }] })).toEqual([
    'body.cases.1.input',
    'Value error, give a text that is not empty, or an object.',
  ]);
  const twice = [{ id: 'a', input: '1' }, { input: '2' }, { id: 'a', input: '3' }];
  expect(await fault({ cases: twice })).toEqual([
    'body.cases.2.id',
    "Value error, another case has the id 'a' too.",
  ]);
  // the address of the case would be that of the dataset
  expect((await fault({ id: '..', input: 'a' }))[0]).toBe('body.id');
  expect((await fault({ input: 'a', cases: [{ input: 'b' }] }))[0]).toBe('body.input');
  expect(await ada.send('GET', path)).toMatchObject({ body: { data: [] } });
});

it('refuses a file with a fault as a whole, and one beyond the bounds', async () => {
  const path = await datasetOf(ada, 'files');
  const upload = (name: string, content: string) =>
    ada.submit(`${path}/import`, { file: [new File([content], name)], stream: undefined });
  expect(text(await upload('a.csv', 'input,metadata\nok,\nbad,[1]\n'))).toEqual([
    400,
    'a.csv, line 3: metadata: give an object.',
  ]);
  expect(text(await upload('a.pdf', 'x'))[0]).toBe(400);
  const both = { text_content: '{"input":"q"}', file: [new File(['input\nq'], 'a.csv')], stream: undefined };
  expect((await ada.submit(`${path}/import`, both)).status).toBe(422);
  const asText = await ada.send('POST', `${path}/import`, { text_content: '{"input":"q"}' });
  expect(asText.body).toMatchObject({ added: 1, revision: 1 });
  const many = '{"input":"q"}\n'.repeat(9_999);
  expect((await upload('a.jsonl', many)).body).toMatchObject({ added: 9_998, updated: 1 });
  expect((await ada.send('POST', `${path}/cases`, { input: 'the last' })).status).toBe(201);
  expect(text(await ada.send('POST', `${path}/cases`, { input: 'one more' }))).toEqual([
    413,
    'The number of cases of the dataset is larger than the limit of 10000.',
  ]);
  expect((await ada.get(path)).body).toMatchObject({ case_count: 10_000, revision: 3 });
});

it('makes cases of runs that the caller may read', async () => {
  const call = { id: 'c', name: 'add', arguments: { a: 1 } };
  book.write('sum', { toolCalls: [call] }, 'It is 3');
  const { body: run } = await ada.run('a', { message: 'sum', session_id: 'of-ada' });
  expect(run).toMatchObject({ status: 'completed', content: 'It is 3' });
  const path = `${await datasetOf(ada, 'runs')}/cases`;
  const added = async (body: object) =>
    (await ada.send('POST', path, { run_id: run.run_id, ...body })).body.cases[0];
  const metadata = { run_id: run.run_id, agent_id: 'a' };
  expect(await added({})).toMatchObject({
    id: run.run_id,
    input: 'sum',
    expected_output: 'It is 3',
    expected_tool_calls: null,
    metadata,
  });
  expect(
    await added({
      id: 'mine',
      expected_output: '3',
      take_tool_calls: true,
      metadata: { by: 'ada', run_id: 'no' },
    }),
  ).toMatchObject({
    id: 'mine',
    expected_output: '3',
    expected_tool_calls: [{ name: 'add', arguments: { a: 1 } }],
    metadata: { by: 'ada', ...metadata },
  });
  expect(await added({ take_output: false })).toMatchObject({ expected_output: null });

  book.write('fails', () => {
    throw new Error('secret');
  });
  const { body: failed } = await ada.run('a', { message: 'fails' });
  const ofFailed = await ada.send('POST', path, { run_id: failed.run_id });
  expect(ofFailed.body.cases[0]).toMatchObject({ input: 'fails', expected_output: null });

  const bob = await house.person('bob');
  const own = `${await datasetOf(bob, 'runs')}/cases`;
  const noRuns = await house.person(
    'ada',
    everydayScopes.filter((scope) => !scope.startsWith('agents')),
  );
  for (const answer of [
    await bob.send('POST', own, { run_id: run.run_id }),
    await noRuns.send('POST', path, { run_id: run.run_id }),
    await ada.send('POST', path, { run_id: 'no' }),
  ])
    expect(text(answer)).toEqual([404, 'Run not found']);
});

it('keeps datasets of users apart, and their names too', async () => {
  const [bob, nobody, admin] = [await house.person('bob'), await house.nobody(), await house.admin()];
  const [mine, theirs] = [await datasetOf(ada, 'shared name'), await datasetOf(bob, 'shared name')];
  await ada.send('POST', `${mine}/cases`, { id: 'c', input: 'of ada' });
  for (const other of [bob, nobody]) {
    const absent = [404, `Dataset with id '${mine.slice('/datasets/'.length)}' not found`];
    for (const path of [mine, `${mine}/cases`, `${mine}/export`])
      expect(text(await other.get(path))).toEqual(absent);
    expect(text(await other.send('PATCH', mine, { name: 'x' }))).toEqual(absent);
    expect(text(await other.send('POST', `${mine}/cases`, { input: 'x' }))).toEqual(absent);
    expect(text(await other.send('PATCH', `${mine}/cases/c`, { input: 'x' }))).toEqual(absent);
    expect(text(await other.delete(`${mine}/cases/c`))).toEqual(absent);
    expect(text(await other.delete(mine))).toEqual(absent);
  }
  const ids = (answer: Answer) => answer.body.data.map(({ id }: Body) => `/datasets/${id}`);
  expect(ids(await bob.get('/datasets?name=shared%20name'))).toEqual([theirs]);
  expect(ids(await admin.get('/datasets?name=shared%20name'))).toEqual([theirs, mine]);
  expect(ids(await nobody.get('/datasets'))).toEqual([]);
});
