import { expect, onTestFinished, test } from 'vitest';
import { capabilities } from '../../../src/capabilities/capabilities.js';
import type { PushSender } from '../../../src/capabilities/push-notifications/service.js';
import { PushStore } from '../../../src/capabilities/push-notifications/store.js';
import { continueRunForm, createRunForm } from '../../../src/capabilities/runs/schema.js';
import { openCapabilities } from '../../../src/open-capabilities.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { administrator, person } from '../../support/clients/callers.js';
import { type LogLine, recordingLog } from '../../support/clients/http-server.js';
import { type Webhook, webhook } from '../../support/clients/webhook.js';
import { payCall, payingAgent } from '../../support/components/run-life.js';
import { type DatabasePlace, forEachDatabase, freshSqlite } from '../../support/databases.js';
import { partsOver } from '../../support/open-services.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { until } from '../../support/until.js';

const ada = person('ada');
const bob = person('bob');
const component = { kind: 'agent', componentId: 'a' } as const;
const mount = '/test';
const origin = { mount, dialect: '1.0', issuer: 'https://agents.example' };

const sender = (host: string, more: Partial<PushSender> = {}): PushSender => ({
  allowedHosts: [host],
  maxAttempts: 3,
  timeoutMs: 10_000,
  retryMs: 1,
  message: async ({ configId, token }, { run }) => ({
    headers: { 'content-type': 'application/json', ...(token !== null && { 'x-token': token }) },
    body: JSON.stringify({ run: run.runId, status: run.status, configId }),
  }),
  ...more,
});

/** One process of a service: it notifies clients if it has a sender. */
async function processOver(database: Database, pushes?: PushSender) {
  const book = new ScriptBook();
  const { agent } = payingAgent(book, 'a');
  const log: LogLine[] = [];
  const parts = { ...partsOver(database, { agents: [agent] }), log: recordingLog(log) };
  const opened = await openCapabilities(capabilities, parts);
  const { runs, pushNotifications } = opened.services;
  if (pushes !== undefined) pushNotifications.enable(mount, pushes);
  await opened.start();
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= opened.stop(0);
    return stopped;
  };
  onTestFinished(stop);
  const run = async (runId: string) => {
    const form = createRunForm.parse({ message: 'hello', stream: 'false', run_id: runId });
    await runs.ended(await runs.create(ada, component, form));
    return { ...component, runId };
  };
  const deliveries = async (place: { readonly runId: string }) =>
    (await pushNotifications.list(ada, { ...component, ...place }, mount)).map(({ delivery }) => delivery);
  return { book, log, runs, pushes: pushNotifications, run, deliveries, stop };
}

type Process = Awaited<ReturnType<typeof processOver>>;

const settled = (process: Process, place: { readonly runId: string }) =>
  until('the notifications are settled', async () => {
    const all = await process.deliveries(place);
    return all.length > 0 && all.every(({ state }) => state === 'delivered' || state === 'failed') && all;
  });

async function started(place: DatabasePlace, more?: Partial<PushSender>) {
  const hook = await webhook();
  const database = await place.open();
  return { hook, database, process: await processOver(database, sender(hook.host, more)) };
}

/** A run that ends in a process which does not notify, with an address that is to be notified: as after a crash. */
async function endedUnnoticed(place: DatabasePlace, hook: Webhook, runId: string): Promise<void> {
  const database = await place.open();
  const process = await processOver(database);
  await process.run(runId);
  const values = {
    ...origin,
    runId,
    configId: 'c',
    url: hook.url,
    token: null,
    scheme: null,
    credentials: null,
  };
  await new PushStore(database).put(values, 10);
  await process.stop();
}

