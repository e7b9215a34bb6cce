import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, tool } from '../../../src/index.js';
import { answered, payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

const book = new ScriptBook();
const { agent: payer, paid } = payingAgent(book, 'payer');
let service: TestService;
let life: RunLife;
let toolAborted = gate();

const endless = tool({
  name: 'endless',
  description: 'Ends when its signal aborts',
  execute: (_args, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        toolAborted.open();
        reject(signal.reason);
      });
    }),
});

beforeAll(async () => {
  const agents = [payer, agent({ id: 'a', model: book.model, tools: [endless] })];
  service = await TestService.start({ agents, maxConcurrentRuns: 50 });
  life = new RunLife(service, 'a');
});
afterAll(() => service.stop());

const never = () => new Promise<never>(() => {});

describe('cancelling', () => {
  test('a streaming run ends its stream, keeps the text, and aborts the model', async () => {
    const message = book.write('stream', { chunks: ['half an ', 'answer', never()] });
    const stream = await service.stream('a', { message });
    const { run_id: runId } = await stream.event('RunStarted');
    await stream.until(() => stream.content === 'half an answer', 'the text');
    const { status, body } = await life.cancel(runId);
    expect([status, body]).toEqual([200, {}]);
    await stream.end();
    expect(stream.names.slice(-2)).toEqual(['RunCancelled', 'RunCompleted']);
    expect(stream.first('RunCancelled')).toMatchObject({
      reason: expect.stringContaining('cancelled'),
      content: 'half an answer',
    });
    const stored = await life.stored(runId);
    expect(stored).toMatchObject({ status: 'cancelled', content: 'half an answer' });
    expect(stored.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'half an answer' });
  });

  test('a run without a stream answers the caller that waits for it', async () => {
    const message = book.write('whole', { text: 'x', waitFor: never() });
    const waiting = service.run('a', { message, run_id: 'whole-run' });
    const stream = await resumed('whole-run');
    await stream.event('ModelRequestStarted');
    await life.cancel('whole-run');
    const { status, body } = await waiting;
    expect(status).toBe(200);
    expect(body).toMatchObject({ run_id: 'whole-run', status: 'cancelled' });
    await stream.end();
  });

  test('a run inside a tool aborts the tool', async () => {
    toolAborted = gate();
    const message = book.write('tool', { toolCalls: [{ name: 'endless' }] });
    const stream = await service.stream('a', { message });
    const { run_id: runId } = await stream.event('ToolCallStarted');
    await life.cancel(runId);
    await toolAborted.opened;
    await stream.end();
    expect((await life.stored(runId)).status).toBe('cancelled');
  });

  test('a run in the background has ended when the answer is there', async () => {
    const message = book.write('behind', { text: 'x', waitFor: never() });
    const { run_id: runId } = await life.start({ message, background: true });
    expect((await life.cancel(runId)).status).toBe(200);
    expect((await life.stored(runId)).status).toBe('cancelled');
  });

  test('a paused run ends at once, and its tool is never executed', async () => {
    const paying = new RunLife(service, 'payer');
    const message = book.write('paused', { toolCalls: [payCall(7)] }, { text: 'x' });
    const run = await paying.start({ message });
    expect((await paying.cancel(run.run_id)).body).toEqual({});
    const stored = await paying.stored(run.run_id);
    expect(stored.status).toBe('cancelled');
    expect(stored).not.toHaveProperty('requirements');
    expect(stored.events.map(({ event }: Body) => event).slice(-2)).toEqual(['RunCancelled', 'RunCompleted']);
    const tools = answered(run, { 'pay-7': { confirmed: true } });
    expect((await paying.continue(run.run_id, { tools })).status).toBe(409);
    expect((await paying.continue(run.run_id, { tools, stream: true })).status).toBe(409);
    expect(paid).toEqual([]);
  });

  test('a finished run changes nothing, then or later', async () => {
    const run = await life.start({ message: 'finished' });
    const before = await life.stored(run.run_id);
    expect((await life.cancel(run.run_id)).body).toEqual({});
    expect(await life.stored(run.run_id)).toEqual(before);
    expect((await life.continue(run.run_id, { input: 'go on' })).body.status).toBe('completed');
  });

  test('is the same the second time', async () => {
    const message = book.write('again', { text: 'x', waitFor: never() });
    const { run_id: runId } = await life.start({ message, background: true });
    const answers = await Promise.all([life.cancel(runId), life.cancel(runId), life.cancel(runId)]);
    expect(answers.map(({ status, body }) => [status, body])).toEqual(answers.map(() => [200, {}]));
    expect((await life.stored(runId)).status).toBe('cancelled');
  });

  test('needs the right agent', async () => {
    const { status, body } = await new RunLife(service, 'nobody').cancel('x');
    expect([status, body.detail]).toEqual([404, 'Agent not found']);
  });
});

describe('cancelling what does not exist', () => {
  test('is remembered for the run that comes with that id', async () => {
    expect((await life.cancel('early')).body).toEqual({});
    const { body } = await service.run('a', { message: 'too late', run_id: 'early' });
    expect(body).toMatchObject({ run_id: 'early', status: 'cancelled' });
    expect(book.requests('too late')).toEqual([]);
  });

  test('in another session, or for another agent, is not', async () => {
    await life.cancel('elsewhere', '?session_id=other');
    await new RunLife(service, 'payer').cancel('elsewhere-2');
    for (const id of ['elsewhere', 'elsewhere-2']) {
      const { body } = await service.run('a', { message: 'undisturbed', run_id: id, session_id: 'mine' });
      expect(body.status, id).toBe('completed');
    }
  });

  test('a run of another session, or below another agent, continues', async () => {
    const rest = gate();
    const message = book.write('untouched', { text: 'still here', waitFor: rest.opened });
    const run = await life.start({ message, background: true });
    expect((await life.cancel(run.run_id, '?session_id=other')).body).toEqual({});
    expect((await new RunLife(service, 'payer').cancel(run.run_id)).body).toEqual({});
    rest.open();
    expect(await life.rested(run.run_id)).toMatchObject({ status: 'completed', content: 'still here' });
  });
});

/** A stream of a run that is about to be there. */
async function resumed(runId: string) {
  for (;;) {
    const stream = await life.resume(runId);
    const { event } = await stream.until(() => stream.events[0], 'a first frame');
    if (event !== 'error') return stream;
    await stream.end();
  }
}
