import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { remoteAgent } from '../../src/index.js';
import { AgentOsDouble } from '../support/clients/agentos-double.js';

test('an agent of an AgentOS: its statuses, its usage, its pauses and the list that it wants back', async () => {
  const double = await AgentOsDouble.start();
  const far = remoteAgent({ url: double.url, id: 'far' });
  const options = { sessionId: 's', metadata: { a: 1 }, images: [new URL('https://x.example/a.png')] };
  const hello = await far.run('Hi', options);
  expect(hello).toMatchObject({ status: 'completed', content: 'Hello there', metrics: { total_tokens: 7 } });
  expect(hello.metrics.details).toMatchObject({ model: [{ id: 'gpt', provider: 'OpenAI' }] });
  expect(double.forms[0]?.fields).toMatchObject({
    message: 'Hi',
    session_id: 's',
    stream: 'true',
    background: 'true',
    metadata: '{"a":1}',
    images: expect.stringContaining('https://x.example/a.png'),
  });
  const paused = await far.run('Wipe it');
  expect(paused).toMatchObject({ status: 'paused', requirements: [{ callId: 'call_1', toolName: 'wipe' }] });
  const done = await far.continue(paused.runId, { answers: { call_1: { confirmed: true } } });
  expect(done).toMatchObject({ status: 'completed', content: 'Wiped.', tools: [{ result: 'wiped a' }] });
  expect(done.metrics).toMatchObject({ total_tokens: 7 });
});

test('a lost connection is taken up again: a run that is not shown yet is not started twice', async () => {
  const double = await AgentOsDouble.start();
  double.dropAfter = 3;
  const far = remoteAgent({ url: double.url, id: 'far' });
  const pieces: unknown[] = [];
  for await (const event of far.stream('Hi')) if (event.event === 'RunContent') pieces.push(event.content);
  expect(pieces.join('')).toBe('Hello there');
  expect(double.forms.filter(({ path }) => path.endsWith('/runs'))).toHaveLength(1);
  expect(double.forms.at(-1)).toMatchObject({ fields: { last_event_index: '2' } });
});

/** A service that answers every request in one way: `read` when a run is read, `other` for everything else. */
async function serviceThat(read: () => object, other?: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'GET') return response.end(JSON.stringify(read()));
    if (other !== undefined) return other(response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.end('data: {"event":"RunPaused","run_id":"x"}\n\n');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  // the address of a server that listens to a port
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a service that asks for ever ends the run, and is not asked for ever', async () => {
  const call = { tool_call_id: 'c', tool_name: 'pay', requires_confirmation: true };
  let asked = 0;
  for (const [requirement, reason] of [
    [() => ({ tool_execution: call }), 'it did not take the answers'],
    [
      () => ({ id: `q${asked++}`, tool_execution: call }),
      "asks about the call 'c' again, which was answered",
    ],
  ] as const) {
    const url = await serviceThat(() => ({ status: 'paused', requirements: [requirement()] }));
    const far = remoteAgent({ url, id: 'far' });
    const paused = await far.run('Pay');
    expect(paused).toMatchObject({ status: 'paused', requirements: [{ callId: 'c' }] });
    const done = await far.continue(paused.runId, { answers: { c: { confirmed: true } } });
    expect(done).toMatchObject({ status: 'error', error: { code: 'remote_refused' } });
    expect(done.content).toContain(reason);
  }
  const nameless = { tool_name: 'pay', requires_confirmation: true, approval_type: 'required' };
  const url = await serviceThat(() => ({
    status: 'paused',
    requirements: [{ id: 'q', tool_execution: nameless }],
  }));
  expect(await remoteAgent({ url, id: 'far' }).run('Pay')).toMatchObject({
    status: 'error',
    error: { code: 'remote_refused' },
  });
});

test('an error without end is read no further than its reason, and no failure repeats the token', async () => {
  const url = await serviceThat(
    () => ({}),
    (response) => {
      response.writeHead(422);
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
      };
      more();
      response.on('drain', more);
    },
  );
  expect((await remoteAgent({ url, id: 'far' }).run('Hi')).content).toContain('status 422');
  const failed = await remoteAgent({ url, id: 'far', token: 'hidden\ntoken' }).run('Hi');
  expect(failed.content).toContain('characters that no header carries');
  expect(JSON.stringify(failed)).not.toContain('hidden');
});
