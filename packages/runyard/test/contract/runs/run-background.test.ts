import { expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { startService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

test('a run that waits for its turn is pending, can be read and cancelled, and runs in its order', async () => {
  const book = new ScriptBook();
  const service = await startService({
    agents: [agent({ id: 'a', model: book.model })],
    maxConcurrentRuns: 1,
    maxWaitingRuns: 2,
  });
  const life = new RunLife(service, 'a');
  const rest = gate();
  book.write('first', { text: 'first', waitFor: rest.opened });
  const begin = (message: string) => service.run('a', { message, background: true });
  const first = await begin('first');
  const second = await begin('second');
  const third = await begin('third');
  expect([first, second, third].map(({ status }) => status)).toEqual([202, 202, 202]);
  expect((await service.get('/info')).body.runs).toEqual({
    executing: 1,
    waiting: 2,
    max_executing: 1,
    max_waiting: 2,
  });
  const refused = await begin('fourth');
  expect([refused.status, refused.body.error_code]).toEqual([503, 'too_many_runs']);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  const waiting = await life.stored(second.body.run_id);
  expect(waiting).toMatchObject({ status: 'pending', content: '' });
  const { status, body } = await life.continue(second.body.run_id);
  expect([status, body.detail]).toEqual([409, `Cannot continue run ${second.body.run_id}: run is pending`]);
  await life.cancel(second.body.run_id);
  expect((await life.stored(second.body.run_id)).status).toBe('cancelled');
  rest.open();
  expect(await life.rested(third.body.run_id)).toMatchObject({
    status: 'completed',
    content: 'Answer to: third',
  });
  expect(book.requests('second')).toEqual([]);
  await until('nothing is at work', async () => {
    const { runs } = (await service.get('/info')).body;
    return runs.executing === 0 && runs.waiting === 0;
  });
});

test('a run in the background pauses like any other', async () => {
  const book = new ScriptBook();
  const { agent: payer, paid } = payingAgent(book, 'payer');
  const service = await startService({ agents: [payer] });
  const life = new RunLife(service, 'payer');
  book.write('pay', { toolCalls: [payCall(3)] }, { text: 'paid' });
  const { status, body } = await service.run('payer', { message: 'pay', background: true });
  expect(status).toBe(202);
  expect(await life.rested(body.run_id)).toMatchObject({
    status: 'paused',
    requirements: [{ tool_execution: { tool_call_id: 'pay-3' } }],
  });
  const requirements = [{ tool_execution: { tool_call_id: 'pay-3', confirmed: true } }];
  const stream = await life.continueStreamed(body.run_id, { requirements, background: true, stream: true });
  await stream.end();
  expect(stream.names.at(-1)).toBe('RunCompleted');
  expect(paid).toEqual([{ runId: body.run_id, cents: 3 }]);
});

test('while a continued run is executing it shows no earlier content', async () => {
  const book = new ScriptBook();
  const { agent: payer } = payingAgent(book, 'payer');
  const service = await startService({ agents: [payer] });
  const life = new RunLife(service, 'payer');
  const rest = gate();
  book.write('pay', { toolCalls: [payCall(3)] }, { text: 'paid', waitFor: rest.opened });
  const run = await life.start({ message: 'pay' });
  const tools = [{ tool_call_id: 'pay-3', confirmed: true }];
  await life.continue(run.run_id, { tools, background: true });
  const { body: running } = await life.get(run.run_id);
  expect(running).toMatchObject({ status: 'running', content: '' });
  for (const absent of ['messages', 'tools', 'requirements']) expect(running).not.toHaveProperty(absent);
  rest.open();
  expect(await life.rested(run.run_id)).toMatchObject({ status: 'completed', content: 'paid' });
});
