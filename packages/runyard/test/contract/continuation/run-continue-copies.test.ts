import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ModelError } from '../../../src/index.js';
import { payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

const book = new ScriptBook();
let service: TestService;
let life: RunLife;

beforeAll(async () => {
  service = await TestService.start({ agents: [payingAgent(book, 'a').agent] });
  life = new RunLife(service, 'a');
});
afterAll(() => service.stop());

const down = new ModelError('down', { provider: 'Runyard', kind: 'refused', status: 400 });

const texts = ({ messages }: Body) => messages.map(({ content }: Body) => content);

/** A completed run with a tool call in it: user, assistant, tool, assistant. */
async function completed(message: string): Promise<Body> {
  book.write(message, { toolCalls: [{ name: 'look', id: 'look' }] }, { text: 'the first answer' });
  const run = await life.start({ message, user_id: 'ada' });
  expect(run).toMatchObject({ status: 'completed', last_checkpoint_at_message_index: 3 });
  expect(run.messages).toHaveLength(4);
  return run;
}

describe('a completed run is continued', () => {
  test('as a copy that knows what it comes from', async () => {
    const run = await completed('c1');
    book.write('what else?', { text: 'that is all' });
    const { status, body } = await life.continue(run.run_id, { input: 'what else?' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'completed',
      content: 'that is all',
      session_id: run.session_id,
      user_id: 'ada',
      forked_from_run_id: run.run_id,
      forked_from_message_index: 4,
    });
    expect(body.run_id).not.toBe(run.run_id);
    expect(body).not.toHaveProperty('regenerated_from');
    expect(texts(body).slice(-3)).toEqual(['the first answer', 'what else?', 'that is all']);
    const source = await life.stored(run.run_id);
    expect(source).toMatchObject({ status: 'completed', content: 'the first answer' });
    const { body: list } = await service.get(`/agents/a/runs?session_id=${run.session_id}`);
    expect(list.map((one: Body) => [one.run_id, one.forked_from_run_id, one.status])).toEqual([
      [run.run_id, null, 'completed'],
      [body.run_id, run.run_id, 'completed'],
    ]);
  });

  test('in a stream of its own that begins at index 0', async () => {
    const run = await completed('c2');
    const stream = await (await life.continueStreamed(run.run_id, { input: 'and?' })).end();
    expect(stream.names[0]).toBe('RunContinued');
    expect(stream.frames[0]?.id).toBe('0');
    expect(stream.events[0]?.run_id).not.toBe(run.run_id);
    expect(stream.content).toBe('Answer to: and?');
    expect(stream.names).not.toContain('ToolCallStarted');
  });

  test('in the background', async () => {
    const run = await completed('c3');
    const { status, body } = await life.continue(run.run_id, { input: 'later', background: true });
    expect(status).toBe(202);
    expect(body.run_id).not.toBe(run.run_id);
    expect(await life.rested(body.run_id)).toMatchObject({
      status: 'completed',
      content: 'Answer to: later',
      forked_from_run_id: run.run_id,
    });
  });

  test.each([
    ['after the user', { continue_from: 'last_user' }, 1],
    ['after a round of calls', { continue_from: 3 }, 3],
    ['before a call that would lose its result', { continue_from: 2 }, 1],
    ['from the beginning', { fork: true, continue_from: 1 }, 1],
  ])('%s', async (name, form, kept) => {
    const message = `from: ${name}`;
    const run = await completed(message);
    book.write(message, { text: 'another answer' });
    const { status, body } = await life.continue(run.run_id, form);
    expect(status).toBe(200);
    expect(body).toMatchObject({ content: 'another answer', forked_from_message_index: kept });
    expect(texts(body)).toEqual([...texts(run).slice(0, kept), 'another answer']);
  });

  test('not from where no message is', async () => {
    const run = await completed('c4');
    for (const stream of [false, true]) {
      const { status, body } = await life.continue(run.run_id, { continue_from: 99, stream });
      expect([status, body.detail]).toEqual([400, 'continue_from must be between 0 and 4']);
    }
  });
});

describe('regenerating', () => {
  test('answers again and replaces the original', async () => {
    const run = await completed('r1');
    book.write('shorter', { text: 'short' });
    const { body } = await life.continue(run.run_id, {
      regenerate: true,
      additional_instructions: 'shorter',
    });
    expect(body).toMatchObject({
      status: 'completed',
      content: 'short',
      regenerated_from: run.run_id,
      forked_from_run_id: run.run_id,
      forked_from_message_index: 3,
    });
    expect(texts(body)).not.toContain('the first answer');
    expect((await life.stored(run.run_id)).status).toBe('regenerated');
  });

  test('leaves the original alone when the request says so', async () => {
    const run = await completed('r2');
    book.write('r2', { text: 'second' });
    const { body } = await life.continue(run.run_id, { regenerate: true, replace_original: false });
    expect(body).toMatchObject({ content: 'second', regenerated_from: run.run_id });
    expect((await life.stored(run.run_id)).status).toBe('completed');
  });

  test('keeps the original when the new answer fails', async () => {
    const run = await completed('r3');
    book.write('r3', { error: down });
    const { body } = await life.continue(run.run_id, { regenerate: true });
    expect(body).toMatchObject({ status: 'error', error_type: 'model_provider_error' });
    expect((await life.stored(run.run_id)).status).toBe('completed');
  });

  test('a regenerated run is continued as a copy, and stays regenerated', async () => {
    const run = await completed('r4');
    book.write('r4', { text: 'second' });
    await life.continue(run.run_id, { regenerate: true });
    const { body } = await life.continue(run.run_id, { input: 'still there?' });
    expect(body).toMatchObject({ status: 'completed', forked_from_run_id: run.run_id });
    expect((await life.stored(run.run_id)).status).toBe('regenerated');
  });
});

describe('a failed run', () => {
  test('is tried again under its own id', async () => {
    const message = 'fails once';
    book.write(message, { toolCalls: [{ name: 'look', id: 'look' }] }, { error: down });
    const run = await life.start({ message });
    expect(run).toMatchObject({ status: 'error', error_type: 'model_provider_error' });
    book.write(message, { text: 'now it works' });
    const { body } = await life.continue(run.run_id);
    expect(body).toMatchObject({ run_id: run.run_id, status: 'completed', content: 'now it works' });
    for (const gone of ['error_type', 'forked_from_run_id']) expect(body).not.toHaveProperty(gone);
    expect(body.tools).toHaveLength(1);
  });

  test('is retried as a copy when the request says so', async () => {
    const message = 'fails, forked';
    book.write(message, { error: down });
    const run = await life.start({ message });
    const { body } = await life.continue(run.run_id, { fork: true });
    expect(body).toMatchObject({ status: 'completed', forked_from_run_id: run.run_id });
    expect((await life.stored(run.run_id)).status).toBe('error');
  });

  test('takes no answers', async () => {
    const message = 'fails, answered';
    book.write(message, { error: down });
    const run = await life.start({ message });
    const { status } = await life.continue(run.run_id, { tools: [{ tool_call_id: 'x', confirmed: true }] });
    expect(status).toBe(409);
  });
});

test('a run that is being executed is not continued', async () => {
  const rest = gate();
  const message = book.write('at work', { chunks: ['begun', rest.opened] });
  const stream = await service.stream('a', { message });
  const { run_id: runId } = await stream.event('RunStarted');
  await stream.until(() => stream.content !== '', 'text');
  for (const form of [{}, { input: 'x' }, { fork: true }, { stream: true }]) {
    const { status, body } = await life.continue(runId, form);
    expect([status, body.detail]).toEqual([409, `Cannot continue run ${runId}: run is running`]);
  }
  rest.open();
  await stream.end();
  expect((await life.stored(runId)).status).toBe('completed');
});
