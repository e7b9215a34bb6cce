import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  type AgentEvent,
  agent,
  agentFactory,
  type ListedSession,
  Runyard,
  tool,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { preparedSqlite } from '../../support/databases.js';
import type { Body } from '../../support/service.js';

const say = scriptedModel(({ messages }) => `You said: ${messages.at(-1)?.content}`);
const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: z.object({}),
  approval: 'required',
  execute: () => 'paid',
});
const payer = agent({
  id: 'payer',
  tools: [pay],
  model: scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? 'Paid.' : { toolCalls: [{ name: 'pay', arguments: {} }] },
  ),
});
const made = agentFactory({
  id: 'made',
  inputSchema: z.object({ tone: z.string() }),
  build: ({ input, claims }) =>
    agent({ id: 'x', model: scriptedModel(() => `${input.tone} ${claims?.plan ?? 'none'}`) }),
});

const folder = mkdtempSync(join(tmpdir(), 'runyard-in-code-'));
let app: Runyard;
beforeAll(async () => {
  writeFileSync(join(folder, 'runyard.db'), await preparedSqlite());
  app = new Runyard({
    dataDir: folder,
    port: 0,
    logLevel: 'silent',
    // bodies in code do not follow it
    compatibility: 'agentos',
    sessionStateClaims: ['tier'],
    agents: [agent({ id: 'echo', model: say }), payer, made],
    workflows: [workflow({ id: 'flow', steps: [({ input }) => `made of ${input}`] })],
  });
});
afterAll(async () => {
  await app.close({ graceMs: 0 });
  rmSync(folder, { recursive: true, force: true });
});

const started = async (message: string, fields = {}, who: Pick<Runyard, 'runs'> = app) => {
  const run = await who.runs.start({ agent_id: 'echo', message, ...fields });
  return { run, body: await run.result() };
};

test('a run is started, followed, found and listed', async () => {
  const { run, body } = await started('hello', { session_id: 'first', run_id: 'r1', user_id: 'ada' });
  expect(body).toMatchObject({
    run_id: 'r1',
    session_id: 'first',
    status: 'completed',
    content: 'You said: hello',
  });
  expectTypeOf(run.events()).toEqualTypeOf<AsyncGenerator<AgentEvent, void, void>>();
  const events = [];
  for await (const event of run.events()) events.push(event.event);
  expect([events[0], events.at(-1)]).toEqual(['RunStarted', 'RunCompleted']);
  const later = [];
  for await (const { event } of app.runs.events('r1', { after: events.length - 2 })) later.push(event);
  expect(later).toEqual(['RunCompleted']);
  expect(await app.runs.get('r1')).toEqual(body);
  await started('again', { session_id: 'first', user_id: 'ada' });
  const listed = [];
  for await (const one of app.runs.list({ agent_id: 'echo', session_id: 'first', limit: 1 }))
    listed.push(one.content);
  expect(listed).toEqual(['You said: hello', 'You said: again']);
  expect(await app.runs.list({ agent_id: 'echo', limit: 1 })).toHaveLength(1);
  expect((await app.sessions.runs('first')).map(({ run_id }) => run_id)[0]).toBe('r1');
});

test('a run of a workflow has the types of a workflow, and a factory gets its input and the claims', async () => {
  const run = await app.runs.start({ workflow_id: 'flow', message: 'clay' });
  const body = await run.result();
  expectTypeOf(body.workflow_id).toEqualTypeOf<string>();
  expect(body).toMatchObject({ workflow_id: 'flow', content: 'made of clay' });
  const ada = app.as({ userId: 'ada', claims: { plan: 'gold' } });
  const built = await ada.runs.start({ agent_id: 'made', message: 'x', factory_input: { tone: 'warm' } });
  expect((await built.result()).content).toBe('warm gold');
});

