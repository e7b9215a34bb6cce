import { describe, expect, test } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import type { Run } from '../../../src/core/runs/run.js';
import { agent, type RunyardOptions } from '../../../src/index.js';
import { aRun, creation } from '../../conformance/builders.js';
import { Gatehouse } from '../../support/clients/tokens.js';
import { answered, payCall, payingAgent, RunLife } from '../../support/components/run-life.js';
import { type DatabasePlace, forEachDatabase } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

/** So long that a service does not look for abandoned runs by itself during the test. */
const never = 3_600_000;

/** A service that has only an agent that no run in these tests belongs to. */
async function serviceWithout(place: DatabasePlace, more: Partial<RunyardOptions> = {}) {
  const book = new ScriptBook();
  return startService({
    agents: [agent({ id: 'other', model: book.model })],
    database: place.url,
    leaseMs: never,
    ...more,
  });
}

/** A run as a process that is gone left it. */
async function leftBehind(place: DatabasePlace, given: Partial<Run> = {}): Promise<Run> {
  const run = aRun({
    componentId: 'removed',
    componentName: 'Removed',
    leaseOwner: 'gone',
    leaseExpiresAt: Date.now() - 1,
    updatedAt: Date.now(),
    ...given,
  });
  expect(await new RunStore(await place.open()).commit([creation(run)])).toEqual([]);
  return run;
}

/** Runs of an agent that a later service does not have: one completed, one paused. */
async function removedAgent(place: DatabasePlace) {
  await place.open();
  const book = new ScriptBook();
  const { agent: payer, paid } = payingAgent(book, 'payer');
  const before = new RunLife(await startService({ agents: [payer], database: place.url }), 'payer');
  const completed = await before.start({ message: 'hello', session_id: 's' });
  book.write('pay', { toolCalls: [payCall(7)] }, { text: 'paid' });
  const paused = await before.start({ message: 'pay', session_id: 's' });
  expect([completed.status, paused.status]).toEqual(['completed', 'paused']);
  const after = await serviceWithout(place);
  return { book, payer, paid, before, completed, paused, after, life: new RunLife(after, 'payer') };
}

const clearText = (kind: string, id: string) =>
  `The ${kind} '${id}' of this run is not registered in this service. Register it again to continue the run, or cancel the run or delete its session.`;

