import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { agent, Runyard, type RunyardOptions } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { SseClient } from '../../support/clients/sse-client.js';
import { startService } from '../../support/service.js';

const echo = () =>
  agent({ id: 'a', model: scriptedModel((request) => `You said ${request.messages.at(-1)?.content}`) });

describe('routes of the operator', () => {
  const routes: RunyardOptions['routes'] = (app) => {
    app.post('/hooks/:name', async (request) => ({
      name: (request.params as { name: string }).name,
      got: request.body,
    }));
    app.get('/hooks/fails', async () => {
      throw new Error('internal secret');
    });
  };

  test('are on the same application, outside the description', async () => {
    const service = await startService({ agents: [echo()], routes });
    const response = await fetch(`${service.url}/hooks/billing/`, {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    });
    expect(await response.json()).toEqual({ name: 'billing', got: { a: 1 } });
    expect(response.headers.get('x-request-id')).toBeTruthy();
    expect((await service.get('/openapi.json')).body.paths).not.toHaveProperty('/hooks/{name}');
    expect((await service.run('a', { message: 'hi' })).body.content).toBe('You said hi');
  });

  test('fail as ours do, without showing the inside', async () => {
    const service = await startService({ agents: [], routes });
    const response = await fetch(`${service.url}/hooks/fails`);
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ error_code: 'internal_error', request_id: expect.any(String) });
    expect(text).not.toContain('secret');
  });

  test('cannot take the place of ours', async () => {
    const clash = new Runyard({
      agents: [],
      port: 0,
      dataDir: temporaryFolder(),
      log: silentLog,
      routes: (app) => void app.get('/agents/:whatever', async () => 'mine'),
    });
    onTestFinished(() => clash.close());
    await expect(clash.listen()).rejects.toThrow(/\/agents\/:whatever/);
  });
});

describe('in a server of someone else', () => {
  test('everything works under a prefix, and the rest stays theirs', async () => {
    const { url } = await mounted('/ai');
    expect(await (await fetch(`${url}/`)).text()).toBe('their page');
    expect(await (await fetch(`${url}/airplane`)).text()).toBe('their page');
    expect((await (await fetch(`${url}/ai/health`)).json()) as object).toMatchObject({ status: 'ok' });
    expect(((await (await fetch(`${url}/ai`)).json()) as { name: string }).name).toBe('Runyard API');
    const body = new URLSearchParams({ message: 'hi', stream: 'false' });
    const run = (await (await fetch(`${url}/ai/agents/a/runs/`, { method: 'POST', body })).json()) as Run;
    expect(run).toMatchObject({ status: 'completed', content: 'You said hi' });
    expect((await fetch(`${url}/ai/agents/a/runs/${run.run_id}?session_id=${run.session_id}`)).status).toBe(
      200,
    );
    const missing = await fetch(`${url}/ai/nowhere`);
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ detail: 'Not Found' });
  });

  test('streams too', async () => {
    const { url } = await mounted('/ai');
    const form = new FormData();
    form.append('message', 'hi there');
    const stream = new SseClient(await fetch(`${url}/ai/agents/a/runs`, { method: 'POST', body: form }));
    await stream.end();
    expect(stream.content).toBe('You said hi there');
  });

  test('the description and the API browser know where they are', async () => {
    const { url } = await mounted('/deep/er');
    const description = (await (await fetch(`${url}/deep/er/openapi.json`)).json()) as { servers: object[] };
    expect(description.servers).toEqual([{ url: '/deep/er' }]);
    const page = await (await fetch(`${url}/deep/er/docs`)).text();
    const assets = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(assets.length).toBeGreaterThan(2);
    for (const asset of assets) {
      expect(asset).toMatch(/^\/deep\/er\//);
      expect((await fetch(url + asset)).status, asset).toBe(200);
    }
  });

  test('without a prefix, requests that come before it is ready wait for it', async () => {
    const { url } = await mounted('');
    const answers = await Promise.all(Array.from({ length: 3 }, () => fetch(`${url}/health`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

interface Run {
  readonly run_id: string;
  readonly session_id: string;
}

async function mounted(prefix: string): Promise<{ url: string }> {
  const app = new Runyard({ agents: [echo()], dataDir: temporaryFolder(), log: silentLog });
  const handler = app.handler({ basePath: prefix });
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    if (url === prefix || url.startsWith(`${prefix}/`) || url.startsWith(`${prefix}?`))
      handler(request, response);
    else response.end('their page');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    await app.close({ graceMs: 0 });
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-mounted-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
