import { expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { Gatehouse } from '../../support/clients/tokens.js';

test('only callers who may come in learn which paths exist, whatever they send', async () => {
  const house = await Gatehouse.open({ agents: [agent({ id: 'a', model: 'offline' })] });
  const sent = { headers: { 'content-type': 'application/json' }, body: '{"broken"' };
  for (const [method, path] of [
    ['POST', '/nowhere'],
    ['PUT', '/agents'],
    ['DELETE', '/health'],
  ] as const) {
    const stranger = await house.service.call(method, path, sent);
    expect([stranger.status, stranger.body.detail], path).toEqual([401, 'Authorization header missing']);
  }
  const ada = await house.person('ada', []);
  expect((await ada.send('POST', '/nowhere', {})).status).toBe(404);
  expect((await ada.send('PUT', '/agents', {})).status).toBe(405);
});
