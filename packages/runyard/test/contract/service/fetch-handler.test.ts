import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import type { Message } from '../../../src/index.js';
import { agent, type FetchHandler, Runyard, type RunyardOptions } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { SseClient } from '../../support/clients/sse-client.js';
import type { Body } from '../../support/service.js';

const echo = scriptedModel((request) => `You said ${request.messages.at(-1)?.content}`);

/** A service that no socket leads to. */
async function served(options: RunyardOptions = {}): Promise<FetchHandler> {
  const dataDir = mkdtempSync(join(tmpdir(), 'runyard-fetch-'));
  const agents = [agent({ id: 'a', model: echo })];
  const app = new Runyard({ agents, dataDir, log: silentLog, ...options });
  onTestFinished(async () => {
    await app.close({ graceMs: 0 });
    rmSync(dataDir, { recursive: true, force: true });
  });
  const handle = app.fetchHandler({ basePath: '/ai' });
  // a busy machine may need longer to open it than a request waits
  while ((await handle(at('/health'))).status === 503);
  return handle;
}

const at = (path: string, init?: RequestInit) => new Request(`https://app.test/ai${path}`, init);
const runs = (id: string, form: Record<string, string>, init: RequestInit = {}) =>
  at(`/agents/${id}/runs`, { method: 'POST', body: new URLSearchParams(form), ...init });

test('web-standard requests get the whole API', async () => {
  const handle = await served();
  expect(await (await handle(at('/health'))).json()).toMatchObject({ status: 'ok' });
  const run = (await (await handle(runs('a', { message: 'hi', stream: 'false' }))).json()) as Body;
  expect(run).toMatchObject({ status: 'completed', content: 'You said hi' });
  const found = await handle(at(`/agents/a/runs/${run.run_id}?session_id=${run.session_id}`));
  expect(await found.json()).toMatchObject({ run_id: run.run_id });
  const missing = await handle(at('/nowhere'));
  expect([missing.status, await missing.json()]).toMatchObject([404, { detail: 'Not Found' }]);
  const description = (await (await handle(at('/openapi.json'))).json()) as Body;
  expect(description.servers).toEqual([{ url: '/ai' }]);
});

test('events are read as they come', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const model = scriptedModel([{ chunks: ['one ', held, 'two'] }]);
  const handle = await served({ agents: [agent({ id: 'a', model })] });
  const response = await handle(runs('a', { message: 'hi' }));
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const stream = new SseClient(response);
  await stream.event('RunContent');
  expect(stream.content).toBe('one ');
  release();
  await stream.end();
  expect([stream.content, stream.names.at(-1)]).toEqual(['one two', 'RunCompleted']);
});

test.each(['cancels the body', 'aborts the request'])('a reader who %s is gone', async (way) => {
  const leaving = new AbortController();
  const onAbort = vi.fn();
  const waitFor = (signal: AbortSignal) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        onAbort();
        reject(signal.reason);
      });
    });
  const agents = [agent({ id: 'a', model: scriptedModel([{ waitFor }]) })];
  const handle = await served({ agents, onDisconnect: 'cancel' });
  const response = await handle(runs('a', { message: 'hi' }, { signal: leaving.signal }));
  const reader = response.body!.getReader();
  await reader.read();
  if (way === 'cancels the body') await reader.cancel();
  else {
    leaving.abort();
    await expect(reader.read()).rejects.toThrow('aborted');
  }
  await vi.waitFor(() => expect(onAbort).toHaveBeenCalled());
});

test('files arrive whole', async () => {
  const seen: Message[] = [];
  const looking = scriptedModel((request) => {
    seen.push(request.messages.at(-1)!);
    return 'Seen.';
  });
  const handle = await served({ agents: [agent({ id: 'a', model: looking })] });
  const form = new FormData();
  form.set('message', 'Look');
  form.set('stream', 'false');
  form.set('files', new File([new Uint8Array(300_000).fill(7)], 'picture.png', { type: 'image/png' }));
  const response = await handle(at('/agents/a/runs', { method: 'POST', body: form }));
  expect(await response.json()).toMatchObject({ status: 'completed' });
  expect(seen[0]?.media).toMatchObject([{ kind: 'image', filename: 'picture.png', size: 300_000 }]);
});

test('callers are known by their tokens', async () => {
  const handle = await served({ securityKey: 'a-key-that-is-long-enough-for-this-test' });
  expect((await handle(at('/agents'))).status).toBe(401);
  const headers = { authorization: 'Bearer a-key-that-is-long-enough-for-this-test' };
  expect((await handle(at('/agents', { headers }))).status).toBe(200);
});

test('its options are checked, and type what the host passes', () => {
  const app = new Runyard({ log: silentLog });
  expect(() => app.fetchHandler({ path: '/ai' } as never)).toThrow('path is not an option');
  expectTypeOf<ReturnType<typeof app.fetchHandler>>().toExtend<(request: Request) => Promise<Response>>();
  expectTypeOf(app.fetchHandler<[ip: string]>).returns.parameters.toEqualTypeOf<[Request, ip: string]>();
});
