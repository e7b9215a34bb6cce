import { expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { WsClient } from '../../support/clients/ws-client.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { startService } from '../../support/service.js';

test('actions over a WebSocket count like requests', async () => {
  const service = await startService({
    agents: [agent({ id: 'a', model: new ScriptBook().model })],
    websocket: true,
    rateLimit: 1,
    // one is for the connection
    rateLimitBurst: 3,
  });
  const client = await WsClient.connect(service.url, '/agents/ws?format=json');
  const cancel = { action: 'cancel-agent', agent_id: 'a', run_id: 'unknown' };
  const answers = [];
  for (let at = 0; at < 4; at++) answers.push((await client.ask(cancel)).error_code);
  expect(answers.slice(0, 2)).not.toContain('rate_limited');
  expect(answers.slice(2)).toEqual(['rate_limited', 'rate_limited']);
  // a heartbeat costs nothing
  expect(await client.ask({ action: 'ping' })).toEqual({ event: 'pong' });
  expect((await service.get('/agents')).status).toBe(429);
});

test('a message may come in many fragments, but not in thousands of tiny ones', async () => {
  const service = await startService({
    agents: [agent({ id: 'a', model: new ScriptBook().model })],
    websocket: true,
  });
  const client = await WsClient.connect(service.url, '/agents/ws?format=json');
  const send = (count: number) => {
    const text = '{"action":"ping"}'.padEnd(count);
    for (let at = 0; at < count; at++) client.socket.send(text[at]!, { fin: at === count - 1 });
  };
  send(1_000);
  expect(await client.event('pong')).toEqual({ event: 'pong' });
  send(2_000);
  expect(await client.closed).toMatchObject({ code: 1008 });
});
