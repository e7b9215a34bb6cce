import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agent, tool } from '../../../src/index.js';
import { SseClient } from '../../support/clients/sse-client.js';
import { everydayScopes, Gatehouse, Holder } from '../../support/clients/tokens.js';
import { WsClient } from '../../support/clients/ws-client.js';
import { patience } from '../../support/patience.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { startService, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

const revoked = 'invalid_service_account_token';
const lately = () => patience(60_000);

/** An agent whose runs last until the test is over. */
function lastingAgent() {
  const book = new ScriptBook();
  const over = gate();
  onTestFinished(() => over.open());
  const wait = tool({ name: 'wait', description: 'Waits', execute: () => over.opened.then(() => 'done') });
  for (const message of ['first', 'second', 'third', 'fourth'])
    book.write(message, { toolCalls: [{ name: 'wait', arguments: {} }] }, 'done');
  return agent({ id: 'a', model: book.model, tools: [wait] });
}

async function mint(by: Holder, name: string, ...scopes: string[]) {
  const { body } = await by.send('POST', '/service-accounts', {
    name,
    scopes: scopes.map((scope) => ({ scope })),
    allow_privileged_scopes: true,
  });
  return { id: body.id as string, headers: { authorization: `Bearer ${body.token}` } };
}

async function ending(stream: SseClient): Promise<unknown> {
  await stream.end();
  const { id, event, payload } = stream.frames.at(-1)!;
  return [id, event, payload.event, payload.error_code, typeof payload.error];
}

test('streams end with an error when their account is revoked or their token has expired, and others continue', {
  timeout: lately(),
}, async () => {
  const house = await Gatehouse.open({ agents: [lastingAgent()], websocket: true, jwtLeewaySeconds: 0 });
  const { service } = house;
  const admin = await house.admin();
  const account = await mint(admin, 'bot', 'agents:run', 'agents:read');
  const bot = new Holder(service, account.headers);
  const started = await bot.stream('/agents/a/runs', { message: 'first' });
  const { run_id: runId } = await started.event('ToolCallStarted');
  const run = `/agents/a/runs/${runId}`;
  const resumed = await bot.stream(`${run}/resume`, { last_event_index: -1 });
  const followed = new SseClient(await fetch(`${service.url}${run}/events`, { headers: account.headers }));
  const socket = await WsClient.connect(service.url, '/agents/ws?format=json', account);
  socket.send({ action: 'start-agent', agent_id: 'a', message: 'second' });
  await socket.event('ToolCallStarted');
  const exp = Math.floor(Date.now() / 1000) + 6;
  const brief = await house.holder({ sub: 'ada', scopes: everydayScopes, exp });
  const expiring = await brief.stream('/agents/a/runs', { message: 'third' });
  const lasting = await admin.stream('/agents/a/runs', { message: 'fourth' });
  await Promise.all([resumed, followed, lasting].map((stream) => stream.event('ToolCallStarted')));

  expect((await admin.delete(`/service-accounts/${account.id}`)).status).toBe(204);
  const ended = [undefined, 'error', 'error', revoked, 'string'];
  expect(await Promise.all([started, resumed, followed].map(ending))).toEqual([ended, ended, ended]);
  expect(await ending(expiring)).toEqual([undefined, 'error', 'error', 'token_expired', 'string']);
  await socket.event('auth_required');
  expect(lasting.names).not.toContain('error');
  // the runs continue: callers with the right still find them
  expect((await admin.get(run)).body.status).toBe('running');
});

test('an open service does not serve a revoked account as an anonymous caller in the middle of a stream', {
  timeout: lately(),
}, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'runyard-open-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const securityKey = 'a-key-of-more-than-sixteen-characters';
  const closed = await TestService.start({ agents: [], dataDir, securityKey });
  const account = await mint(
    new Holder(closed, { authorization: `Bearer ${securityKey}` }),
    'bot',
    'agents:run',
  );
  await closed.stop();
  const open = await startService({ agents: [lastingAgent()], dataDir });
  const stream = await new Holder(open, account.headers).stream('/agents/a/runs', { message: 'first' });
  expect((await stream.event('ToolCallStarted')).run_id).toBeTypeOf('string');
  expect((await open.call('DELETE', `/service-accounts/${account.id}`)).status).toBe(204);
  expect(await ending(stream)).toEqual([undefined, 'error', 'error', revoked, 'string']);
});
