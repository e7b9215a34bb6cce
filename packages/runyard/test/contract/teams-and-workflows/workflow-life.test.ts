import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  answered,
  book,
  executorAnswer,
  paid,
  workflows,
} from '../../support/components/reviewed-workflows.js';
import { payCall, RunLife } from '../../support/components/run-life.js';
import { type Body, type Form, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

let service: TestService;
const life = (id: string) => new RunLife(service, id, 'workflows');
const never = () => new Promise<never>(() => {});

beforeAll(async () => {
  service = await TestService.start({ workflows, maxConcurrentRuns: 50 });
});
afterAll(() => service.stop());

/** Continues a paused run with an answer. */
const goOn = (id: string, run: Body, answer: object, form: Form = {}) =>
  life(id).continue(run.run_id, { step_requirements: answered(run, answer), ...form });

describe('what cannot be continued', () => {
  test.each([
    [{}, 'unresolved_requirements', /step_requirements/],
    [{ step_requirements: '{' }, 'invalid_continue', /^Invalid JSON in step_requirements field$/],
    [{ error_requirements: '[' }, 'invalid_continue', /^Invalid JSON in error_requirements field$/],
    [{ step_requirements: '{}' }, 'invalid_continue', /^Invalid structure or content for step_requirements/],
    [{ step_requirements: '[{"confirmed":true}]' }, 'invalid_continue', /step_id/],
    [{ step_requirements: '[{"step_id":"x","confirmed":true}]' }, 'invalid_continue', /asked nothing/],
  ])('%j is refused with 400, streamed too, and the run stays paused', async (form, code, text) => {
    const run = await life('confirmed').start({ message: 'Stay' });
    for (const way of [{ stream: false }, { stream: true }, { background: true }]) {
      const { status, body } = await life('confirmed').continue(run.run_id, { ...form, ...way });
      expect([status, body.error_code]).toEqual([400, code]);
      expect(body.detail).toMatch(text);
    }
    expect((await life('confirmed').stored(run.run_id)).status).toBe('paused');
  });

  test('says why: it is running, has ended, was cancelled, or has errored', async () => {
    const refused = async (id: string, runId: string, text: string) => {
      const { status, body } = await life(id).continue(runId, { stream: true });
      expect([status, body.error_code]).toEqual([409, 'cannot_continue']);
      expect(body.detail).toContain(text);
    };
    const paused = await life('confirmed').start({ message: 'To end' });
    const { body: completed } = await goOn('confirmed', paused, { confirmed: true });
    await refused('confirmed', completed.run_id, 'run is already completed');
    expect((await goOn('confirmed', paused, { confirmed: true })).status).toBe(409);
    const cancelled = await life('confirmed').start({ message: 'To cancel' });
    await life('confirmed').cancel(cancelled.run_id);
    await refused('confirmed', cancelled.run_id, 'run is already cancelled');
    const failed = await life('failing').start({ message: 'To fail' });
    const late = await life('failing').continue(failed.run_id, { step_requirements: '[{"step_id":"x"}]' });
    expect([late.status, late.body.detail]).toEqual([409, expect.stringContaining('run has errored')]);
    book.write('Runs on', { text: 'x', waitFor: never() });
    const { body: running } = await life('talking').post({ message: 'Runs on', background: true });
    const stream = await life('talking').resume(running.run_id);
    await stream.event('ModelRequestStarted');
    await refused('talking', running.run_id, 'run is already running');
    await life('talking').cancel(running.run_id);
    const { status, body } = await life('confirmed').continue('nobody');
    expect([status, body.detail]).toEqual([404, 'Run not found']);
    expect((await life('nobody').continue('nobody')).body.detail).toBe('Workflow not found');
  });
});

test('a failed run continues with the step that failed, and a new run starts at a step of an earlier one', async () => {
  const failed = await life('failing').start({ message: 'To fail again' });
  const again = await life('failing').continue(failed.run_id, { stream: false });
  expect([again.status, again.body.status, again.body.run_id]).toEqual([200, 'error', failed.run_id]);
  const events = (await life('failing').stored(failed.run_id)).events.map(({ event }: Body) => event);
  expect(events.filter((event: string) => event === 'StepStarted')).toHaveLength(2);
  const paused = await life('confirmed').start({ message: 'To start again' });
  const { body: completed } = await goOn('confirmed', paused, { confirmed: true });
  const from = { continue_from: completed.step_results[0].step_name, stream: false };
  const { status, body } = await life('confirmed').continue(completed.run_id, from);
  expect([status, body.status, body.forked_from_run_id]).toEqual([200, 'paused', completed.run_id]);
  expect(body.run_id).not.toBe(completed.run_id);
  const unknown = await life('confirmed').continue(completed.run_id, { continue_from: 'nowhere' });
  expect([unknown.status, unknown.body.error_code]).toEqual([400, 'invalid_continue']);
  const both = await life('confirmed').continue(paused.run_id, {
    ...from,
    step_requirements: '[{"step_id":"x"}]',
  });
  expect([both.status, both.body.error_code]).toEqual([400, 'invalid_continue']);
});

describe('the stream', () => {
  test('of a run that pauses ends with WorkflowPaused and the body of the run, and only there', async () => {
    const stream = await (await life('confirmed').stream({ message: 'Plain' })).end();
    const frames = stream.frames.slice(-3);
    expect(frames.map(({ event }) => event)).toEqual(['StepPaused', 'WorkflowPaused', 'WorkflowRunOutput']);
    const { id, payload } = frames[2]!;
    expect(id).toBeUndefined();
    expect(payload).toMatchObject({
      status: 'paused',
      workflow_id: 'confirmed',
      step_requirements: [{ step_name: 'b' }],
    });
    expect(payload).not.toHaveProperty('event');
    expect(payload).not.toHaveProperty('event_index');
    const runId = payload.run_id as string;
    const last = async (
      following: Promise<{ end(): Promise<unknown>; frames: { event?: string | undefined }[] }>,
    ) => {
      const client = await following;
      await client.end();
      return client.frames.at(-1)!.event;
    };
    expect(await last(life('confirmed').resume(runId))).toBe('WorkflowPaused');
    expect(await last(life('confirmed').events(runId))).toBe('WorkflowPaused');
    expect(await last(life('confirmed').stream({ message: 'Behind', background: true }))).toBe(
      'WorkflowPaused',
    );
    const second = await life('reviewed').start({ message: 'Twice' });
    const again = { step_requirements: answered(second, { confirmed: false }) };
    expect(await last(life('reviewed').continueStreamed(second.run_id, again))).toBe('WorkflowRunOutput');
  });

  test('in the background has every event with an index of its own, and can be resumed to the end (fault 8)', async () => {
    const started = await (await life('failing').stream({ message: 'Index', background: true })).end();
    expect(started.names.at(-1)).toBe('WorkflowError');
    const indices = started.events.map(({ event_index }) => event_index);
    expect(new Set(indices).size).toBe(indices.length);
    const runId = started.events[0]!.run_id;
    const resumed = await (await life('failing').resume(runId, { last_event_index: 0 })).end();
    expect(resumed.events.slice(1)).toEqual(started.events.slice(1));
    const open = gate();
    book.write('Live', { chunks: ['one', open.opened, ' two'] });
    const { body } = await life('talking').post({ message: 'Live', background: true });
    const live = await life('talking').resume(body.run_id);
    await live.event('subscribed');
    open.open();
    await live.end();
    expect(live.names).toContain('StepOutput');
    expect(live.names.at(-1)).toBe('WorkflowCompleted');
    const { events } = await life('talking').stored(body.run_id);
    const pieces = events
      .filter(({ event }: Body) => event === 'RunContent')
      .map(({ content }: Body) => content);
    expect(pieces.join('')).toBe('one two');
  });

  test('with stream_events=false has content, and what must not be missed', async () => {
    const quiet = async (id: string, message: string) =>
      new Set(
        (await (await life(id).stream({ message, stream_events: false })).end()).frames.map(
          ({ event }) => event,
        ),
      );
    expect(await quiet('talking', 'Quiet')).toEqual(
      new Set(['WorkflowStarted', 'RunContent', 'StepOutput', 'WorkflowCompleted']),
    );
    expect(await quiet('failing', 'Quiet')).toEqual(new Set(['WorkflowStarted', 'WorkflowError']));
    expect(await quiet('confirmed', 'Quiet')).toEqual(
      new Set(['WorkflowStarted', 'StepOutput', 'WorkflowPaused', 'WorkflowRunOutput']),
    );
  });
});

describe('a run', () => {
  test('is cancelled with the agent of its step', async () => {
    book.write('Long', { chunks: ['half', never()] });
    const stream = await life('talking').stream({ message: 'Long' });
    await stream.until(() => stream.content === 'half');
    await life('talking').cancel(stream.events[0]!.run_id);
    await stream.end();
    const ends = stream.names.filter((name) => /Cancelled$|Completed$/.test(name));
    expect(ends).toEqual(['RunCancelled', 'RunCompleted', 'WorkflowCancelled', 'WorkflowCompleted']);
    expect(await life('talking').stored(stream.events[0]!.run_id)).toMatchObject({
      status: 'cancelled',
      step_results: [{ success: false }],
      step_executor_runs: [{ status: 'cancelled' }],
    });
  });

  test('that waits is cancelled at once, and nothing more of it is executed', async () => {
    book.write('Pay 210', { toolCalls: [payCall(210)] });
    const run = await life('paying').start({ message: 'Pay 210' });
    await life('paying').cancel(run.run_id);
    const stored = await life('paying').stored(run.run_id);
    expect(stored.status).toBe('cancelled');
    expect(stored).not.toHaveProperty('paused_step_name');
    expect((await goOn('paying', run, executorAnswer(run))).status).toBe(409);
    expect(paid.some(({ cents }) => cents === 210)).toBe(false);
  });

  test('is started once under a key, and answers in the background', async () => {
    const key = { 'idempotency-key': 'workflow-key' };
    const first = await life('talking').post({ message: 'Key' }, key);
    expect((await life('talking').post({ message: 'Key' }, key)).body).toEqual(first.body);
    expect(book.requests('Key')).toHaveLength(1);
    expect((await life('talking').post({ message: 'Other' }, key)).status).toBe(409);
    const { status, body } = await life('talking').post({ message: 'Behind', background: true });
    expect([status, body.status]).toEqual([202, 'pending']);
    expect((await life('talking').rested(body.run_id)).content).toBe('Answer to: Behind+end');
  });

  test('continues in the background, and shows on the way what is done', async () => {
    const run = await life('confirmed').start({ message: 'Goes on' });
    const { status } = await goOn('confirmed', run, { confirmed: true }, { background: true });
    expect(status).toBe(202);
    expect((await life('confirmed').rested(run.run_id)).content).toBe('Goes on+a+b+c');
    book.write('Progress', { text: 'x', waitFor: never() });
    const { body } = await life('talking').post({ message: 'Progress', background: true });
    const stream = await life('talking').resume(body.run_id);
    await stream.event('ModelRequestStarted');
    const shown = await life('talking').stored(body.run_id);
    expect(shown).toMatchObject({
      status: 'running',
      content: '',
      step_states: [{ step_name: 'talk', status: 'running' }],
    });
    expect(shown).not.toHaveProperty('step_results');
    await life('talking').cancel(body.run_id);
  });

  test('has no checkpoints and no copies', async () => {
    for (const path of ['/workflows/talking/runs/x/checkpoints', '/workflows/talking/sessions/x/fork'])
      expect((await service.get(path)).status).toBe(404);
  });
});
