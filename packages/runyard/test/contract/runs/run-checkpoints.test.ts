import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

const book = new ScriptBook();
let service: TestService;
let life: RunLife;

beforeAll(async () => {
  const instructed = agent({ id: 'instructed', model: book.model, instructions: 'Be kind.' });
  const agents = [payingAgent(book, 'a').agent, payingAgent(book, 'b').agent, instructed];
  service = await TestService.start({ agents });
  life = new RunLife(service, 'a');
});
afterAll(() => service.stop());

const look = { name: 'look', id: 'look' };

/** user, assistant, tool, assistant, tool, tool, assistant */
async function longRun(message: string): Promise<Body> {
  const two = [
    { name: 'look', id: 'l2' },
    { name: 'look', id: 'l3' },
  ];
  book.write(message, { toolCalls: [look] }, { toolCalls: two }, { text: 'x'.repeat(200) });
  const run = await life.start({ message });
  expect(run.messages).toHaveLength(7);
  return run;
}

describe('the checkpoints of a run', () => {
  test('come after each round of calls and at the end', async () => {
    const run = await longRun('checkpoints');
    const { status, body } = await life.get(run.run_id, `/checkpoints?session_id=${run.session_id}`);
    expect(status).toBe(200);
    const shared = { run_id: run.run_id, session_id: run.session_id, created_at: expect.any(Number) };
    const at = (index: number) => ({
      message_index: index,
      continue_from: index,
      message_id: run.messages[index - 1].id,
    });
    const tool = { message_role: 'tool', message_preview: 'looked', reason: 'checkpoint', status: 'running' };
    expect(body).toEqual({
      run_id: run.run_id,
      session_id: run.session_id,
      checkpoints: [
        { ...shared, ...at(3), ...tool, checkpoint_id: '1', is_latest: false },
        { ...shared, ...at(6), ...tool, checkpoint_id: '2', is_latest: false },
        {
          ...shared,
          ...at(7),
          checkpoint_id: '3',
          reason: 'end',
          status: 'completed',
          message_role: 'assistant',
          message_preview: `${'x'.repeat(119)}…`,
          is_latest: true,
        },
      ],
    });
    expect(run.last_checkpoint_at_message_index).toBe(6);
  });

  test('lead on from there', async () => {
    const run = await longRun('led on');
    const { body } = await life.get(run.run_id, '/checkpoints');
    book.write('led on', { text: 'another end' });
    const from = body.checkpoints[0].continue_from;
    const { body: copy } = await life.continue(run.run_id, { continue_from: from, fork: true });
    expect(copy).toMatchObject({ content: 'another end', forked_from_message_index: from });
    expect(copy.messages).toHaveLength(from + 1);
  });

  test('of a paused run end before the calls that wait', async () => {
    book.write('paused', { toolCalls: [look] }, { toolCalls: [payCall(1)] });
    const run = await life.start({ message: 'paused' });
    const { body } = await life.get(run.run_id, '/checkpoints');
    expect(body.checkpoints.map((one: Body) => [one.message_index, one.reason, one.status])).toEqual([
      [3, 'end', 'paused'],
    ]);
  });

  test('are found like the run', async () => {
    const run = await longRun('found');
    for (const path of [
      life.path(run.run_id, '/checkpoints?session_id=another'),
      life.path('unknown', '/checkpoints'),
      `/agents/b/runs/${run.run_id}/checkpoints`,
      life.path('unknown', '/checkpoints/1'),
      `/agents/b/runs/${run.run_id}/checkpoints/1`,
    ]) {
      const { status, body } = await service.get(path);
      expect([status, body.detail]).toEqual([404, 'Run not found']);
    }
  });
});

describe('a snapshot', () => {
  test.each([
    [0, 0, null],
    [1, 1, null],
    [2, 1, null],
    [3, 3, '1'],
    [5, 3, '1'],
    [6, 6, '2'],
    [7, 7, '3'],
  ])('of %i messages has %i', async (asked, kept, id) => {
    const run = await longRun(`snapshot ${asked}`);
    const before = await life.stored(run.run_id);
    const { status, body } = await life.get(run.run_id, `/checkpoints/${asked}`);
    expect(status).toBe(200);
    expect(body.checkpoint).toMatchObject({ reason: 'snapshot', checkpoint_id: id, message_index: kept });
    expect(body.snapshot.messages).toEqual(run.messages.slice(0, kept));
    const calls = kept < 3 ? 0 : kept < 6 ? 1 : 3;
    expect(body.snapshot.tools ?? []).toHaveLength(calls);
    expect(body.snapshot).toMatchObject({ run_id: run.run_id, session_id: run.session_id });
    expect(await life.stored(run.run_id)).toEqual(before);
  });

  test('is the run as it was at that point: later content is in no field of it', async () => {
    const message = 'as it was';
    book.write(message, { text: 'I look', toolCalls: [look] }, { text: 'the end' });
    const run = await life.start({ message });
    const at = async (index: number) => (await life.get(run.run_id, `/checkpoints/${index}`)).body.snapshot;
    expect(await at(1)).toMatchObject({ content: '' });
    expect(await at(1)).not.toHaveProperty('last_checkpoint_at_message_index');
    expect(await at(3)).toMatchObject({ content: 'I look', last_checkpoint_at_message_index: 3 });
    expect(await at(4)).toMatchObject({ content: 'the end', last_checkpoint_at_message_index: 3 });
  });

  test('of a run that is executing has the messages so far', async () => {
    const rest = gate();
    book.write('goes on', { toolCalls: [look] }, { text: 'the end', waitFor: rest.opened });
    const stream = await service.stream('a', { message: 'goes on' });
    const { run_id: runId } = await stream.event('ToolCallCompleted');
    const snapshot = await until('the call is stored', async () => {
      const { status, body } = await life.get(runId as string, '/checkpoints/3');
      return status === 200 && body.snapshot;
    });
    expect(snapshot.messages.map(({ role }: Body) => role)).toEqual(['user', 'assistant', 'tool']);
    rest.open();
    await stream.end();
  });

  test('is where a copy would continue', async () => {
    book.write('with a system message', { text: 'hi' }, { text: 'again' });
    const { body: run } = await service.run('instructed', { message: 'with a system message' });
    expect(run.messages).toHaveLength(3);
    const path = `/agents/instructed/runs/${run.run_id}`;
    const { body } = await service.get(`${path}/checkpoints/1`);
    const copy = await service.submit(`${path}/continue`, { stream: false, continue_from: 1 });
    expect(body.checkpoint.message_index).toBe(copy.body.forked_from_message_index);
    expect(body.snapshot.messages).toHaveLength(copy.body.forked_from_message_index);
  });

  test('needs an index that is there', async () => {
    const run = await longRun('out of range');
    for (const index of [-1, 8]) {
      const { status, body } = await life.get(run.run_id, `/checkpoints/${index}`);
      expect([status, body.detail]).toEqual([400, 'message_index must be between 0 and 7']);
    }
    expect((await life.get(run.run_id, '/checkpoints/x')).status).toBe(422);
  });
});
