import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src/core/log.js';
import { agent, Runyard, remoteAgent, remoteTeam, team, tool, workflow } from '../../src/index.js';
import { scriptedModel } from '../../src/testing.js';
import { Gatehouse } from '../support/clients/tokens.js';
import { payCall, payingAgent, RunLife } from '../support/components/run-life.js';
import { preparedSqlite } from '../support/databases.js';
import { ScriptBook } from '../support/providers/script-book.js';
import { ServerBetween } from '../support/server-between.js';
import { type Body, TestService } from '../support/service.js';
import { gate, until } from '../support/until.js';

const farBook = new ScriptBook();
const nearBook = new ScriptBook();
const { agent: payer, paid } = payingAgent(farBook, 'payer');
const released: string[] = [];
const release = tool({
  name: 'release',
  description: 'Needs an approval',
  approval: 'required',
  execute: () => {
    released.push('done');
    return 'released';
  },
});
const officer = agent({ id: 'officer', model: farBook.model, tools: [release] });
const desk = team({ id: 'desk', model: farBook.model, members: [payer] });

let far: TestService;
let near: TestService;
let url: string;

beforeAll(async () => {
  far = await TestService.start({ agents: [payer, officer], teams: [desk] });
  url = far.url;
  const remote = remoteAgent({ url, id: 'payer', role: 'Pays bills' });
  near = await TestService.start({
    agents: [
      remote,
      remoteAgent({ url, id: 'payer', localId: 'journeys' }),
      remoteAgent({ url, id: 'nobody' }),
      remoteAgent({ url, id: 'officer' }),
    ],
    teams: [
      remoteTeam({ url, id: 'desk' }),
      team({ id: 'office', model: nearBook.model, members: [remote] }),
    ],
    workflows: [workflow({ id: 'flow', steps: [remote] })],
  });
});
afterAll(async () => {
  await near.stop();
  await far.stop();
});

const payments = (...cents: number[]) =>
  paid.filter((one) => cents.includes(one.cents)).map((one) => one.cents);
const life = (id = 'payer', plural: 'agents' | 'teams' | 'workflows' = 'agents') =>
  new RunLife(near, id, plural);
const confirm = (run: Body, confirmed = true) => run.tools.map((one: Body) => ({ ...one, confirmed }));

test('answers, with the messages, the usage and the events of the remote run', async () => {
  const message = farBook.write('Say hello', {
    text: 'Hello from afar',
    usage: { inputTokens: 7, outputTokens: 5 },
  });
  const events = await (await life().stream({ message, session_id: 'hello' })).end();
  expect(events.names[0]).toBe('RunStarted');
  expect(events.names.at(-1)).toBe('RunCompleted');
  expect(events.names.filter((name) => name === 'RunStarted')).toHaveLength(1);
  expect(events.content).toBe('Hello from afar');
  const [run] = await life().list('hello');
  expect(run).toMatchObject({ status: 'completed', content: 'Hello from afar', agent_id: 'payer' });
  expect(run.messages.map(({ role, content }: Body) => [role, content])).toEqual([
    ['user', message],
    ['assistant', 'Hello from afar'],
  ]);
  expect(run.metrics).toMatchObject({ input_tokens: 7, output_tokens: 5 });
  const [there] = (await far.get('/agents/payer/runs?session_id=hello')).body;
  expect(there).toMatchObject({ run_input: message, status: 'completed' });
  const stored = await life().stored(run.run_id);
  expect(stored.model_provider_data).toEqual({ remote_run_id: there.run_id, remote_session_id: 'hello' });
});

test('is listed and described like any other, and has no configuration', async () => {
  const { body } = await near.get('/agents/payer');
  expect(body).toMatchObject({
    id: 'payer',
    role: 'Pays bills',
    model: { model: 'payer', provider: 'remote' },
  });
  expect((await near.get('/agents')).body.map(({ id }: Body) => id)).toContain('journeys');
  expect((await near.get('/teams/desk')).body).toMatchObject({ id: 'desk', members: [] });
  expect((await near.get('/models')).body).not.toContainEqual(
    expect.objectContaining({ provider: 'remote' }),
  );
  await expect(near.app.toConfig(remoteAgent({ url, id: 'payer' }))).rejects.toThrow(
    'executed by another service',
  );
});

