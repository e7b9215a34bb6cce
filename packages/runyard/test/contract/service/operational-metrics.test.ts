import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { agent, Runyard, type RunyardOptions, tool } from '../../../src/index.js';
import { readExposition } from '../../support/clients/exposition.js';
import { recordingLog } from '../../support/clients/http-server.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Body } from '../../support/service.js';
import { until } from '../../support/until.js';

async function serving(options: RunyardOptions = {}) {
  const book = new ScriptBook();
  const look = tool({
    name: 'look',
    description: 'Looks',
    inputSchema: { type: 'object', properties: {} },
    execute: async () => 'seen',
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'runyard-metrics-'));
  const app = new Runyard({
    port: 0,
    dataDir,
    agents: [agent({ id: 'a', model: book.model, tools: [look] })],
    log: recordingLog([]),
    ...options,
  });
  onTestFinished(async () => {
    await app.close({ graceMs: 0 });
    rmSync(dataDir, { recursive: true, force: true });
  });
  const { url, probeUrl } = await app.listen();
  const run = async (message: string): Promise<Body> => {
    const body = new URLSearchParams({ message, stream: 'false', user_id: 'secret-user' });
    return (await fetch(`${url}/agents/a/runs`, { method: 'POST', body })).json();
  };
  const scrape = async (accept = '') => {
    const response = await fetch(`${probeUrl}/metrics`, { headers: { accept } });
    return { response, text: await response.text() };
  };
  return { app, book, url, run, scrape };
}

test('the probe port counts what the service does', async () => {
  const { book, url, run, scrape } = await serving({ probePort: 0 });
  book.write('look', { toolCalls: [{ name: 'look', arguments: {} }] }, 'Seen.');
  book.write('fails', { error: 'No such model' });
  expect((await run('look')).status).toBe('completed');
  expect((await run('fails')).status).toBe('error');
  await fetch(`${url}/agents/a/runs/no-such-run`);
  await fetch(`${url}/no/such/path/with-a-secret`);

  const { response, text } = await scrape();
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const { value, types } = readExposition(text);
  const ofAgent = { kind: 'agent', component: 'a' };
  expect(value('runyard_runs_began_total', { ...ofAgent, entry: 'started' })).toBe(2);
  expect(value('runyard_runs_rested_total', { ...ofAgent, status: 'completed' })).toBe(1);
  expect(value('runyard_runs_rested_total', { ...ofAgent, status: 'error' })).toBe(1);
  expect(value('runyard_run_duration_seconds_count', { status: 'completed' })).toBe(1);
  const { provider, id: model } = book.model;
  expect(value('runyard_model_call_duration_seconds_count', { provider, model })).toBe(3);
  expect(value('runyard_model_errors_total', { provider, model })).toBe(1);
  expect(value('runyard_model_tokens_total', { provider, model, type: 'output' })).toBeGreaterThan(0);
  expect(value('runyard_tool_call_duration_seconds_count', { tool: 'look', outcome: 'ok' })).toBe(1);
  expect(value('runyard_event_lag_seconds_count')).toBeGreaterThan(0);
  const ofRuns = { method: 'POST', route: '/agents/:agent_id/runs' };
  expect(value('runyard_http_requests_total', { ...ofRuns, status: '200' })).toBe(2);
  expect(value('runyard_http_request_duration_seconds_count', ofRuns)).toBe(2);
  expect(
    value('runyard_http_requests_total', { route: '/agents/:agent_id/runs/:run_id', status: '404' }),
  ).toBe(1);
  expect(value('runyard_http_requests_total', { route: 'unmatched', status: '404' })).toBe(1);
  expect(value('runyard_executing', { kind: 'run' })).toBe(0);
  expect(value('runyard_queue_depth', { database: 'default', kind: 'run' })).toBe(0);
  expect(value('runyard_database_up', { database: 'default' })).toBe(1);
  expect(value('runyard_write_queue_runs', { database: 'default' })).toBe(0);
  expect(value('runyard_open_connections', { type: 'stream' })).toBe(0);
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  expect(types.get('process_cpu_seconds_total')).toBe('counter');
  expect(text).not.toContain('secret');

  const open = await scrape('application/openmetrics-text; version=1.0.0');
  expect(open.response.headers.get('content-type')).toContain('application/openmetrics-text');
  expect(open.text.endsWith('# EOF\n')).toBe(true);
  readExposition(open.text);
  // the contract has this path at the service itself
  expect((await fetch(`${url}/metrics`)).headers.get('content-type')).toContain('application/json');
});

test('runs in progress and open streams are shown', async () => {
  const { book, url, scrape } = await serving({ probePort: 0 });
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  book.write('hold', { chunks: ['Begun', held, ' and done.'] });
  const body = new URLSearchParams({ message: 'hold', stream: 'true' });
  const response = await fetch(`${url}/agents/a/runs`, { method: 'POST', body });
  await until('both are shown', async () => {
    const { value } = readExposition((await scrape()).text);
    return (
      value('runyard_executing', { kind: 'run' }) === 1 &&
      value('runyard_open_connections', { type: 'stream' }) === 1 &&
      // a stream counts when it begins
      value('runyard_http_requests_total', { route: '/agents/:agent_id/runs', status: '200' }) === 1
    );
  });
  release();
  await response.text();
  const { value } = readExposition((await scrape()).text);
  expect(value('runyard_http_requests_total', { route: '/agents/:agent_id/runs' })).toBe(1);
});

test('every metric is documented, and no other', async () => {
  const { run, scrape, book } = await serving({ probePort: 0 });
  book.write('fails', { error: 'No such model' });
  await run('fails');
  await run('hello');
  const page = readFileSync(new URL('../../../../../docs/deployment.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `((?:runyard|process|nodejs)_\w+)`/gm)].map(([, name]) => name!);
  const { types } = readExposition((await scrape()).text);
  // these need a pool, a cache or a tool
  const unseen = rows.filter((name) => /pool|cached|tool|leases/.test(name));
  expect([...new Set([...types.keys(), ...unseen])].sort()).toEqual([...rows].sort());
});

test('a collector receives them now and then, and the last ones at the stop', async () => {
  const requests: { path: string; key: unknown; body: Body }[] = [];
  let isAway = true;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(gunzipSync(Buffer.concat(chunks)).toString());
      requests.push({ path: request.url!, key: request.headers['x-key'], body });
      // the first ones are lost for good
      response.writeHead(isAway ? 400 : 200).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const otlpEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { app, run } = await serving({
    otlpEndpoint,
    otlpHeaders: { 'x-key': 'k' },
    otlpMetricsSeconds: 1,
    name: 'Press office',
  });
  const metricRequests = () => requests.filter(({ path }) => path === '/v1/metrics');
  await until('two were sent', () => metricRequests().length >= 2);
  isAway = false;
  await run('hello');
  await app.close();
  const { body, key } = metricRequests().at(-1)!;
  expect(key).toBe('k');
  const [{ resource, scopeMetrics }] = body.resourceMetrics;
  expect(resource.attributes).toContainEqual({
    key: 'service.name',
    value: { stringValue: 'Press office' },
  });
  const metrics: Body[] = scopeMetrics[0].metrics;
  const rested = metrics.find(({ name }) => name === 'runyard_runs_rested_total');
  expect(rested.sum).toMatchObject({ aggregationTemporality: 2, isMonotonic: true });
  expect(rested.sum.dataPoints).toMatchObject([{ asDouble: 1 }]);
});