forEachDatabase((_dialect, freshPlace) => {
  test('each pause and the end of a run are reported once, in their order', async () => {
    const { hook, process } = await started(await freshPlace());
    const { book, runs, pushes } = process;
    book.write('pay', { toolCalls: [payCall(5)] }, { text: 'paid' });
    const form = createRunForm.parse({ message: 'pay', background: 'true', run_id: 'r' });
    await runs.create(ada, component, form);
    const place = { ...component, runId: 'r' };
    const config = await pushes.set(ada, place, { url: hook.url, token: 'secret' }, origin);
    expect(config.delivery).toMatchObject({ state: 'waiting', attempts: 0 });
    await hook.until(1);
    await settled(process, place);
    const answer = continueRunForm.parse({
      tools: JSON.stringify([{ tool_call_id: 'pay-5', confirmed: true }]),
      stream: 'false',
    });
    await runs.ended(await runs.continueRun(ada, place, answer));
    await hook.until(2);
    expect(hook.received.map(({ body }) => body.status)).toEqual(['paused', 'completed']);
    expect(hook.received[0]?.headers['x-token']).toBe('secret');
    expect(await settled(process, place)).toMatchObject([{ state: 'delivered', attempts: 1, error: null }]);
    // an address that is registered after the end learns of the end
    await pushes.set(ada, place, { id: 'late', url: hook.url }, origin);
    await hook.until(3);
    expect(hook.received[2]?.body).toEqual({ run: 'r', status: 'completed', configId: 'late' });
  });

  test('a receiver that fails is tried again, and given up with a reason', async () => {
    const { hook, process } = await started(await freshPlace());
    const place = await process.run('r');
    hook.answers.push(500, 503);
    await process.pushes.set(ada, place, { id: 'c', url: `${hook.url}?key=hidden` }, origin);
    expect(await settled(process, place)).toMatchObject([{ state: 'delivered', attempts: 3, error: null }]);
    expect(hook.received).toHaveLength(3);

    hook.answers.push(500, 500, 500);
    const failing = await process.run('failing');
    await process.pushes.set(ada, failing, { id: 'c', url: `${hook.url}?key=hidden` }, origin);
    const reason = 'The receiver answered with status 500.';
    expect(await settled(process, failing)).toMatchObject([{ state: 'failed', attempts: 3, error: reason }]);
    const warned = () => process.log.filter(({ level }) => level === 'warn');
    await until('the end of the attempts is logged', () => warned().length > 0);
    expect(warned()).toMatchObject([{ fields: { run_id: 'failing', reason, host: hook.host } }]);
    expect(JSON.stringify(process.log)).not.toContain('hidden');

    // registered again, what was given up is sent
    await process.pushes.set(ada, failing, { id: 'c', url: hook.url }, origin);
    expect(await settled(process, failing)).toMatchObject([{ state: 'delivered', attempts: 1 }]);

    hook.answers.push(410);
    const gone = await process.run('gone');
    await process.pushes.set(ada, gone, { url: hook.url }, origin);
    expect(await settled(process, gone)).toMatchObject([{ state: 'failed', attempts: 1 }]);
  });

  test('a notification survives the end of the process before, while and after it is sent', async () => {
    const place = await freshPlace();
    const hook = await webhook();
    await endedUnnoticed(place, hook, 'before');
    const database = await place.open();
    // a process took it and was killed
    await endedUnnoticed(place, hook, 'while');
    const store = new PushStore(database);
    await store.open(['while']);
    expect(await store.claim(mount, 'killed', 1, 8)).toHaveLength(1);
    // a process is stopped while the receiver thinks
    hook.answers.push(0, 0);
    const stopping = await processOver(await place.open(), sender(hook.host));
    await hook.until(2);
    await stopping.stop();
    const next = await processOver(await place.open(), sender(hook.host));
    for (const runId of ['before', 'while'])
      expect(await settled(next, { runId })).toMatchObject([{ state: 'delivered' }]);
    expect(hook.received.map(({ body }) => body.run).sort()).toEqual(['before', 'before', 'while', 'while']);
    await next.stop();
    // what was delivered is not sent again
    const last = await processOver(await place.open(), sender(hook.host));
    const other = await last.run('other');
    await last.pushes.set(ada, other, { url: hook.url }, origin);
    await settled(last, other);
    expect(hook.received).toHaveLength(5);
  });

  test('a notification that ends the processes which send it is given up', async () => {
    const place = await freshPlace();
    const hook = await webhook();
    await endedUnnoticed(place, hook, 'deadly');
    const database = await place.open();
    const store = new PushStore(database);
    await store.open(['deadly']);
    for (let killed = 0; killed < 3; killed++)
      await until('the lease has ended', async () => (await store.claim(mount, 'killed', 1, 8)).length > 0);
    const process = await processOver(database, sender(hook.host));
    expect(await settled(process, { runId: 'deadly' })).toMatchObject([
      { state: 'failed', error: expect.stringContaining('ended before the receiver answered') },
    ]);
    expect(hook.received).toEqual([]);
  });

  test('several processes send each notification once', async () => {
    const place = await freshPlace();
    const hook = await webhook();
    const both = [
      await processOver(await place.open(), sender(hook.host)),
      await processOver(await place.open(), sender(hook.host)),
    ];
    const ids = Array.from({ length: 12 }, (_, position) => `run-${position}`);
    await Promise.all(
      ids.map(async (runId, position) => {
        const process = both[position % 2]!;
        await process.run(runId);
        await process.pushes.set(ada, { ...component, runId }, { id: 'c', url: hook.url }, origin);
      }),
    );
    for (const runId of ids) await settled(both[0]!, { runId });
    expect(hook.received.map(({ body }) => body.run).sort()).toEqual([...ids].sort());
  });

  test('only those who see a run see and change where its notifications go', async () => {
    const { hook, process } = await started(await freshPlace());
    const { pushes } = process;
    const place = await process.run('r');
    const given = {
      id: 'c',
      url: hook.url,
      token: 't',
      authentication: { scheme: 'Basic', credentials: 'x' },
    };
    await pushes.set(ada, place, given, origin);
    const notFound = { status: 404, message: 'Run not found' };
    await expect(pushes.set(bob, place, given, origin)).rejects.toMatchObject(notFound);
    await expect(pushes.get(bob, place, mount, 'c')).rejects.toMatchObject(notFound);
    await expect(pushes.list(bob, place, mount)).rejects.toMatchObject(notFound);
    await expect(pushes.remove(bob, place, mount, 'c')).rejects.toMatchObject(notFound);
    expect(await pushes.list(administrator(), place, mount)).toHaveLength(1);
    for (let count = 1; count < 10; count++) await pushes.set(ada, place, { url: hook.url }, origin);
    await expect(pushes.set(ada, place, { url: hook.url }, origin)).rejects.toMatchObject({
      code: 'too_many_push_configs',
    });
    await pushes.set(ada, place, given, origin);
    await pushes.remove(ada, place, mount, 'c');
    await expect(pushes.get(ada, place, mount, 'c')).rejects.toMatchObject({ code: 'push_config_not_found' });
    await expect(pushes.list(ada, place, '/other')).rejects.toMatchObject({
      code: 'push_notifications_off',
    });
  });

  test('what belongs to runs that are gone is removed', async () => {
    const { process, database } = await started(await freshPlace());
    const store = new PushStore(database);
    const values = { ...origin, url: 'https://x.example', token: null, scheme: null, credentials: null };
    await process.run('r');
    await store.put({ ...values, runId: 'r', configId: 'c' }, 10);
    await store.put({ ...values, runId: 'never-stored', configId: 'c' }, 10);
    expect(await store.removeOld(60_000, 60_000, 10)).toBe(0);
    expect(await store.removeOld(-1, 60_000, 10)).toBe(1);
    expect(await store.find('never-stored', 'c')).toBeUndefined();
    expect(await store.removeOld(-1, -1, 10)).toBe(1);
  });
});