test('what is wrong is refused as the API refuses it, and so are names that it would ignore', async () => {
  await expect(started('x', { run_id: 'r1' })).rejects.toMatchObject({ code: 'run_exists', status: 409 });
  await expect(app.runs.start({ agent_id: 'nope', message: 'x' })).rejects.toMatchObject({
    code: 'agent_not_found',
  });
  await expect(app.runs.get('nope')).rejects.toMatchObject({ code: 'run_not_found' });
  await expect(app.sessions.get('nope')).rejects.toMatchObject({ code: 'session_not_found', status: 404 });
  const both = { agent_id: 'echo', team_id: 't', message: 'x' };
  await expect(app.runs.start(both)).rejects.toThrow('one of agent_id, team_id and workflow_id');
  // @ts-expect-error a workflow has no agent_id
  expect(() => app.runs.list({ agentId: 'echo' })).toThrow('one of agent_id');
  // @ts-expect-error the name of the wire is session_name
  await expect(app.sessions.list({ name: 'x' })).rejects.toThrow('query.name: there is no such field');
  await expect(app.sessions.list({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_request' });
  // @ts-expect-error as above
  await expect(app.memories.create({ memory: 'x', topic: [] })).rejects.toThrow('body.topic');
  // @ts-expect-error there is nobody to call as
  expect(() => app.as({ scopes: [] })).toThrow('userId is missing');
  expect(() => app.as({ userId: 'sa:bot' })).toThrow('userId');
  // @ts-expect-error a typo must not open a gate
  expect(() => app.as({ userId: 'ada', scope: [] })).toThrow('scope is not an option. Did you mean scopes?');
});

test('a list is a page, and all entries', async () => {
  for (const n of [1, 2, 3]) await app.sessions.create({ session_id: `page-${n}`, user_id: 'pat' });
  const list = app.sessions.list({ user_id: 'pat', limit: 2, sort_by: 'session_id', sort_order: 'asc' });
  const page = await list;
  expectTypeOf(page.data[0]!).toEqualTypeOf<ListedSession>();
  expect(page.meta).toMatchObject({ page: 1, limit: 2, total_pages: 2, total_count: 3 });
  const ids = [];
  for await (const { session_id } of list) ids.push(session_id);
  expect(ids).toEqual(['page-1', 'page-2', 'page-3']);
  const rest = [];
  const from = { user_id: 'pat', limit: 1, page: 2, sort_by: 'session_id', sort_order: 'asc' } as const;
  for await (const { session_id } of app.sessions.list(from)) rest.push(session_id);
  expect(rest).toEqual(['page-2', 'page-3']);
  const empty = [];
  for await (const one of app.sessions.list({ user_id: 'no one' })) empty.push(one);
  expect(empty).toEqual([]);
  await app.sessions.delete(ids);
  expect((await list).meta.total_count).toBe(0);
});

test('sessions and memories are changed, and a body is a copy', async () => {
  await app.sessions.create({ session_id: 's', session_state: { n: 1 } });
  const session = await app.sessions.update('s', { session_name: 'Rome', metadata: { a: 1 } });
  session.metadata!.a = 2;
  expect((await app.sessions.get('s')).metadata).toEqual({ a: 1 });
  const { memory_id } = await app.memories.create({ memory: 'Likes tea', user_id: 'mo', topics: ['food'] });
  await app.memories.update(memory_id, { memory: 'Likes coffee', user_id: 'mo', topics: ['drinks'] });
  expect(await app.memories.topics({ user_id: 'mo' })).toEqual(['drinks']);
  expect((await app.memories.list({ topics: ['drinks'] })).data.map(({ memory }) => memory)).toEqual([
    'Likes coffee',
  ]);
  const users = [];
  for await (const { user_id } of app.memories.users()) users.push(user_id);
  expect(users).toEqual(['mo']);
  await app.memories.delete([memory_id], { user_id: 'other' });
  expect((await app.memories.get(memory_id)).memory).toBe('Likes coffee');
  await app.memories.delete(memory_id);
  await expect(app.memories.get(memory_id)).rejects.toMatchObject({ status: 404 });
});

test('a run is cancelled, continued and followed from an event on', async () => {
  const ada = app.as({ userId: 'ada' });
  const { run, body } = await started('one', { session_id: 'more' }, ada);
  const indexes: number[] = [];
  for await (const { event_index } of run.events()) indexes.push(event_index);
  const after = indexes.at(-3)!;
  const later: number[] = [];
  for await (const { event_index } of run.events({ after })) later.push(event_index);
  expect(later).toEqual(indexes.slice(-2));
  const copy = await (await ada.runs.continue(run.runId, { fork: true, input: 'two' })).result();
  expect(copy).toMatchObject({ status: 'completed', content: 'You said: two' });
  expect(copy.run_id).not.toBe(body.run_id);
  await expect(ada.runs.sendEvent(run.runId, { name: 'paid' })).rejects.toMatchObject({
    code: 'run_not_found',
  });
  const paused = await (await ada.runs.start({ agent_id: 'payer', message: 'Pay' })).result();
  await ada.runs.cancel(paused.run_id);
  expect((await ada.runs.get(paused.run_id)).status).toBe('cancelled');
});

test('the values that a token fixes come from the claims of the caller', async () => {
  const ada = app.as({ userId: 'ada', claims: { tier: 'gold', plan: 'x' } });
  const run = await ada.runs.start({ agent_id: 'echo', message: 'x', session_state: { tier: 'lead', n: 1 } });
  expect((await run.result()).session_state).toEqual({ tier: 'gold' });
});

test('a caller sees and changes what is theirs, within their scopes', async () => {
  const eve = app.as({ userId: 'eve' });
  const { run } = await started('secret', { session_id: 'of-ada' }, app.as({ userId: 'ada' }));
  await expect(eve.runs.get(run.runId)).rejects.toMatchObject({ code: 'run_not_found' });
  await expect(eve.runs.cancel(run.runId)).rejects.toMatchObject({ code: 'run_not_found' });
  await expect(eve.runs.continue(run.runId)).rejects.toMatchObject({ code: 'run_not_found' });
  await expect(eve.runs.events(run.runId).next()).rejects.toMatchObject({ code: 'run_not_found' });
  await expect(eve.sessions.get('of-ada')).rejects.toMatchObject({ code: 'session_not_found' });
  await eve.sessions.delete('of-ada');
  expect((await app.sessions.get('of-ada')).user_id).toBe('ada');
  expect((await eve.sessions.list({ user_id: 'ada' })).data).toEqual([]);
  expect((await eve.traces.list()).data).toEqual([]);
  const own = await started('mine', { user_id: 'ada' }, eve);
  expect(own.body.user_id).toBe('eve');
  const reader = app.as({ userId: 'ada', scopes: ['sessions:read', 'agents:payer:run'] });
  expect((await reader.sessions.get('of-ada')).session_id).toBe('of-ada');
  const refused = { code: 'insufficient_scope', status: 403 };
  await expect(reader.sessions.delete('of-ada')).rejects.toMatchObject(refused);
  await expect(reader.runs.start({ agent_id: 'echo', message: 'x' })).rejects.toMatchObject(refused);
  await expect(reader.runs.get(run.runId)).rejects.toMatchObject(refused);
  await expect(reader.metrics.days()).rejects.toMatchObject(refused);
  await expect(reader.approvals.list()).rejects.toMatchObject(refused);
  const admin = app.as({ userId: 'root', scopes: [app.settings.adminScope] });
  expect((await admin.sessions.get('of-ada')).user_id).toBe('ada');
});

test('an approval is decided and its run continued, traced and counted', async () => {
  const paused = await (await app.runs.start({ agent_id: 'payer', message: 'Pay', user_id: 'ada' })).result();
  expect(paused.status).toBe('paused');
  expect(await app.approvals.count()).toEqual({ count: 1 });
  const [approval] = (await app.approvals.list({ run_id: paused.run_id, status: 'pending' })).data;
  const ada = app.as({ userId: 'ada' });
  await expect(ada.approvals.resolve(approval!.id, { status: 'approved' })).rejects.toMatchObject({
    status: 404,
  });
  expect(approval!.run_status).toBe('paused');
  await app.approvals.resolve(approval!.id, { status: 'approved', resolved_by: 'grace' });
  const done = await (await ada.runs.continue(paused.run_id)).result();
  expect(done).toMatchObject({ status: 'completed', content: 'Paid.' });
  const [trace] = (await app.traces.list({ run_id: paused.run_id })).data;
  const { tree } = await app.traces.get(trace!.trace_id);
  const span = await app.traces.get(trace!.trace_id, { span_id: tree[0]!.id });
  expectTypeOf(span.name).toEqualTypeOf<string>();
  expect(span.id).toBe(tree[0]!.id);
  const filter = { op: 'EQ', key: 'run_id', value: paused.run_id };
  const found = [];
  for await (const one of app.traces.search({ filter })) found.push(one);
  expect(found).toHaveLength(1);
  const { metrics } = await app.metrics.days({ starting_date: new Date().toISOString().slice(0, 10) });
  expect(metrics[0]?.agent_runs_count).toBeGreaterThan(0);
});

test('it works beside a server, and what is asked in code is what the API says', async () => {
  const { url } = await app.listen();
  const overHttp: Body = await (await fetch(`${url}/sessions?user_id=ada`)).json();
  expect((await app.sessions.list({ user_id: 'ada' })).data).toEqual(overHttp.data);
});
