import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, ModelError } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';

const book = new ScriptBook();
let service: TestService;

const compare = (op: string, key: string, value: unknown) => ({ op, key, value });

function search(body: unknown, query = '') {
  return service.call('POST', `/traces/search${query}`, {
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

async function found(filter: unknown): Promise<string[]> {
  const { status, body } = await search({ filter });
  expect(status).toBe(200);
  return body.data.map(({ input }: Body) => input);
}

beforeAll(async () => {
  const writer = agent({ id: 'writer', name: 'Fräulein Smilla', model: book.model });
  const helper = agent({ id: 'helper', model: book.model });
  service = await TestService.start({ agents: [writer, helper] });
  book.write('two', { error: new ModelError('gone', { provider: 'P', kind: 'refused', status: 404 }) });
  await service.run('writer', { message: 'one', session_id: 's1', user_id: 'ada' });
  await service.run('writer', { message: 'two', session_id: 's1-b', user_id: 'bob' });
  await service.run('helper', { message: 'three', session_id: 's2', user_id: 'ada' });
  await service.run('helper', { message: 'four', session_id: 's3' });
  await service.run('writer', { message: 'five', session_id: 's1', user_id: 'ada' });
});
afterAll(() => service.stop());

describe('searching', () => {
  test('finds runs with their trees, the newest first', async () => {
    const { body } = await search({});
    expect(body.meta).toEqual({
      page: 1,
      limit: 20,
      total_pages: 1,
      total_count: 5,
      search_time_ms: expect.any(Number),
    });
    expect(body.data.map(({ input }: Body) => input)).toEqual(['five', 'four', 'three', 'two', 'one']);
    const [newest] = body.data;
    expect(newest).toEqual((await service.get(`/traces/${newest.trace_id}`)).body);
    expect(newest.tree[0].spans).toMatchObject([{ type: 'LLM' }]);
  });

  test.each([
    [null, ['five', 'four', 'three', 'two', 'one']],
    [{}, ['five', 'four', 'three', 'two', 'one']],
    [compare('EQ', 'status', 'ERROR'), ['two']],
    [compare('CONTAINS', 'name', 'FRÄULEIN_s'), ['five', 'two', 'one']],
    [compare('EQ', 'agent_id', 'helper'), ['four', 'three']],
    [{ op: 'IN', key: 'session_id', values: ['s1', 's3'] }, ['five', 'four', 'one']],
    [
      { op: 'AND', conditions: [compare('EQ', 'user_id', 'ada'), compare('STARTSWITH', 'session_id', 'S2')] },
      ['three'],
    ],
    [compare('GT', 'start_time', '2099-01-01'), []],
  ])('fits %j', async (filter, inputs) => {
    expect(await found(filter)).toEqual(inputs);
  });

  test('D8: a field that a trace does not have fits nothing, and not the opposite', async () => {
    expect(await found(compare('NEQ', 'user_id', 'ada'))).toEqual(['two']);
    expect(await found({ op: 'NOT', condition: compare('EQ', 'user_id', 'ada') })).toEqual(['two']);
    expect(await found(compare('NEQ', 'team_id', 'crew'))).toEqual([]);
  });

  test('groups matches by session', async () => {
    const { body } = await search({ filter: compare('EQ', 'user_id', 'ada'), group_by: 'session' });
    expect(body.meta.total_count).toBe(2);
    expect(body.data).toMatchObject([
      { session_id: 's1', user_id: 'ada', agent_id: 'writer', total_traces: 2 },
      { session_id: 's2', user_id: 'ada', agent_id: 'helper', total_traces: 1 },
    ]);
    expect(body.data[0]).not.toHaveProperty('team_id');
  });

  test('pages past the end are empty and say where the end is', async () => {
    for (const group_by of ['run', 'session']) {
      const { body } = await search({ group_by, page: 9, limit: 2 });
      expect(body.data).toEqual([]);
      expect(body.meta).toMatchObject({ page: 9, limit: 2, total_pages: group_by === 'run' ? 3 : 2 });
    }
  });

  test('D6: an invalid filter is reported as such', async () => {
    const nested = (depth: number): object =>
      depth === 0 ? compare('EQ', 'name', 'x') : { op: 'AND', conditions: [nested(depth - 1)] };
    expect((await search({ filter: nested(10) })).status).toBe(200);
    for (const [filter, detail] of [
      [{ key: 'name' }, `Invalid filter dictionary: must contain 'op' key. Got: {"key":"name"}`],
      [compare('XOR', 'name', 'x'), 'Unknown filter operator: XOR'],
      [compare('eq', 'name', 'x'), 'Unknown filter operator: eq'],
      [
        { op: 'EQ', key: 'name' },
        `EQ filter requires 'key' and 'value' fields. Got: {"op":"EQ","key":"name"}`,
      ],
      [{ op: 'IN', key: 'name', value: [] }, "IN filter requires 'key' and 'values' fields. Got: "],
      [{ op: 'AND' }, "AND filter requires 'conditions' field. Got: "],
      [{ op: 'NOT' }, "NOT filter requires 'condition' field. Got: "],
      [nested(11), 'Filter expression exceeds maximum nesting depth of 10'],
      [
        compare('EQ', 'total_spans', 1),
        "Invalid filter field: 'total_spans'. Allowed: ['status', 'user_id', ",
      ],
      [compare('EQ', 'name', null), "The value of EQ on 'name' must be "],
      [compare('EQ', 'name', ['x']), "The value of EQ on 'name' must be "],
      [{ op: 'IN', key: 'name', values: [{}] }, "The values of IN on 'name' must be "],
      [{ op: 'OR', conditions: [] }, 'OR filter requires at least one condition'],
      [{ op: 'AND', conditions: [5] }, "Invalid filter dictionary: must contain 'op' key. Got: 5"],
      [{ op: 'IN', key: 'name', values: Array(1001).fill('x') }, 'IN filter takes at most 1000 values'],
      [
        { op: 'OR', conditions: Array(200).fill(compare('EQ', 'name', 'x')) },
        'Filter expression has more than 200 ',
      ],
      [compare('CONTAINS', 'name', 'x'.repeat(1001)), 'A value may have at most 1000 characters'],
    ] as const) {
      const { status, body } = await search({ filter });
      expect(status).toBe(400);
      expect(body.detail).toContain(`Invalid filter expression: ${detail}`);
    }
  });

  test.each([
    [{ filter: [] }, ['body', 'filter']],
    [{ filter: 'x' }, ['body', 'filter']],
    [{ group_by: 'user' }, ['body', 'group_by']],
    [{ page: 0 }, ['body', 'page']],
    [{ limit: 101 }, ['body', 'limit']],
    [{ limit: 0 }, ['body', 'limit']],
    ['', ['body']],
  ])('refuses %j', async (body, loc) => {
    const answer = await search(body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0].loc).toEqual(loc);
  });
});

describe('lists', () => {
  const listed = async (query: string) =>
    (await service.get(`/traces?${query}`)).body.data.map(({ input }: Body) => input);

  test('take exact filters, and ignore an empty one', async () => {
    expect(await listed('agent_id=writer&user_id=ada')).toEqual(['five', 'one']);
    expect(await listed('session_id=s1&team_id=')).toEqual(['five', 'one']);
    expect(await listed('status=error')).toEqual([]);
    expect(await listed('user_id=')).toEqual([]);
    const { data } = (await service.get('/traces?session_id=s3')).body;
    expect(await listed(`run_id=${data[0].run_id}`)).toEqual(['four']);
    expect(await listed(`start_time=${data[0].start_time}`)).toEqual(['five', 'four']);
    expect(await listed('start_time=2020-01-01&end_time=2099-01-01T00:00:00%2B02:00')).toHaveLength(5);
    expect(await listed('end_time=2020-01-01')).toEqual([]);
  });

  test('come in pages; page 0 is the first', async () => {
    expect(await listed('limit=3&page=2')).toEqual(['two', 'one']);
    const { body } = await service.get('/traces?page=0&limit=1');
    expect(body).toMatchObject({ data: [{ input: 'five' }], meta: { page: 0, limit: 1, total_pages: 5 } });
    expect(await listed('limit=1000000')).toHaveLength(5);
  });

  test('statistics of sessions count what the filters leave', async () => {
    const { body } = await service.get('/trace_session_stats');
    expect(body.data.map(({ session_id, total_traces }: Body) => [session_id, total_traces])).toEqual([
      ['s1', 2],
      ['s3', 1],
      ['s2', 1],
      ['s1-b', 1],
    ]);
    expect(body.data[1]).not.toHaveProperty('user_id');
    expect(body.data[3]).toMatchObject({ user_id: 'bob', agent_id: 'writer' });
    const filtered = await service.get('/trace_session_stats?user_id=ada&agent_id=helper&limit=1');
    expect(filtered.body).toMatchObject({
      data: [{ session_id: 's2', total_traces: 1 }],
      meta: { total_count: 1 },
    });
    const { last_trace_at: last } = body.data[1];
    const from = await service.get(`/trace_session_stats?start_time=${last}&end_time=${last}`);
    expect(from.body.data).toMatchObject([{ session_id: 's3' }]);
    expect((await service.get('/trace_session_stats?page=0')).status).toBe(422);
  });

  test('the schema of filters lists the fields in their order', async () => {
    const { body } = await service.get('/traces/filter-schema');
    expect(body.logical_operators).toEqual(['AND', 'OR']);
    expect(body.fields.map(({ key }: Body) => key)).toEqual([
      'status',
      'user_id',
      'agent_id',
      'team_id',
      'workflow_id',
      'session_id',
      'run_id',
      'name',
      'trace_id',
      'duration_ms',
      'start_time',
      'end_time',
      'created_at',
    ]);
    expect(body.fields[0]).toEqual({
      key: 'status',
      label: 'Status',
      type: 'enum',
      operators: ['EQ', 'NEQ', 'IN'],
      values: ['OK', 'ERROR'],
    });
    expect(body.fields[7]).toMatchObject({
      operators: ['EQ', 'NEQ', 'CONTAINS', 'STARTSWITH'],
      values: null,
    });
    expect(body.fields[9]).toMatchObject({
      type: 'number',
      operators: ['EQ', 'NEQ', 'GT', 'GTE', 'LT', 'LTE'],
    });
  });
});
