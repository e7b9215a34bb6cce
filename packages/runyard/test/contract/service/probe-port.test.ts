import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Runyard, type RunyardOptions } from '../../../src/index.js';
import { recordingLog } from '../../support/clients/http-server.js';
import { until } from '../../support/until.js';

function appWith(options: RunyardOptions): Runyard {
  const dataDir = mkdtempSync(join(tmpdir(), 'runyard-probe-'));
  const app = new Runyard({ port: 0, dataDir, agents: [], log: recordingLog([]), ...options });
  onTestFinished(async () => {
    await app.close({ graceMs: 0 });
    rmSync(dataDir, { recursive: true, force: true });
  });
  return app;
}

/** A server that takes connections and says nothing. */
async function silentServer() {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  onTestFinished(end);
  return { port: (server.address() as AddressInfo).port, end };
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const { port, end } = await silentServer();
  end();
  return port;
}

test('serves health and readiness without a token, and nothing else', async () => {
  const app = appWith({ probePort: 0, securityKey: 'a-key-that-is-long-enough-for-anybody' });
  const { url, probeUrl } = await app.listen();
  expect((await fetch(`${url}/ready`)).status).toBe(401);

  const health = await fetch(`${probeUrl}/health`);
  expect([health.status, await health.json()]).toEqual([200, await (await fetch(`${url}/health`)).json()]);
  const ready = await fetch(`${probeUrl}/ready?verbose`);
  expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'ready' }]);
  const head = await fetch(`${probeUrl}/ready`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);

  for (const path of ['/', '/info', '/agents', '/openapi.json', '/docs', '/health/', '/__proto__', '//ready'])
    expect((await fetch(`${probeUrl}${path}`)).status, path).toBe(404);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    expect((await fetch(`${probeUrl}/ready`, { method })).status, method).toBe(404);
  const posted = await fetch(`${probeUrl}/health`, { method: 'POST', body: 'x'.repeat(100_000) }).catch(
    () => null,
  );
  expect(posted?.status ?? 404).toBe(404);
});

test('answers before the service is open, and not at all when it cannot be opened', async () => {
  const silent = await silentServer();
  const probePort = await freePort();
  const app = appWith({
    probePort,
    databaseStartupMs: 0,
    database: `postgres://nobody@127.0.0.1:${silent.port}/none`,
  });
  const listening = app.listen();
  listening.catch(() => {});
  const probe = (path: string) => fetch(`http://127.0.0.1:${probePort}${path}`);
  const early = await until('the probes are served', () => probe('/ready').catch(() => undefined));
  expect([early.status, await early.json()]).toMatchObject([
    503,
    { status: 'not_ready', checks: { database: { status: 'unknown' }, stopping: { status: 'ok' } } },
  ]);
  expect((await probe('/health')).status).toBe(200);
  silent.end();
  await expect(listening).rejects.toMatchObject({ code: 'database_unavailable' });
  await expect(probe('/health')).rejects.toThrow();
});

test('a port that is taken is named with its setting, and nothing is left open', async () => {
  const { port } = await silentServer();
  const app = appWith({ probePort: port });
  await expect(app.listen()).rejects.toMatchObject({
    code: 'address_unavailable',
    message: expect.stringMatching(new RegExp(`127.0.0.1:${port}.*probePort`)),
  });
  const same = appWith({ port, probePort: port });
  await expect(same.listen()).rejects.toMatchObject({ code: 'invalid_config' });
});

test('is served for a mounted service too, and ends with it', async () => {
  const probePort = await freePort();
  const app = appWith({ probePort });
  app.handler();
  const probe = () => fetch(`http://127.0.0.1:${probePort}/ready`).catch(() => undefined);
  await until('it is ready', async () => (await probe())?.status === 200);
  await app.close({ graceMs: 0 });
  expect(await probe()).toBeUndefined();
});

test('clients that hold connections to the probe port and send nothing keep no orchestrator out', async () => {
  const { probeUrl } = await appWith({ probePort: 0 }).listen();
  const { port } = new URL(probeUrl!);
  const held = Array.from({ length: 150 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
  onTestFinished(() => {
    for (const socket of held) socket.destroy();
  });
  await Promise.all(held.map((socket) => once(socket, 'connect')));
  expect((await fetch(`${probeUrl}/health`)).status).toBe(200);
});
