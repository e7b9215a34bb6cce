import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asking, book, components, Sessions } from '../../support/components/sessions.js';
import { type Body, TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

let service: TestService;
let sessions: Sessions;

beforeAll(async () => {
  service = await TestService.start({ ...components, maxConcurrentRuns: 50 });
  sessions = new Sessions(service);
});
afterAll(() => service.stop());

const emptyMedia = { images: [], videos: [], audios: [], files: [] };

describe('the runs of a session', () => {
  test('of an agent are listed as they began, without what has no value', async () => {
    const first = await sessions.said('agents', 'writer', 'a1', 'First', { user_id: 'ada' });
    const second = await sessions.said('agents', 'writer', 'a1', 'Second', { user_id: 'ada' });
    const { status, body } = await sessions.runs('a1');
    expect(status).toBe(200);
    expect(body.map(({ run_id: id }: Body) => id)).toEqual([first.run_id, second.run_id]);
    expect(body[0]).toMatchObject({
      parent_run_id: '',
      agent_id: 'writer',
      user_id: 'ada',
      status: 'completed',
      run_input: 'First',
      content: 'Answer to: First',
      run_response_format: 'text',
      reasoning_content: '',
      input_media: emptyMedia,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    expect(body[0].messages.map(({ role }: Body) => role)).toEqual(['user', 'assistant']);
    expect(Object.values(body[0])).not.toContain(null);
    const one = (await sessions.run('a1', first.run_id)).body;
    expect(one).toMatchObject({ ...body[0], tools: null, events: null, citations: null, followups: null });
    const upper = await service.get('/sessions/a1/runs', { 'x-runyard-compat': 'agentos' });
    expect(upper.body[0].status).toBe('COMPLETED');
    expect((await sessions.runs('a1', '?user_id=bob')).status).toBe(404);
    expect((await sessions.runs('a1', '?type=team')).body).toEqual(body);
    expect((await sessions.runs('a1', '?type=robot')).status).toBe(422);
    const absent = await sessions.run('a1', 'nobody');
    expect([absent.status, absent.body.detail]).toEqual([404, 'Run with ID nobody not found in session a1']);
    await sessions.said('agents', 'writer', 'a2', 'Elsewhere');
    expect((await sessions.run('a2', first.run_id)).status).toBe(404);
  });

  test('of an agent that failed has no usage but how long it took', async () => {
    book.write('No way', { error: 'broken' });
    const failed = await sessions.said('agents', 'writer', 'failed', 'No way');
    const { body } = await sessions.run('failed', failed.run_id);
    expect(body).toMatchObject({ status: 'error', run_input: 'No way', tools: null });
    expect(body.metrics).toEqual({ duration: expect.any(Number) });
    expect((await sessions.get('failed')).body.metrics).toEqual({});
    const { body: listed } = await service.get('/sessions?session_name=No%20way');
    expect(listed.data).toMatchObject([{ session_id: 'failed', metrics: {} }]);
  });

  test('of a team are preceded by those of its members, which can be read alone', async () => {
    const run = await sessions.said('teams', 'newsroom', 't1', asking('Go and ask', 'Find the facts'));
    const { body } = await sessions.runs('t1');
    expect(body).toHaveLength(2);
    const [member, whole] = body;
    expect(member).toMatchObject({ agent_id: 'helper', parent_run_id: run.run_id, status: 'completed' });
    expect(member.content).toBe('Answer to: Find the facts');
    expect(member).not.toHaveProperty('team_id');
    expect(whole).toMatchObject({
      team_id: 'newsroom',
      run_id: run.run_id,
      parent_run_id: '',
      content: 'All done',
    });
    expect(whole).not.toHaveProperty('agent_id');
    expect((await sessions.run('t1', member.run_id)).body).toMatchObject(member);
    expect((await sessions.run('t1', run.run_id)).body).toMatchObject(whole);
    await sessions.said('teams', 'newsroom', 't2', asking('Ask again', 'More facts'));
    expect((await sessions.run('t2', member.run_id)).status).toBe(404);
  });

  test('of a workflow hold those of its steps', async () => {
    const run = await sessions.said('workflows', 'pipeline', 'w1', 'Make a plan');
    const { body } = await sessions.runs('w1');
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({
      workflow_id: 'pipeline',
      run_id: run.run_id,
      content_type: 'str',
      events: [],
      step_results: [{ step_name: 'draft', success: true }],
      step_executor_runs: [{ agent_id: 'writer', parent_run_id: run.run_id, created_at: expect.any(Number) }],
    });
    expect((await sessions.run('w1', run.run_id)).body).toMatchObject({ step_requirements: null });
  });

  test('are those within the times, both included, and come in pages', async () => {
    const runs: Body[] = [];
    for (const message of ['p1', 'p2', 'p3'])
      runs.push(await sessions.said('agents', 'writer', 'p', message));
    const at = (run: Body) => Math.floor(Date.parse(run.created_at) / 1000);
    const inputs = async (query: string) =>
      (await sessions.runs('p', query)).body.map(({ run_input: input }: Body) => input);
    const [first, last] = [at(runs[0]), at(runs[2])];
    expect(await inputs(`?created_after=${first}&created_before=${last}`)).toEqual(['p1', 'p2', 'p3']);
    expect(await inputs(`?created_after=${last + 1}`)).toEqual([]);
    expect(await inputs(`?created_before=${first - 1}`)).toEqual([]);
    expect(await inputs('?limit=2')).toEqual(['p1', 'p2']);
    expect(await inputs('?limit=2&page=2')).toEqual(['p3']);
    expect(await inputs('?limit=2&sort_order=desc')).toEqual(['p3', 'p2']);
    expect(await inputs('?limit=2&sort_order=desc&page=2')).toEqual(['p1']);
    const refused = await sessions.runs('p', '?created_after=noon');
    expect([refused.status, refused.body.detail[0].type]).toEqual([422, 'int_parsing']);
    await sessions.create({ session_id: 'none' });
    expect((await sessions.runs('none')).body).toEqual([]);
  });

  test('are all there when there are many, and so are the sessions of a long list', async () => {
    const messages = Array.from({ length: 130 }, (_, index) => `many ${index} ${'words '.repeat(200)}`);
    await Promise.all(messages.map((message) => sessions.said('agents', 'writer', 'many', message)));
    const { body } = await sessions.runs('many');
    expect(body.map(({ run_input: input }: Body) => input).sort()).toEqual([...messages].sort());
    const times = body.map(({ created_at: at }: Body) => at);
    expect(times).toEqual([...times].sort());
    const { chat_history: said } = (await sessions.get('many')).body;
    const asked = said.filter(({ role }: Body) => role === 'user').map(({ content }: Body) => content);
    expect(asked).toEqual(body.map(({ run_input: input }: Body) => input));
    const ids = Array.from({ length: 230 }, (_, index) => `long-${index}`);
    const state = { text: 'x'.repeat(1_000) };
    for (const id of ids) await sessions.create({ session_id: id, user_id: 'lister', session_state: state });
    const page = (await sessions.list('?user_id=lister&limit=100000')).body;
    expect(page.meta).toMatchObject({ total_count: 230, total_pages: 1, limit: 1_000, search_time_ms: 0 });
    expect(page.data.map(({ session_id: id }: Body) => id).reverse()).toEqual(ids);
    const past = (await sessions.list('?user_id=lister&page=13')).body;
    expect(past).toEqual({ data: [], meta: { ...page.meta, limit: 20, page: 13, total_pages: 12 } });
    const zero = (await sessions.list('?user_id=lister&page=0')).body;
    expect(zero.meta.page).toBe(0);
    expect(zero.data).toEqual((await sessions.list('?user_id=lister&page=1')).body.data);
  });
});

describe('deleting', () => {
  test('takes the runs along, and says the same whatever there was', async () => {
    const run = await sessions.said('agents', 'writer', 'd1', 'Delete me', { user_id: 'ada' });
    expect((await sessions.delete('d1', '?user_id=bob')).status).toBe(204);
    expect((await sessions.get('d1')).status).toBe(200);
    const { status, text } = await sessions.delete('d1');
    expect([status, text]).toEqual([204, '']);
    expect((await sessions.delete('d1')).status).toBe(204);
    expect((await sessions.get('d1')).status).toBe(404);
    expect((await service.get(`/agents/writer/runs/${run.run_id}`)).status).toBe(404);
    await sessions.said('agents', 'writer', 'd1', 'Once more');
    expect((await sessions.runs('d1')).body).toHaveLength(1);
  });

  test('several needs as many kinds as ids, and looks at the ids alone', async () => {
    for (const id of ['d2', 'd3', 'd4']) await sessions.create({ session_id: id });
    const uneven = await sessions.deleteAll({ session_ids: ['d2', 'd3'], session_types: ['agent'] });
    expect([uneven.status, uneven.body.detail]).toEqual([
      400,
      'Session IDs and session types must have the same length',
    ]);
    const none = await sessions.deleteAll({ session_ids: [], session_types: ['robot'] });
    expect(none.body.detail.map(({ type, msg }: Body) => [type, msg])).toEqual([
      ['too_short', 'List should have at least 1 item after validation, not 0'],
      ['enum', "Input should be 'agent', 'team' or 'workflow'"],
    ]);
    const given = { session_ids: ['d2', 'd3', 'gone'], session_types: ['team', 'agent', 'agent'] };
    expect((await sessions.deleteAll(given)).status).toBe(204);
    expect((await sessions.get('d2')).status).toBe(404);
    expect((await sessions.get('d3')).status).toBe(404);
    expect((await sessions.get('d4')).status).toBe(200);
  });

  test('leaves no run behind that waits for its answer', async () => {
    const rest = gate();
    const message = book.write('Waits in vain', { text: 'late', waitFor: rest.opened });
    const waiting = service.run('writer', { message, session_id: 'd5', run_id: 'd5-run' });
    await until('the run is at work', async () => {
      const { status, body } = await sessions.runs('d5');
      return status === 200 && body[0]?.status === 'running';
    });
    expect((await sessions.delete('d5')).status).toBe(204);
    expect((await waiting).body).toMatchObject({ run_id: 'd5-run', status: 'cancelled' });
    rest.open();
    expect((await sessions.get('d5')).status).toBe(404);
  });
});