forEachDatabase((_dialect, freshPlace) => {
  describe('runs of an agent that is no longer registered', () => {
    test('are read, listed, replayed and copied with their session', async () => {
      const { before, completed, paused, after, life } = await removedAgent(await freshPlace());
      for (const { run_id: runId } of [completed, paused])
        expect(await life.stored(runId)).toEqual(await before.stored(runId));
      const ids = [completed.run_id, paused.run_id];
      expect((await life.list('s')).map(({ run_id: id }) => id)).toEqual(ids);
      expect((await after.get('/agents/payer/runs')).body.map((run: Body) => run.run_id)).toEqual(
        ids.toReversed(),
      );
      expect((await after.get('/sessions/s/runs')).body).toHaveLength(2);
      expect((await after.get(`/sessions/s/runs/${paused.run_id}`)).status).toBe(200);
      const events = await (await life.events(completed.run_id)).end();
      expect(events.names.at(-1)).toBe('RunCompleted');
      expect((await (await life.resume(paused.run_id)).end()).names.at(-1)).toBe('RunPaused');
      const checkpoints = await after.get(life.path(completed.run_id, '/checkpoints'));
      expect(checkpoints.body.checkpoints.length).toBeGreaterThan(0);
      expect((await after.get(life.path(completed.run_id, '/checkpoints/2'))).status).toBe(200);
      expect((await after.get(`/traces?run_id=${completed.run_id}`)).body.data).toHaveLength(1);
      expect((await after.call('POST', '/agents/payer/sessions/s/fork')).status).toBe(200);
    });

    test('cannot be continued, and the error says why', async () => {
      const { completed, paused, life, paid } = await removedAgent(await freshPlace());
      const tools = answered(paused, { 'pay-7': { confirmed: true } });
      for (const [runId, form] of [
        [paused.run_id, { tools }],
        [completed.run_id, { input: 'more' }],
        [completed.run_id, { fork: true }],
      ] as const) {
        const answer = await life.continue(runId, form);
        expect(answer.status).toBe(409);
        expect(answer.body).toMatchObject({
          detail: clearText('agent', 'payer'),
          error_code: 'component_not_registered',
          run_id: runId,
        });
      }
      expect((await life.stored(paused.run_id)).status).toBe('paused');
      expect(paid).toEqual([]);
    });

    test('an agent without such a run is unknown as before', async () => {
      const { life, after } = await removedAgent(await freshPlace());
      const nobody = new RunLife(after, 'nobody');
      for (const answer of [
        await life.post({ message: 'start' }),
        await life.get('unknown'),
        await life.cancel('unknown'),
        await life.continue('unknown', { input: 'x' }),
        await nobody.cancel('x'),
        await after.get(nobody.runs),
        await after.get(nobody.path('x', '/events')),
      ])
        expect([answer.status, answer.body.detail]).toEqual([404, 'Agent not found']);
    });

    test('a paused one is cancelled, and that is stored when the answer comes', async () => {
      const { paused, life, before } = await removedAgent(await freshPlace());
      const { status, body } = await life.cancel(paused.run_id);
      expect([status, body]).toEqual([200, {}]);
      const stored = await before.stored(paused.run_id);
      expect(stored).toMatchObject({ status: 'cancelled', agent_name: 'Payer' });
      const names = stored.events.map(({ event }: Body) => event);
      expect(names.slice(-2)).toEqual(['RunCancelled', 'RunCompleted']);
      expect(stored.events.at(-1)).toMatchObject({ agent_id: 'payer', agent_name: 'Payer' });
    });

    test('are deleted with their session', async () => {
      const place = await freshPlace();
      const { after, paused, life } = await removedAgent(place);
      const running = await leftBehind(place, { componentId: 'payer', sessionId: 's' });
      expect((await after.call('DELETE', '/sessions/s')).status).toBe(204);
      for (const runId of [paused.run_id, running.runId]) expect((await life.get(runId)).status).toBe(404);
    });

    test('continue where they were when the agent is registered again', async () => {
      const place = await freshPlace();
      const { payer, paused, paid } = await removedAgent(place);
      const again = await startService({ agents: [payer], database: place.url });
      const tools = answered(paused, { 'pay-7': { confirmed: true } });
      const { body } = await new RunLife(again, 'payer').continue(paused.run_id, { tools });
      expect(body).toMatchObject({ status: 'completed', content: 'paid' });
      expect(paid).toHaveLength(1);
    });
  });

  describe('a run without a process and without a component', () => {
    test.each([
      ['agent', 'running', ['RunCancelled', 'RunCompleted'], 'agent_id'],
      ['agent', 'pending', ['RunCancelled', 'RunCompleted'], 'agent_id'],
      ['team', 'running', ['TeamRunCancelled', 'TeamRunCompleted'], 'team_id'],
      ['workflow', 'running', ['WorkflowCancelled', 'WorkflowCompleted'], 'workflow_id'],
    ] as const)('%s, %s: is cancelled with the events of its kind', async (kind, status, names, idField) => {
      const place = await freshPlace();
      const run = await leftBehind(place, { kind, status });
      const life = new RunLife(await serviceWithout(place), 'removed', `${kind}s`);
      const answer = await life.cancel(run.runId);
      expect([answer.status, answer.body]).toEqual([200, {}]);
      expect((await life.stored(run.runId)).status).toBe('cancelled');
      const events = await (await life.events(run.runId)).end();
      expect(events.names.slice(-2)).toEqual(names);
      expect(events.events.at(-1)).toMatchObject({ [idField]: 'removed', run_id: run.runId });
    });

    test.each(['agent', 'team', 'workflow'] as const)(
      '%s: ends with an error after orphanedRunsMs',
      async (kind) => {
        const place = await freshPlace();
        const hourAgo = Date.now() - 3_600_000;
        const long = { leaseExpiresAt: hourAgo, updatedAt: hourAgo };
        const running = await leftBehind(place, { kind, ...long });
        const pending = await leftBehind(place, { kind, status: 'pending', ...long });
        const handedOn = await leftBehind(place, { kind, leaseOwner: null, leaseExpiresAt: null });
        // a run that no process holds is dated by the database
        await (await place.open()).query
          .updateTable('runs')
          .set({ updated_at: long.updatedAt })
          .where('run_id', '=', handedOn.runId)
          .execute();
        const recent = await leftBehind(place, { kind });
        const service = await serviceWithout(place, { leaseMs: 1_000, orphanedRunsMs: 1_800_000 });
        const life = new RunLife(service, 'removed', `${kind}s`);
        for (const { runId } of [running, pending, handedOn]) {
          const stored = await life.rested(runId);
          expect(stored.status).toBe('error');
          expect(stored.content).toContain(`The ${kind} 'removed' of this run is not registered`);
          expect(stored.content).toContain('1800 seconds (setting orphanedRunsMs)');
          const events = await (await life.events(runId)).end();
          const last = { agent: 'RunError', team: 'TeamRunError', workflow: 'WorkflowError' }[kind];
          expect(events.events.at(-1)).toMatchObject({ event: last, error_type: 'component_not_registered' });
        }
        expect((await life.stored(recent.runId)).status).toBe('running');
      },
    );

    test('paused: ends when it is overdue for that long, and waits when nothing is due', async () => {
      const place = await freshPlace();
      const then = Date.now() - 3_600_000;
      const paused = { status: 'paused', leaseOwner: null, leaseExpiresAt: null, updatedAt: then } as const;
      const overdue = await leftBehind(place, { ...paused, wakeAt: then });
      const dueLately = await leftBehind(place, { ...paused, wakeAt: Date.now() });
      const waiting = await leftBehind(place, paused);
      const service = await serviceWithout(place, { leaseMs: 1_000, orphanedRunsMs: 1_800_000 });
      const life = new RunLife(service, 'removed');
      await until('the overdue run has ended', async () => {
        return (await life.stored(overdue.runId)).status === 'error';
      });
      for (const { runId } of [dueLately, waiting]) expect((await life.stored(runId)).status).toBe('paused');
      expect(service.logged.filter(({ message }) => message.includes('could not be woken'))).toEqual([]);
    });

    test('waits for ever with orphanedRunsMs 0', async () => {
      const place = await freshPlace();
      const run = await leftBehind(place, { leaseExpiresAt: 1, updatedAt: 1 });
      const service = await serviceWithout(place, { leaseMs: 1_000, orphanedRunsMs: 0 });
      const other = await leftBehind(place, { leaseExpiresAt: 1, updatedAt: 1 });
      const life = new RunLife(service, 'removed');
      // this service looks for cancellations as often as for runs to end: it has looked when this one has ended
      await requestCancellation(place, other);
      await until('a look is over', async () => (await life.stored(other.runId)).status === 'cancelled');
      expect((await life.stored(run.runId)).status).toBe('running');
    });
  });

  describe('with another process that has the component', () => {
    test('the run is left to that process', async () => {
      const place = await freshPlace();
      const run = await leftBehind(place);
      const without = await serviceWithout(place, { leaseMs: 1_000 });
      await looked(place, without);
      expect((await new RunLife(without, 'removed').stored(run.runId)).status).toBe('running');
      const book = new ScriptBook();
      book.write('hello', { text: 'taken up' });
      await startService({
        agents: [agent({ id: 'removed', model: book.model })],
        database: place.url,
        leaseMs: 1_000,
      });
      const ended = await new RunLife(without, 'removed').rested(run.runId);
      expect(ended).toMatchObject({ status: 'completed', content: 'taken up' });
    });

    test('a run that its process executes is cancelled through the other one', async () => {
      const place = await freshPlace();
      await place.open();
      const book = new ScriptBook();
      book.write('long', { text: 'x', waitFor: new Promise<never>(() => {}) });
      const having = await startService({
        agents: [agent({ id: 'removed', model: book.model })],
        database: place.url,
      });
      const without = await serviceWithout(place);
      const run = await new RunLife(having, 'removed').start({ message: 'long', background: true });
      const life = new RunLife(without, 'removed');
      expect((await without.get('/info')).body.orphaned_runs).toEqual({ count: 0, components: [] });
      const { status, body } = await life.cancel(run.run_id);
      expect([status, body]).toEqual([200, {}]);
      expect((await life.stored(run.run_id)).status).toBe('cancelled');
    });

    test('a cancel that the holder does not react to says so, and ends the run when the lease ends', async () => {
      const place = await freshPlace();
      const run = await leftBehind(place, { leaseExpiresAt: Date.now() + never });
      const life = new RunLife(await serviceWithout(place, { leaseMs: 1_000 }), 'removed');
      const { status, body } = await life.cancel(run.runId);
      expect([status, body]).toEqual([
        202,
        { run_id: run.runId, session_id: run.sessionId, status: 'running' },
      ]);
      const { query } = await place.open();
      // only now: a lease that ended long ago would make it an orphan for a look that has just found it held
      await query
        .updateTable('runs')
        .set({ lease_expires_at: Date.now() - 1_000 })
        .execute();
      expect((await life.rested(run.runId)).status).toBe('cancelled');
    });
  });

  test('/info counts them, to those who see the runs of all users', async () => {
    const place = await freshPlace();
    const paused = { status: 'paused', leaseOwner: null, leaseExpiresAt: null } as const;
    for (const kind of ['agent', 'agent', 'team'] as const) await leftBehind(place, { kind, ...paused });
    const flow = { kind: 'workflow', componentId: 'flow' } as const;
    await leftBehind(place, flow);
    // released, or never begun
    for (const leaseExpiresAt of [null, 0])
      await leftBehind(place, { ...flow, status: 'pending', leaseOwner: null, leaseExpiresAt });
    await leftBehind(place, { componentId: 'held', leaseExpiresAt: Date.now() + never });
    await leftBehind(place, { componentId: 'other', ...paused });
    const house = await Gatehouse.open({
      agents: [agent({ id: 'other', model: new ScriptBook().model })],
      database: place.url,
      leaseMs: never,
    });
    const { body } = await (await house.admin()).get('/info');
    expect(body.orphaned_runs.count).toBe(6);
    expect(body.orphaned_runs.components).toHaveLength(3);
    expect(body.orphaned_runs.components).toEqual(
      expect.arrayContaining([
        { type: 'agent', id: 'removed', count: 2 },
        { type: 'team', id: 'removed', count: 1 },
        { type: 'workflow', id: 'flow', count: 3 },
      ]),
    );
    expect((await (await house.person('ada')).get('/info')).body).not.toHaveProperty('orphaned_runs');
  });

  test('the run of another user is absent, for reading, cancelling and continuing', async () => {
    const place = await freshPlace();
    const run = await leftBehind(place, { userId: 'ada', sessionId: 'of-ada' });
    const house = await Gatehouse.open({
      agents: [agent({ id: 'other', model: new ScriptBook().model })],
      database: place.url,
      leaseMs: never,
    });
    const path = `/agents/removed/runs/${run.runId}`;
    for (const other of [await house.person('bob'), await house.nobody()]) {
      for (const answer of [
        await other.get(path),
        await other.get(`${path}/events`),
        await other.get(`${path}/checkpoints`),
        await other.get('/agents/removed/runs'),
        await other.submit(`${path}/continue`, { input: 'x' }),
        await other.send('POST', `${path}/cancel?session_id=of-ada`),
      ])
        expect([answer.status, answer.body.detail]).toEqual([404, 'Agent not found']);
    }
    const ada = await house.person('ada');
    expect((await ada.get(path)).body.status).toBe('running');
    expect((await ada.send('POST', `${path}/cancel?session_id=of-ada`)).status).toBe(200);
    expect((await ada.get(path)).body.status).toBe('cancelled');
  });
});

async function requestCancellation(place: DatabasePlace, run: Run): Promise<void> {
  await new RunStore(await place.open()).requestCancellation({
    ...{ runId: run.runId, kind: run.kind, componentId: run.componentId },
    ...{ sessionId: null, userId: null, reason: 'enough', requestedAt: Date.now() },
  });
}

/** The service has looked at the runs that no process executes since this was called. */
async function looked(place: DatabasePlace, service: TestService): Promise<void> {
  const marker = await leftBehind(place, { componentId: 'marker' });
  await requestCancellation(place, marker);
  const life = new RunLife(service, 'marker');
  await until('a look is over', async () => (await life.stored(marker.runId)).status === 'cancelled');
}
