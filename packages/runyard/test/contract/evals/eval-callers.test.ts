import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent, knowledge } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { everydayScopes, Gatehouse, type Holder } from '../../support/clients/tokens.js';
import { gate, until } from '../../support/until.js';

let house: Gatehouse;
let ada: Holder;
let bob: Holder;

const evalScopes = ['evals:read', 'evals:write', 'evals:delete'];
/** Opened by a test that has seen what it waited for. */
let released = gate();
let waiting = 0;

const model = scriptedModel(async (request) => {
  const said = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (said === 'wait') {
    waiting += 1;
    await released.opened;
    waiting -= 1;
  }
  return `Answer to ${said}`;
});

beforeAll(async () => {
  house = await Gatehouse.shared({
    agents: [agent({ id: 'writer', model }), agent({ id: 'other', model })],
    scorers: [{ name: 'any', score: () => ({ score: 1, passed: true }) }],
    knowledge: [knowledge({ name: 'notes' })],
    maxJobs: 1,
    userIsolation: true,
  });
  ada = await house.person('ada', [...everydayScopes, ...evalScopes]);
  bob = await house.person('bob', [...everydayScopes, ...evalScopes]);
});
afterAll(() => house.service.stop());

const custom = { agent_id: 'writer', eval_type: 'custom', scorers: ['any'], input: 'hello' };

const start = (holder: Holder, body: object = {}) =>
  holder.send('POST', '/eval-runs', { ...custom, ...body });

test('evals:write alone executes nothing: the caller needs the right to run the component', async () => {
  const calls = model.requests.length;
  const holder = await house.person('eve', evalScopes);
  const { status, body } = await start(holder);
  expect([status, body.detail]).toEqual([403, 'Insufficient permissions. Required scope(s): agents:run']);
  // whether there is such a component is not said either
  expect((await start(holder, { agent_id: 'absent' })).status).toBe(403);
  const ofOne = await house.person('eve', [...evalScopes, 'agents:other:run']);
  expect((await start(ofOne)).status).toBe(403);
  expect(model.requests.length).toBe(calls);
  expect((await start(ofOne, { agent_id: 'other' })).status).toBe(200);
});

test('stored runs are graded by those alone who may read them', async () => {
  const { body: run } = await ada.run('writer', { message: 'hello' });
  const grading = { agent_id: undefined, input: undefined, run_ids: [run.run_id] };
  expect((await start(ada, grading)).status).toBe(200);
  expect((await start(bob, grading)).body.detail).toBe('Run not found');
  const withoutRights = await house.person('ada', evalScopes);
  expect((await start(withoutRights, grading)).body.detail).toBe('Run not found');
});

test('an eval and its runs belong to who started it, and others do not see it', async () => {
  const { body: shown } = await start(ada, { name: 'mine', session_state: { tone: 'kind' } });
  expect(shown.user_id).toBe('ada');
  const session = `/sessions/eval_${shown.id}_1?type=agent`;
  expect((await ada.get(session)).body).toMatchObject({ user_id: 'ada', session_state: { tone: 'kind' } });
  expect((await bob.get(session)).status).toBe(404);
  const path = `/eval-runs/${shown.id}`;
  expect((await bob.get('/eval-runs')).text).not.toContain(shown.id);
  for (const of of ['', '/results', '/events']) expect((await bob.get(path + of)).status).toBe(404);
  expect((await bob.send('PATCH', path, { name: 'taken' })).status).toBe(404);
  expect((await bob.send('POST', `${path}/cancel`)).status).toBe(404);
  expect((await bob.delete('/eval-runs', { eval_run_ids: [shown.id] })).status).toBe(204);
  expect((await ada.get(path)).body.name).toBe('mine');
});

test('in the background: 202 at once, progress and events, and the result in the end', async () => {
  released = gate();
  const { status, body: begun } = await start(ada, { input: 'wait', num_iterations: 2, background: true });
  expect([status, begun.eval_data.results, begun.progress]).toEqual([
    202,
    [],
    { done: 0, total: 2, failed: 0 },
  ]);
  await until('the first run waits', () => waiting > 0);
  expect((await ada.get(`/eval-runs/${begun.id}`)).body.status).toBe('running');
  const stream = await house.service.follow(`/eval-runs/${begun.id}/events`, { headers: ada.headers });
  await stream.event('JobStarted');
  released.open();
  await stream.over;
  expect(stream.names.at(-1)).toBe('JobCompleted');
  expect(stream.all('JobProgress').at(-1)).toMatchObject({ done: 2, total: 2, percent: 100 });
  const { body: ended } = await ada.get(`/eval-runs/${begun.id}`);
  expect(ended).toMatchObject({ status: 'completed', progress: { done: 2, failed: 0 } });
});

test('a cancelled eval ends its runs and keeps its results; so does one whose client leaves', async () => {
  released = gate();
  const { body: begun } = await start(ada, { input: 'wait', background: true });
  await until('the run waits', () => waiting > 0);
  const { body: cancelled } = await ada.send('POST', `/eval-runs/${begun.id}/cancel`);
  expect([cancelled.status, cancelled.eval_data.results]).toEqual(['cancelled', []]);
  const runs = async () =>
    (await ada.get('/agents/writer/runs')).body.map(({ status }: { status: string }) => status);
  await until('its run has ended', async () => !(await runs()).includes('running'));

  const left = new AbortController();
  const answer = house.service
    .call('POST', '/eval-runs', {
      headers: { ...ada.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...custom, input: 'wait', name: 'left' }),
      signal: left.signal,
    })
    .catch(() => 'left');
  const before = model.requests.length;
  await until('the run of the next eval waits', () => model.requests.length > before);
  left.abort();
  expect(await answer).toBe('left');
  await until('the eval is cancelled', async () => {
    const { body } = await ada.get('/eval-runs?limit=1');
    return body.data[0].name === 'left' && body.data[0].status === 'cancelled';
  });
  expect((await runs()).includes('running')).toBe(false);
  released.open();
});

test('content is indexed while evals wait for their runs', async () => {
  released = gate();
  const { body: begun } = await start(ada, { input: 'wait', background: true });
  await until('the run waits', () => waiting > 0);
  const admin = await house.admin();
  const note = new FormData();
  note.set('text_content', 'Notes are indexed beside evals.');
  const { body: added } = await house.service.call('POST', '/knowledge/content', {
    headers: admin.headers,
    body: note,
  });
  await until('the note is indexed', async () => {
    const { body } = await admin.get(`/knowledge/content/${added.id}/status`);
    return body.status === 'completed';
  });
  expect((await ada.get(`/eval-runs/${begun.id}`)).body.status).toBe('running');
  released.open();
});

test('an eval in progress is cancelled when it is deleted', async () => {
  released = gate();
  const { body: begun } = await start(ada, { input: 'wait', background: true });
  const before = model.requests.length;
  await until('the run waits', () => model.requests.length >= before && waiting > 0);
  expect((await ada.delete('/eval-runs', { eval_run_ids: [begun.id] })).status).toBe(204);
  expect((await ada.get(`/eval-runs/${begun.id}`)).status).toBe(404);
  expect((await ada.get(`/sessions/eval_${begun.id}_1?type=agent`)).status).toBe(404);
  released.open();
});