describe('a pause of the remote run', () => {
  test('is one of the local run, and its answer goes back', async () => {
    const message = farBook.write('Pay 11', { toolCalls: [payCall(11)] }, 'Paid 11.');
    const run = await life().start({ message });
    expect(run).toMatchObject({ status: 'paused', requirements: [{ tool_execution: { tool_name: 'pay' } }] });
    const done = (await life().continue(run.run_id, { tools: confirm(run) })).body;
    expect(done).toMatchObject({ run_id: run.run_id, status: 'completed', content: 'Paid 11.' });
    expect(done.tools).toMatchObject([{ tool_name: 'pay', tool_args: { cents: 11 }, confirmed: true }]);
    expect(payments(11)).toEqual([11]);
    expect(done.messages.map(({ role }: Body) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('can be declined, and asks for values', async () => {
    const refused = farBook.write('Pay 12', { toolCalls: [payCall(12)] }, 'Not paid.');
    const run = await life().start({ message: refused });
    const declined = await life().continue(run.run_id, { tools: confirm(run, false) });
    expect(declined.body).toMatchObject({ status: 'completed', content: 'Not paid.' });
    expect(payments(12)).toEqual([]);
    const call = { name: 'reserve', arguments: { train: 'ICE 5' }, id: 'seat-1' };
    const message = farBook.write('A seat', { toolCalls: [call] }, 'Booked.');
    const asked = await life('journeys').start({ message });
    expect(asked.tools[0].user_input_schema).toMatchObject([{ name: 'seat', value: null }]);
    const [filled] = asked.tools;
    filled.user_input_schema[0].value = 3;
    const done = await life('journeys').continue(asked.run_id, { tools: [filled] });
    expect(done.body).toMatchObject({ status: 'completed', tools: [{ result: 'ICE 5 seat 3' }] });
  });

  test('passes through a local team, a remote team and a workflow', async () => {
    farBook.write('Pay 13', { toolCalls: [payCall(13)] }, 'Paid 13.');
    const ask = {
      name: 'delegate_task_to_member',
      arguments: { member_id: 'payer', task: 'Pay 13' },
      id: 'd',
    };
    const message = nearBook.write('Have 13 paid', { toolCalls: [ask] }, 'Done.');
    const teams = life('office', 'teams');
    const run = await teams.start({ message });
    expect(run).toMatchObject({ status: 'paused', requirements: [{ member_agent_id: 'payer' }] });
    const requirements = run.requirements.map((one: Body) => ({ ...one, confirmation: true }));
    const done = await teams.continue(run.run_id, { requirements });
    expect(done.body).toMatchObject({
      status: 'completed',
      content: 'Done.',
      member_responses: [{ content: 'Paid 13.' }],
    });

    const leader = farBook.write(
      'Let 14 be paid',
      { toolCalls: [{ ...ask, arguments: { member_id: 'payer', task: 'Pay 14' } }] },
      'All paid.',
    );
    farBook.write('Pay 14', { toolCalls: [payCall(14)] }, 'Paid 14.');
    const remote = life('desk', 'teams');
    const paused = await remote.start({ message: leader });
    expect(paused).toMatchObject({
      status: 'paused',
      requirements: [{ tool_execution: { tool_name: 'pay' } }],
    });
    const answers = paused.requirements.map((one: Body) => ({ ...one, confirmation: true }));
    expect((await remote.continue(paused.run_id, { requirements: answers })).body).toMatchObject({
      status: 'completed',
      content: 'All paid.',
    });

    const flow = life('flow', 'workflows');
    const step = await flow.start({
      message: farBook.write('Pay 15', { toolCalls: [payCall(15)] }, 'Paid 15.'),
    });
    expect(step).toMatchObject({ status: 'paused', pause_kind: 'executor' });
    const [requirement] = step.step_requirements;
    requirement.executor_requirements[0].confirmation = true;
    const ended = await flow.continue(step.run_id, { step_requirements: [requirement] });
    expect(ended.body).toMatchObject({ status: 'completed', content: 'Paid 15.' });
    expect(payments(13, 14, 15)).toEqual([13, 14, 15]);
  });
});

test('an approval is given at the remote service, and nothing here takes its place', async () => {
  const message = farBook.write('Release 1', { toolCalls: [{ name: 'release', id: 'rel' }] }, 'Released.');
  const run = await life('officer').start({ message });
  expect(run).toMatchObject({ status: 'paused' });
  expect(run.content).toContain(`waits for an approval at ${url}`);
  const again = (await life('officer').continue(run.run_id, { tools: confirm(run) })).body;
  expect(again).toMatchObject({ status: 'paused', requirements: [{}, {}] });
  expect(released).toEqual([]);
  const { data } = (await far.get('/approvals?status=pending')).body;
  const resolve = { method: 'POST', body: JSON.stringify({ status: 'approved' }) };
  await fetch(`${url}/approvals/${data[0].id}/resolve`, {
    ...resolve,
    headers: { 'content-type': 'application/json' },
  });
  const open = again.requirements.filter((one: Body) => one.confirmation === undefined);
  const requirements = open.map((one: Body) => ({ ...one, confirmation: true }));
  const done = await life('officer').continue(run.run_id, { requirements });
  expect(done.body).toMatchObject({ status: 'completed', content: 'Released.' });
  expect(released).toEqual(['done']);
});

test('a cancelled run cancels the remote run, running or paused', async () => {
  const hold = gate();
  const message = farBook.write('Think long', { chunks: ['Well', hold.opened, ' done'] });
  const stream = await life().stream({ message, session_id: 'long' });
  const { run_id: runId } = await stream.event('RunContent');
  await life().cancel(runId);
  expect((await life().stored(runId)).status).toBe('cancelled');
  await until('the remote run is cancelled', async () => {
    const [there] = (await far.get('/agents/payer/runs?session_id=long')).body;
    return there?.status === 'cancelled';
  });
  hold.open();
  const paused = await life().start({
    message: farBook.write('Pay 16', { toolCalls: [payCall(16)] }),
    session_id: 'left',
  });
  await life().cancel(paused.run_id);
  await until('the paused remote run is cancelled', async () => {
    const [there] = (await far.get('/agents/payer/runs?session_id=left')).body;
    return there?.status === 'cancelled';
  });
});

test('fails clearly: a failed remote run, an unknown component, a service that is not there', async () => {
  const failed = await life().start({ message: farBook.write('Fail', { error: 'The model broke' }) });
  expect(failed).toMatchObject({ status: 'error', error_type: 'remote_run_failed' });
  expect(failed.content).toContain('The model broke');
  const absent = await life('nobody').start({ message: 'hi' });
  expect(absent).toMatchObject({ status: 'error', error_type: 'remote_not_found' });
  expect(absent.content).toMatch(/Agent not found\. Agents here: /);
  const lost = remoteAgent({ url: 'http://127.0.0.1:1', id: 'x', reconnectMs: 0 });
  const output = await lost.run('hi');
  expect(output).toMatchObject({ status: 'error', error: { code: 'remote_unreachable' } });
});

test('survives the loss of the connection, and starts nothing twice', async () => {
  const between = await ServerBetween.before(far.url);
  const remote = remoteAgent({ url: between.url, id: 'payer' });
  const hold = gate();
  const message = farBook.write('Count', { chunks: ['one ', hold.opened, 'two'] });
  const texts: string[] = [];
  for await (const event of remote.stream(message, { sessionId: 'count' })) {
    if (event.event !== 'RunContent' || event.content === '') continue;
    texts.push(String(event.content));
    if (texts.length > 1) continue;
    await between.refuse();
    hold.open();
    await between.open();
  }
  expect(texts.join('')).toBe('one two');
  expect((await far.get('/agents/payer/runs?session_id=count')).body).toHaveLength(1);
});

test('a process that takes a run over follows the remote run that was started before', async () => {
  const hold = gate();
  const message = farBook.write('Slowly', { chunks: ['a ', hold.opened, 'b'] });
  const folder = mkdtempSync(join(tmpdir(), 'runyard-remote-'));
  writeFileSync(join(folder, 'runyard.db'), await preparedSqlite());
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const open = async () => {
    const app = new Runyard({
      port: 0,
      dataDir: folder,
      log: silentLog,
      agents: [remoteAgent({ url, id: 'payer' })],
    });
    return { app, url: (await app.listen()).url };
  };
  const first = await open();
  const form = new FormData();
  for (const [name, value] of Object.entries({
    message,
    session_id: 'slow',
    stream: 'false',
    background: 'true',
  }))
    form.append(name, value);
  const started = await fetch(`${first.url}/agents/payer/runs`, { method: 'POST', body: form });
  const { run_id: runId }: Body = await started.json();
  const there = async (): Promise<Body[]> => (await far.get('/agents/payer/runs?session_id=slow')).body;
  await until('the remote run is there', async () => Array.isArray(await there()));
  await first.app.close({ graceMs: 0 });
  const second = await open();
  onTestFinished(() => second.app.close({ graceMs: 0 }));
  hold.open();
  const run = await until('the run has ended', async () => {
    const body: Body = await (await fetch(`${second.url}/agents/payer/runs/${runId}?session_id=slow`)).json();
    return body.status === 'completed' && body;
  });
  expect(run).toMatchObject({ content: 'a b', run_id: runId });
  expect(await there()).toHaveLength(1);
});

test('a run that lost its service follows the same remote run when it is continued', async () => {
  const between = await ServerBetween.before(far.url);
  const remote = remoteAgent({ url: between.url, id: 'payer', reconnectMs: 0 });
  const hold = gate();
  const message = farBook.write('Patience', { chunks: ['still ', hold.opened, 'there'] });
  let runId = '';
  for await (const event of remote.stream(message, { sessionId: 'patience' })) {
    runId = event.run_id;
    if (event.event === 'RunContent' && event.content === 'still ') await between.refuse();
    if (event.event === 'RunError') expect(event.error_type).toBe('remote_unreachable');
  }
  await between.open();
  hold.open();
  expect(await remote.continue(runId)).toMatchObject({ status: 'completed', content: 'still there' });
  expect((await far.get('/agents/payer/runs?session_id=patience')).body).toHaveLength(1);
});

test('a run that takes too long fails, and is cancelled there; so is what waits in a team that is cancelled', async () => {
  const hold = gate();
  const slow = remoteAgent({ url, id: 'payer', timeoutMs: 300 });
  const message = farBook.write('Dawdle', { chunks: ['a', hold.opened] });
  expect(await slow.run(message, { sessionId: 'dawdle' })).toMatchObject({
    error: { code: 'remote_timeout' },
  });
  const ended = (session: string) =>
    until(`the run in ${session} is cancelled`, async () => {
      const [there] = (await far.get(`/agents/payer/runs?session_id=${encodeURIComponent(session)}`)).body;
      return there?.status === 'cancelled';
    });
  await ended('dawdle');
  hold.open();
  farBook.write('Pay 17', { toolCalls: [payCall(17)] });
  const ask = { name: 'delegate_task_to_member', arguments: { member_id: 'payer', task: 'Pay 17' }, id: 'd' };
  const teams = life('office', 'teams');
  const paused = await teams.start({
    message: nearBook.write('Have 17 paid', { toolCalls: [ask] }),
    session_id: 'left-team',
  });
  await teams.cancel(paused.run_id);
  await ended('left-team:payer');
});

test('where a remote agent cannot stand, it is refused by name', () => {
  const front = remoteAgent({ url, id: 'payer' });
  expect(() => workflow({ id: 'w', steps: [front], agent: front })).toThrow(
    "'payer' is executed by another service",
  );
});

test('the remote service may restart: its run continues there, and what was said before is void', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-far-'));
  writeFileSync(join(folder, 'runyard.db'), await preparedSqlite());
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const hold = gate();
  let calls = 0;
  const model = scriptedModel(() => {
    calls += 1;
    return calls === 1 ? { chunks: ['half ', hold.opened] } : { chunks: ['the ', 'whole'] };
  });
  const open = async (port: number) => {
    const app = new Runyard({
      port,
      dataDir: folder,
      log: silentLog,
      agents: [agent({ id: 'writer', model })],
    });
    return { app, url: (await app.listen()).url };
  };
  const first = await open(0);
  const remote = remoteAgent({ url: first.url, id: 'writer' });
  let text = '';
  for await (const event of remote.stream('Write')) {
    if (event.event === 'RunStarted') text = '';
    if (event.event !== 'RunContent') continue;
    text += event.content;
    if (text !== 'half ') continue;
    await first.app.close({ graceMs: 0 });
    hold.open();
    const second = await open(Number(new URL(first.url).port));
    onTestFinished(() => second.app.close({ graceMs: 0 }));
  }
  expect(text).toBe('the whole');
});

test('tokens: a wrong one is refused, and none is shown; users are forwarded only if asked for', async () => {
  const house = await Gatehouse.open({ agents: [payer] });
  const guarded = house.service;
  const { headers } = await house.person('robot');
  const token = (headers.authorization ?? '').replace('Bearer ', '');
  process.env.RUNYARD_TEST_FAR_TOKEN = token;
  onTestFinished(() => {
    delete process.env.RUNYARD_TEST_FAR_TOKEN;
  });
  const given = [token, { env: 'RUNYARD_TEST_FAR_TOKEN' }, async () => token];
  for (const one of given) {
    const output = await remoteAgent({ url: guarded.url, id: 'payer', token: one }).run('Who am I?', {
      userId: 'ada',
    });
    expect(output).toMatchObject({ status: 'completed' });
  }
  const [there] = (await guarded.get('/agents/payer/runs', headers)).body;
  expect(there.user_id).toBe('robot');
  const wrong = remoteAgent({ url: guarded.url, id: 'payer', token: 'wrong-token' });
  const refused = await wrong.run('hi');
  expect(refused).toMatchObject({ status: 'error', error: { code: 'remote_unauthorized' } });
  expect(JSON.stringify(refused)).not.toContain('wrong-token');
  const unset = remoteAgent({ url: guarded.url, id: 'payer', token: { env: 'RUNYARD_TEST_NO_TOKEN' } });
  expect(await unset.run('hi')).toMatchObject({
    error: { message: expect.stringContaining('RUNYARD_TEST_NO_TOKEN') },
  });
  const forwarding = remoteAgent({ url, id: 'payer', forwardUser: true });
  await forwarding.run('Who am I?', { userId: 'ada', sessionId: 'forwarded' });
  expect((await far.get('/agents/payer/runs?session_id=forwarded')).body[0].user_id).toBe('ada');
  expect(() => remoteAgent({ url: 'http://a:secret@x', id: 'y' })).toThrow(
    expect.not.stringContaining('secret'),
  );
});