test('addresses inside the network, redirects and unusable values are refused', async () => {
  const { hook, process } = await started(await freshSqlite(), { maxAttempts: 1 });
  const { pushes } = process;
  const place = await process.run('r');
  const refused = { code: 'push_config_invalid' };
  for (const url of [
    'http://127.0.0.1:1/hook',
    'http://[::1]/hook',
    'http://169.254.169.254/latest',
    'http://2130706433/hook',
    'ftp://example.com/hook',
    'https://user:password@example.com/hook',
    'nowhere',
    `https://example.com/${'x'.repeat(2_000)}`,
  ])
    await expect(pushes.set(ada, place, { url }, origin)).rejects.toMatchObject(refused);
  for (const more of [
    { token: 'a\r\nx-admin: yes' },
    { token: 'x'.repeat(4_001) },
    { authentication: { scheme: 'Bearer\n', credentials: 'x' } },
  ])
    await expect(pushes.set(ada, place, { url: hook.url, ...more }, origin)).rejects.toMatchObject(refused);
  expect(await pushes.list(ada, place, mount)).toEqual([]);

  const port = hook.host.split(':')[1];
  await pushes.set(ada, place, { id: 'name', url: `http://localhost:${port}/hook` }, origin);
  expect(await settled(process, place)).toMatchObject([
    { state: 'failed', error: expect.stringContaining('has no public address') },
  ]);
  expect(hook.received).toEqual([]);
  await pushes.remove(ada, place, mount, 'name');

  hook.answers.push(307);
  hook.headers.location = hook.url;
  await pushes.set(ada, place, { url: hook.url }, origin);
  expect(await settled(process, place)).toMatchObject([
    { state: 'failed', error: 'The receiver redirects, which is not followed.' },
  ]);
  expect(hook.received).toHaveLength(1);
});
