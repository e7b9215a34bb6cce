import { describe, expect, onTestFinished, test } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { agent } from '../../../src/index.js';
import { aRun, creation } from '../../conformance/builders.js';
import { answered, payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { type DatabasePlace, forEachDatabase } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { startService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

/** A service, and a run in its database that a process which is gone was executing. */
async function withAbandonedRun(place: DatabasePlace, leaseEndsInMs: number) {
  const book = new ScriptBook();
  const database = await place.open();
  const service = await startService({
    agents: [agent({ id: 'a', model: book.model })],
    database: place.url,
    // a lease that long: the service does not look for abandoned runs by itself during the test
    leaseMs: 3_600_000,
    maxConcurrentRuns: 1,
  });
  const life = new RunLife(service, 'a');
  // while its only slot is taken it resumes nothing by itself, on whichever database
  const busy = gate();
  onTestFinished(() => busy.open());
  book.write('busy', { text: 'done', waitFor: busy.opened });
  await life.start({ message: 'busy', background: true });
  const run = aRun({
    componentId: 'a',
    componentName: 'a',
    leaseOwner: 'gone',
    leaseExpiresAt: Date.now() + leaseEndsInMs,
    nextEventIndex: 3,
  });
  const store = new RunStore(database);
  expect(await store.commit([creation(run)])).toEqual([]);
  return { book, run, life, store, busy };
}

/** Two services on one database, as two processes would be. */
async function twoServices(place: DatabasePlace) {
  const book = new ScriptBook();
  const { agent: payer, paid } = payingAgent(book, 'payer');
  await place.open();
  const lives = [];
  for (let count = 0; count < 2; count += 1) {
    lives.push(new RunLife(await startService({ agents: [payer], database: place.url }), 'payer'));
  }
  const [one, other] = lives as [RunLife, RunLife];
  return { book, paid, one, other };
}

forEachDatabase((_dialect, freshPlace) => {
  describe('a running run whose process is gone', () => {
    test('resumes when a client continues it', async () => {
      const { book, run, life, store, busy } = await withAbandonedRun(await freshPlace(), -1);
      book.write('hello', { text: 'back again' });
      const continued = life.continue(run.runId);
      await until('the request has taken the run up', async () => {
        const stored = await store.load(run.runId);
        return stored!.run.attempt > run.attempt;
      });
      busy.open();
      const { status, body } = await continued;
      expect(status).toBe(200);
      expect(body).toMatchObject({ run_id: run.runId, status: 'completed', content: 'back again' });
    });

    test('continues its stream behind what was sent before', async () => {
      const { run, life, busy } = await withAbandonedRun(await freshPlace(), -1);
      busy.open();
      await life.continue(run.runId);
      const stream = await (await life.service.follow(`/agents/a/runs/${run.runId}/events`)).end();
      expect(stream.names.at(-1)).toBe('RunCompleted');
      expect(stream.events[0]?.event_index).toBeGreaterThan(2);
    });

    test('takes nothing in on the way', async () => {
      const { book, run, life } = await withAbandonedRun(await freshPlace(), -1);
      const held = gate();
      onTestFinished(() => held.open());
      book.write('hello', { text: 'back again', waitFor: held.opened });
      for (const form of [{ input: 'more' }, { fork: true }, { continue_from: 1 }]) {
        expect((await life.continue(run.runId, form)).status).toBe(409);
      }
    });

    test('is left to the process that holds it', async () => {
      const { run, life } = await withAbandonedRun(await freshPlace(), 3_600_000);
      const { status, body } = await life.continue(run.runId);
      expect([status, body.detail]).toEqual([409, `Cannot continue run ${run.runId}: run is running`]);
      expect((await life.stored(run.runId)).status).toBe('running');
    });
  });

  describe('through two services', () => {
    test('a call is executed once however many answer it', async () => {
      const { book, paid, one, other } = await twoServices(await freshPlace());
      book.write('pay', { toolCalls: [payCall(7)] }, { text: 'done' });
      const run = await one.start({ message: 'pay' });
      const tools = answered(run, { 'pay-7': { confirmed: true } });
      const asked = [one, other, one, other].map((life) => life.continue(run.run_id, { tools }));
      const statuses = (await Promise.all(asked)).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, 409, 409, 409]);
      expect(paid).toHaveLength(1);
      expect((await other.stored(run.run_id)).status).toBe('completed');
    });

    test('the second answer is refused, whenever it arrives', async () => {
      const { book, paid, one, other } = await twoServices(await freshPlace());
      for (let round = 1; round <= 8; round += 1) {
        const message = `round ${round}`;
        book.write(message, { toolCalls: [payCall(round)] }, { text: 'done' });
        const { run_id: runId } = await one.start({ message });
        const tools = [{ tool_call_id: `pay-${round}`, confirmed: true }];
        const asked = [one, other, one, other, one, other].map((life) => life.continue(runId, { tools }));
        const statuses = (await Promise.all(asked)).map(({ status }) => status);
        expect(statuses.sort(), message).toEqual([200, 409, 409, 409, 409, 409]);
      }
      expect(paid).toHaveLength(8);
    });

    test('a copy is visible to all processes when its stream begins', async () => {
      const { book, one, other } = await twoServices(await freshPlace());
      const run = await one.start({ message: 'hello' });
      for (let round = 1; round <= 5; round += 1) {
        const rest = gate();
        const input = `more ${round}`;
        book.write(input, { text: 'more', waitFor: rest.opened });
        const stream = await one.continueStreamed(run.run_id, { input });
        expect((await other.get(stream.response.headers.get('x-run-id') ?? '')).status).toBe(200);
        rest.open();
        await stream.end();
      }
    });

    test('a run is followed and cancelled where it is not executed', async () => {
      const { book, one, other } = await twoServices(await freshPlace());
      book.write('long', { chunks: ['half ', new Promise(() => {})] });
      const stream = await one.service.stream('payer', { message: 'long' });
      const { run_id: runId } = await stream.event('RunStarted');
      await stream.until(() => stream.content === 'half ', 'the text');
      await until('the other service finds the run', async () => (await other.get(runId)).status === 200);
      const elsewhere = await other.resume(runId);
      await elsewhere.until(() => elsewhere.content === 'half ', 'the text');
      expect((await other.cancel(runId)).body).toEqual({});
      expect(await other.stored(runId)).toMatchObject({ status: 'cancelled', content: 'half ' });
      await Promise.all([stream.end(), elsewhere.end()]);
      for (const reader of [stream, elsewhere])
        expect(reader.names.slice(-2)).toEqual(['RunCancelled', 'RunCompleted']);
    });

    test('a request that is sent to both with one key is one run', async () => {
      const { book, one, other } = await twoServices(await freshPlace());
      const rest = gate();
      book.write('once', { text: 'one', waitFor: rest.opened });
      const request = { headers: { 'idempotency-key': 'k' } };
      const asked = [one, other, one, other].map((life) =>
        life.service.run('payer', { message: 'once' }, request),
      );
      rest.open();
      const bodies = (await Promise.all(asked)).map(({ body }) => body);
      expect(new Set(bodies.map(({ run_id }) => run_id)).size).toBe(1);
      expect(bodies.map(({ content }) => content)).toEqual(['one', 'one', 'one', 'one']);
      expect(book.requests('once')).toHaveLength(1);
    });
  });

  test('a reader may claim to have more events than there are', async () => {
    const { one } = await twoServices(await freshPlace());
    const { run_id: runId } = await one.start({ message: 'few' });
    for (const last_event_index of [1_000, 2 ** 31 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      const stream = await (await one.resume(runId, { last_event_index })).end();
      expect(stream.events).toMatchObject([{ event: 'replay', total_events: 0 }]);
      const { status } = await one.service.get(
        one.path(runId, `/events?last_event_index=${last_event_index}`),
      );
      expect(status).toBe(204);
    }
  });
});
