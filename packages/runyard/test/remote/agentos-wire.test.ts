import { expect, test } from 'vitest';
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
