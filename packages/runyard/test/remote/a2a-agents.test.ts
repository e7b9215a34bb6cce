import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { a2aAgent, remoteAgent, team } from '../../src/index.js';
import { a2a } from '../../src/interfaces.js';
import { A2aService } from '../../src/platform/remote/a2a/a2a-service.js';
import { payCall, payingAgent, RunLife } from '../support/components/run-life.js';
import { ScriptBook } from '../support/providers/script-book.js';
import { ServerBetween } from '../support/server-between.js';
import { type Body, TestService } from '../support/service.js';
import { gate, until } from '../support/until.js';

const farBook = new ScriptBook();
const nearBook = new ScriptBook();
const { agent: payer, paid } = payingAgent(farBook, 'payer');

/** Ways to the same agent: a card that offers one of them. */
const ways = {
  'json-rpc-1': { protocolBinding: 'JSONRPC', protocolVersion: '1.0', path: '' },
  'http-json-1': { protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', path: '' },
  'json-rpc-03': { protocolBinding: 'JSONRPC', protocolVersion: '0.3', path: '/v1/message:stream' },
} as const;

let far: TestService;
let near: TestService;
const cardUrl = (base: string, way: string) => `${base}/cards/${way}.json`;

beforeAll(async () => {
  far = await TestService.start({
    agents: [payer, remoteAgent({ url: 'http://127.0.0.1:1', id: 'back' })],
    interfaces: [a2a()],
    routes: async (app) => {
      for (const [way, { path, ...offered }] of Object.entries(ways))
        for (const streaming of [true, false])
          app.get(`/cards/${streaming ? way : `${way}-polled`}.json`, async (request) => ({
            name: way,
            capabilities: { streaming },
            supportedInterfaces: [
              { url: `http://${request.headers.host}/a2a/agents/payer${path}`, ...offered },
            ],
          }));
    },
  });
  const remote = a2aAgent({ url: cardUrl(far.url, 'json-rpc-1'), id: 'payer' });
  near = await TestService.start({
    agents: [
      remote,
      a2aAgent({ url: `${far.url}/a2a/agents/back`, id: 'back' }),
      remoteAgent({ url: far.url, id: 'back', localId: 'back-over-rest' }),
    ],
    teams: [team({ id: 'office', model: nearBook.model, members: [remote] })],
  });
});
afterAll(async () => {
  await near.stop();
  await far.stop();
});

const payments = (cents: number) => paid.filter((one) => one.cents === cents).length;
const there = async (session: string): Promise<Body[]> =>
  (await far.get(`/agents/payer/runs?session_id=${session}`)).body;

describe.each(Object.keys(ways).flatMap((way) => [way, `${way}-polled`]))('over %s', (way) => {
  test('answers, pauses and continues', async () => {
    const far2 = a2aAgent({ url: cardUrl(far.url, way), id: 'payer' });
    const message = farBook.write(`Hello ${way}`, {
      text: `Hi over ${way}`,
      usage: { inputTokens: 3, outputTokens: 2 },
    });
    expect(await far2.run(message, { sessionId: way })).toMatchObject({
      status: 'completed',
      content: `Hi over ${way}`,
    });
    expect(await there(way)).toMatchObject([{ run_input: message, status: 'completed' }]);
    const cents = 500 + [...way].reduce((sum, letter) => sum * 7 + letter.charCodeAt(0), 0);
    const paused = await far2.run(farBook.write(`Pay ${way}`, { toolCalls: [payCall(cents, way)] }, 'Paid.'));
    expect(paused).toMatchObject({ status: 'paused', requirements: [{ toolName: 'pay', args: { cents } }] });
    const done = await far2.continue(paused.runId, { answers: { [way]: { confirmed: true } } });
    expect(done).toMatchObject({ status: 'completed', content: 'Paid.' });
    expect(payments(cents)).toBe(1);
  });
});

test('as a registered agent and as a member: streamed, with its pause, cancelled there when cancelled here', async () => {
  const life = new RunLife(near, 'payer');
  const stream = await (await life.stream({ message: farBook.write('Sing', 'La la') })).end();
  expect(stream.content).toBe('La la');
  expect(stream.names).not.toContain('remote_task');
  const ask = { name: 'delegate_task_to_member', arguments: { member_id: 'payer', task: 'Pay 31' }, id: 'd' };
  farBook.write('Pay 31', { toolCalls: [payCall(31)] }, 'Paid 31.');
  const teams = new RunLife(near, 'office', 'teams');
  const run = await teams.start({ message: nearBook.write('Have 31 paid', { toolCalls: [ask] }, 'Done.') });
  const requirements = run.requirements.map((one: Body) => ({ ...one, confirmation: true }));
  expect((await teams.continue(run.run_id, { requirements })).body).toMatchObject({ status: 'completed' });
  expect(payments(31)).toBe(1);
  const hold = gate();
  const long = await life.stream({
    message: farBook.write('Long', { chunks: ['a', hold.opened] }),
    session_id: 'long',
  });
  await life.cancel((await long.event('RunContent')).run_id);
  await until('the task is cancelled', async () => (await there('long'))[0]?.status === 'cancelled');
  hold.open();
});

test('a lost connection is taken up again, and nothing is started twice', async () => {
  const between = await ServerBetween.before(far.url);
  const remote = a2aAgent({ url: cardUrl(between.url.replace(/\/$/, ''), 'json-rpc-1'), id: 'payer' });
  const hold = gate();
  const message = farBook.write('Count', { chunks: ['one ', hold.opened, 'two'] });
  for await (const event of remote.stream(message, { sessionId: 'count' })) {
    if (event.event === 'RunContent' && event.content === 'one ') {
      await between.refuse();
      hold.open();
      await between.open();
    }
    if (event.event === 'RunCompleted') expect(event.content).toBe('one two');
  }
  expect(await there('count')).toHaveLength(1);
});

test('the card of a Runyard leads to it', async () => {
  const remote = a2aAgent({ url: `${far.url}/a2a/agents/payer`, id: 'payer' });
  expect(await remote.run('By the card')).toMatchObject({
    status: 'completed',
    content: 'Answer to: By the card',
  });
});

test('a task whose id was lost with its process is found by the message that started it', async () => {
  const signal = new AbortController().signal;
  const ref = { runId: 'lost-run', sessionId: 'lost-session' };
  const message = 'Where am I?';
  const start = { ...ref, message, media: [], userId: undefined, options: { stream: true }, hops: 1 };
  for await (const _ of new A2aService({ url: cardUrl(far.url, 'json-rpc-1') }).start(start, signal));
  const other = new A2aService({ url: cardUrl(far.url, 'http-json-1') });
  expect(await other.read(ref, signal)).toMatchObject({ status: 'completed' });
  expect(await other.read({ ...ref, runId: 'never-sent' }, signal)).toBeUndefined();
});

test('an agent that asks in words, and one whose card names another host', async () => {
  const forms: Body[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = `http://${request.headers.host}`;
    const answer = (body: Body) => response.end(JSON.stringify(body));
    if (request.url === '/elsewhere.json')
      return answer({ url: 'http://10.0.0.1/', preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' });
    if (request.method === 'GET')
      return answer({ url, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' });
    const { id, method, params }: Body = JSON.parse(Buffer.concat(chunks).toString());
    if (method === 'message/send') forms.push(params.message);
    const text = (said: string) => [{ kind: 'text', text: said }];
    const last = forms.length === 1;
    const status = last
      ? { state: 'input-required', message: { messageId: 'q1', parts: text('Which city?') } }
      : { state: 'completed' };
    const artifacts = last ? [] : [{ artifactId: 'x', parts: text(`To ${forms[1].parts[0].text}`) }];
    return answer({
      jsonrpc: '2.0',
      id,
      result: { kind: 'task', id: 't1', contextId: 'c', status, artifacts },
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const travel = a2aAgent({ url, id: 'travel', token: 'hidden-token' });
  const paused = await travel.run('Book a trip');
  expect(paused).toMatchObject({
    status: 'paused',
    requirements: [{ callId: 'q1', inputFields: [{ name: 'answer', description: 'Which city?' }] }],
  });
  const done = await travel.continue(paused.runId, { answers: { q1: { values: { answer: 'Rome' } } } });
  expect(done).toMatchObject({ status: 'completed', content: 'To Rome' });
  expect(forms[1]).toMatchObject({ taskId: 't1', role: 'user' });
  const elsewhere = await a2aAgent({ url: `${url}/elsewhere.json`, id: 'x', token: 'hidden-token' }).run(
    'hi',
  );
  expect(elsewhere).toMatchObject({ status: 'error', error: { code: 'remote_refused' } });
  expect(JSON.stringify(elsewhere)).toContain('10.0.0.1');
});

test('a cancelled run ends nothing of another one that waits for the same card', async () => {
  const card = gate();
  const server = createServer(async (request, response) => {
    const url = `http://${request.headers.host}`;
    if (request.method === 'GET') await card.opened;
    const result = {
      kind: 'message',
      messageId: 'm',
      role: 'agent',
      parts: [{ kind: 'text', text: 'Here.' }],
    };
    const offered = { url, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' };
    response.end(JSON.stringify(request.method === 'GET' ? offered : { jsonrpc: '2.0', id: 1, result }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  // the address of a server that listens to a port
  const shared = a2aAgent({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, id: 'x' });
  const caller = new AbortController();
  const first = shared.run('One', { signal: caller.signal });
  const second = shared.run('Two');
  await once(server, 'request');
  caller.abort();
  expect(await first).toMatchObject({ status: 'cancelled' });
  card.open();
  expect(await second).toMatchObject({ status: 'completed', content: 'Here.' });
});

test('components that lead back to each other are bounded: each service says how many passed the run on', async () => {
  for (const id of ['back', 'back-over-rest']) {
    const sent = await fetch(`${near.url}/agents/${id}/runs`, {
      method: 'POST',
      headers: { 'x-runyard-hops': '15' },
      body: new URLSearchParams({ message: 'Round and round', stream: 'false' }),
    });
    const run: Body = await sent.json();
    expect(run).toMatchObject({ status: 'error', error_type: 'remote_run_failed' });
    expect(run.content).toContain('do they lead back to each other?');
  }
});
