import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import type { SseClient } from '../../support/clients/sse-client.js';
import { answered, payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';

const book = new ScriptBook();
let service: TestService;
let life: RunLife;

beforeAll(async () => {
  const agents = [payingAgent(book, 'a').agent, agent({ id: 'other', model: book.model })];
  service = await TestService.start({ agents });
  life = new RunLife(service, 'a');
});
afterAll(() => service.stop());

const control = new Set(['catch_up', 'subscribed', 'replay', 'error']);
const frames = (stream: SseClient) => stream.frames.filter(({ event }) => control.has(event ?? ''));
const events = (stream: SseClient) => stream.frames.filter(({ event }) => !control.has(event ?? ''));
const datas = (stream: SseClient) => events(stream).map(({ id, data }) => [id, data]);

async function finished(message: string) {
  const stream = await (await service.stream('a', { message })).end();
  return { runId: stream.events[0]?.run_id as string, original: datas(stream) };
}

/** A run that has said something and waits to be let on. */
async function live(message: string) {
  const rest = gate();
  book.write(message, { chunks: ['one ', 'two ', rest.opened, 'three'] });
  const stream = await service.stream('a', { message });
  const { run_id: runId } = await stream.event('RunStarted');
  await stream.until(() => stream.content === 'one two ', 'the first half');
  return { runId: runId as string, stream, open: rest.open };
}

describe('resuming a finished run', () => {
  test('replays all its events, text included', async () => {
    const { runId, original } = await finished('replayed');
    for (const form of [{}, { last_event_index: -1 }]) {
      const stream = await (await life.resume(runId, form)).end();
      expect(stream.frames[0]).toMatchObject({ event: 'replay', id: undefined });
      expect(stream.events[0]).toEqual({
        event: 'replay',
        run_id: runId,
        status: 'completed',
        total_events: original.length,
        total_buffered: original.length,
        last_event_index_requested: -1,
        message: expect.any(String),
      });
      expect(datas(stream)).toEqual(original);
    }
  });

  test('sends exactly what is missing', async () => {
    const { runId, original } = await finished('missing a part');
    for (const last of [0, 2, original.length - 1, original.length + 50]) {
      const stream = await (await life.resume(runId, { last_event_index: last })).end();
      const rest = original.slice(last + 1);
      expect(stream.events[0]).toMatchObject({
        event: 'replay',
        total_events: rest.length,
        total_buffered: original.length,
        last_event_index_requested: last,
      });
      expect(datas(stream)).toEqual(rest);
    }
  });

  test('requires a number', async () => {
    const { runId } = await finished('a number');
    const { status } = await service.submit(life.path(runId, '/resume'), { last_event_index: 'x' });
    expect(status).toBe(422);
  });
});

test('resuming a paused run replays up to the pause; indices continue after it', async () => {
  book.write('pause', { toolCalls: [payCall(5)] }, { text: 'paid' });
  const run = await life.start({ message: 'pause' });
  const before = await (await life.resume(run.run_id)).end();
  expect(before.events[0]).toMatchObject({ event: 'replay', status: 'paused' });
  expect(before.names.at(-1)).toBe('RunPaused');
  const last = before.events.at(-1)?.event_index ?? -1;
  await life.continue(run.run_id, { tools: answered(run, { 'pay-5': { confirmed: true } }) });
  const after = await (await life.resume(run.run_id, { last_event_index: last })).end();
  expect(events(after)[0]).toMatchObject({ event: 'RunContinued', id: String(last + 1) });
  expect(after.names.at(-1)).toBe('RunCompleted');
});

describe('resuming a live run', () => {
  test('catches up, then follows what happens', async () => {
    const { runId, stream, open } = await live('live');
    const have = stream.events.at(2)?.event_index ?? 0;
    const resumed = await life.resume(runId, { last_event_index: have });
    await resumed.until(() => resumed.names.includes('subscribed'), 'subscribed');
    const seen = stream.frames.length;
    expect(frames(resumed).map(({ payload }) => payload)).toEqual([
      {
        event: 'catch_up',
        run_id: runId,
        status: 'running',
        missed_events: seen - have - 1,
        current_event_count: seen,
        message: expect.any(String),
      },
      {
        event: 'subscribed',
        run_id: runId,
        status: 'running',
        current_event_count: seen,
        message: expect.any(String),
      },
    ]);
    expect(resumed.names.indexOf('subscribed')).toBe(1 + seen - have - 1);
    open();
    await Promise.all([stream.end(), resumed.end()]);
    expect(datas(resumed)).toEqual(datas(stream).slice(have + 1));
  });

  test('only subscribes a client that has everything', async () => {
    const { runId, stream, open } = await live('nothing missed');
    const resumed = await life.resume(runId, { last_event_index: stream.frames.length - 1 });
    await resumed.until(() => resumed.names.length > 0, 'a frame');
    expect(resumed.names).toEqual(['subscribed']);
    open();
    await Promise.all([stream.end(), resumed.end()]);
    expect(resumed.names.at(-1)).toBe('RunCompleted');
  });

  test('serves many readers, each from where it is', async () => {
    const { runId, stream, open } = await live('many');
    const starts = Array.from({ length: 20 }, (_, index) => (index % stream.frames.length) - 1);
    const readers = await Promise.all(starts.map((last) => life.resume(runId, { last_event_index: last })));
    open();
    await Promise.all([stream, ...readers].map((reader) => reader.end()));
    for (const [position, reader] of readers.entries()) {
      expect(datas(reader)).toEqual(datas(stream).slice(starts[position]! + 1));
    }
  });

  test('finds a run that was started in the background without a stream', async () => {
    const rest = gate();
    book.write('behind', { chunks: ['a', rest.opened, 'b'] });
    const { run_id: runId } = await life.start({ message: 'behind', background: true });
    const stream = await life.resume(runId);
    await stream.event('RunStarted');
    rest.open();
    await stream.end();
    expect(stream.content).toBe('ab');
  });
});

test('resuming an unknown run reports that in the stream', async () => {
  const { runId } = await finished('hidden');
  const streams = [
    [await life.resume('unknown'), 'unknown'],
    [await life.resume(runId, { session_id: 'another' }), runId],
    [await new RunLife(service, 'other').resume(runId), runId],
  ] as const;
  for (const [stream, id] of streams) {
    await stream.end();
    expect(stream.response.status).toBe(200);
    expect(stream.events).toEqual([{ event: 'error', error: `Run ${id} not found in buffer or database` }]);
  }
  const { status, body } = await service.submit('/agents/nobody/runs/x/resume', {});
  expect([status, body.detail]).toEqual([404, 'Agent not found']);
});

describe('following with an EventSource', () => {
  test('begins at the start, or after the last event that came', async () => {
    const { runId, original } = await finished('source');
    expect(datas(await (await life.events(runId)).end())).toEqual(original);
    const byHeader = await (await life.events(runId, '', { 'last-event-id': '3' })).end();
    expect(datas(byHeader)).toEqual(original.slice(4));
    expect(frames(byHeader)).toEqual([]);
    const byQuery = await (await life.events(runId, '?last_event_index=3')).end();
    expect(datas(byQuery)).toEqual(original.slice(4));
    const both = await (await life.events(runId, '?last_event_index=0', { 'last-event-id': '3' })).end();
    expect(datas(both)).toEqual(original.slice(4));
  });

  test('continues while the run is live', async () => {
    const { runId, stream, open } = await live('live source');
    const source = await life.events(runId, '', { 'last-event-id': '0' });
    open();
    await Promise.all([stream.end(), source.end()]);
    expect(datas(source)).toEqual(datas(stream).slice(1));
  });

  test('ends with 204 when there is nothing more to come', async () => {
    const { runId, original } = await finished('over');
    for (const last of [original.length - 1, original.length + 3]) {
      const { status, text } = await service.get(life.path(runId, '/events'), { 'last-event-id': `${last}` });
      expect([status, text]).toEqual([204, '']);
    }
    book.write('over for now', { toolCalls: [payCall(6)] });
    const paused = await life.start({ message: 'over for now' });
    const seen = await (await life.events(paused.run_id)).end();
    const last = seen.frames.at(-1)?.id ?? '';
    expect((await service.get(life.path(paused.run_id, '/events'), { 'last-event-id': last })).status).toBe(
      204,
    );
  });

  test('refuses what is no event, and an unknown run', async () => {
    const { runId } = await finished('refused');
    for (const id of ['x', '1.5', '99999999999999999999']) {
      const { status, body } = await service.get(life.path(runId, '/events'), { 'last-event-id': id });
      expect([status, body.detail[0].loc]).toEqual([422, ['header', 'last-event-id']]);
    }
    for (const path of ['/agents/a/runs/unknown/events', `/agents/other/runs/${runId}/events`]) {
      const { status, body } = await service.get(path);
      expect([status, body.detail]).toEqual([404, 'Run not found']);
    }
    expect((await service.get(life.path(runId, '/events?session_id=another'))).status).toBe(404);
  });
});

describe('the last event that a reader has', () => {
  test('may be none: the header is there and empty', async () => {
    const { runId, original } = await finished('empty header');
    const stream = await (await life.events(runId, '', { 'last-event-id': '' })).end();
    expect(datas(stream)).toEqual(original);
    const rest = await (await life.events(runId, '?last_event_index=0', { 'last-event-id': '' })).end();
    expect(datas(rest)).toEqual(original.slice(1));
  });

  test.each(['abc', '1e3', '1.5', '99999999999999999999'])('is a number, and not %s', async (given) => {
    const { runId } = await finished(`garbage ${given}`);
    const { status, body } = await service.get(life.path(runId, '/events'), { 'last-event-id': given });
    expect([status, body.detail[0].loc]).toEqual([422, ['header', 'last-event-id']]);
  });
});

test('a client of the older interface receives the status of a replay in upper case', async () => {
  const { runId } = await finished('older letters');
  const headers = { 'x-runyard-compat': 'agentos' };
  const stream = await service.submitForStream(life.path(runId, '/resume'), {}, { headers });
  await stream.end();
  expect(stream.events[0]).toMatchObject({ event: 'replay', status: 'COMPLETED' });
});
