import { expect, it, onTestFinished, vi } from 'vitest';
import { ApprovalStore } from '../../../src/capabilities/approvals/store.js';
import { OrphanStore } from '../../../src/capabilities/runs/storage/orphan-store.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import type { RunContext } from '../../../src/core/runs/context.js';
import { RunSlots } from '../../../src/core/runs/leases/run-slots.js';
import type { Timers } from '../../../src/core/timers.js';
import { agent } from '../../../src/index.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { scriptedModel } from '../../../src/testing.js';
import { forEachDatabase } from '../../support/databases.js';
import { begin, engineOver, executable, gate, goOn } from '../harness.js';
import { call, payTool } from '../paused-runs.js';

const hour = 3_600_000;
const day = 24 * hour;

/** The clock of a host that is wrong by some time. */
function skewed(ms: number): Timers {
  return { ...systemTimers, now: () => Date.now() + ms };
}

/** Lets this process continue with a wrong clock; the databases keep the right one. */
function setClockOff(ms: number): void {
  const now = Date.now;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
  onTestFinished(() => clock.mockRestore());
}

function untilAborted({ signal }: RunContext): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

/** Answers with what it is shown of the session. */
const rememberer = executable('rememberer', async (context) => {
  const earlier = await context.history(10);
  return [...earlier.map(({ run }) => run.input.content), context.run.input.content].join(', ');
});

forEachDatabase((_dialect, freshPlace) => {
  it('shows each turn all turns before it, on whichever host they ran and whatever its clock says', async () => {
    const store = new RunStore(await (await freshPlace()).open());
    const engines = [0, 2_000, -2_000, hour, -hour].map((ms) =>
      engineOver(store, [rememberer], { timers: skewed(ms) }),
    );
    const said: string[] = [];
    for (const [turn, engine] of [...engines, ...engines].entries()) {
      said.push(`turn ${turn}`);
      const input = { content: `turn ${turn}`, media: [], options: { stream: true } };
      const handle = await begin(engine, rememberer, { input, sessionId: 'talk' });
      expect((await handle.ended).run.result?.content).toBe(said.join(', '));
    }
  });

  it('shows a run neither itself nor what came later, also when it is stored long before it looks', async () => {
    const store = new RunStore(await (await freshPlace()).open());
    let look = (): void => {};
    const looks = new Promise<void>((resolve) => {
      look = resolve;
    });
    const late = executable('rememberer', async (context) => {
      await looks;
      return rememberer.execute(context).then(({ content }) => content);
    });
    const [ahead, behind] = [hour, -hour].map((ms) =>
      engineOver(store, [rememberer], { timers: skewed(ms) }),
    );
    const turn = (content: string, more = {}) => ({
      input: { content, media: [], options: { stream: true } },
      sessionId: 'talk',
      ...more,
    });
    await (await begin(behind!, rememberer, turn('first'))).ended;
    const slow = await begin(ahead!, late, turn('slow', { background: true }));
    await (await begin(behind!, rememberer, turn('later'))).ended;
    look();
    expect((await slow.ended).run.result?.content).toBe('first, slow');
  });

  it.each([2_000, -2_000, hour, -hour])(
    'takes no lease from a healthy process, and takes over that of a dead one, %d ms off',
    async (ms) => {
      const store = new RunStore(await (await freshPlace()).open());
      const held = gate();
      const began: string[] = [];
      const component = executable('held', async (context) => {
        began.push(context.run.leaseOwner!);
        await held.promise;
      });
      const healthy = engineOver(store, [component], { owner: 'healthy' });
      const other = engineOver(store, [component], { owner: 'other', timers: skewed(ms) });
      const dead = engineOver(store, [component], { owner: 'dead', timers: skewed(ms), leaseMs: 1 });
      const kept = await begin(healthy, component, { background: true });
      const wrong = await begin(other, component, { background: true });
      await other.recover();
      await healthy.recover();
      expect(began).toEqual(['healthy', 'other']);
      const lost = await begin(dead, component, { background: true });
      await expect
        .poll(async () => (await store.leases.expired(10, 0)).map(({ runId }) => runId))
        .toEqual([lost.runId]);
      await (ms > 0 ? healthy : other).recover();
      await expect.poll(() => began.length).toBe(4);
      expect(began.at(-1)).toBe(ms > 0 ? 'healthy' : 'other');
      held.open();
      for (const { ended } of [kept, wrong]) expect((await ended).run.attempt).toBe(1);
    },
  );

  it.each([2_000, -2_000, hour, -hour])(
    'a question is due by the clock of the database, asked %d ms off and answered by a process that is right',
    async (ms) => {
      const store = new RunStore(await (await freshPlace()).open());
      let timeoutMs = hour / 2;
      const asking = executable('asking', async (context) => {
        const dueAt = await context.deadline(timeoutMs);
        return context.wait({ key: 'ok', kind: 'confirmation', data: {}, dueAt });
      });
      const wrong = engineOver(store, [asking], { timers: skewed(ms) });
      const right = engineOver(store, [asking]);
      const notYet = await begin(wrong, asking, { background: true });
      expect((await notYet.ended).run.status).toBe('paused');
      timeoutMs = 1;
      const due = await begin(wrong, asking, { background: true });
      expect((await due.ended).run.status).toBe('paused');
      await right.open();
      await wrong.open();
      await expect
        .poll(async () => (await store.load(due.runId))?.run)
        .toMatchObject({
          status: 'completed',
          attempt: 2,
          result: { content: { timed_out: true } },
        });
      expect((await store.load(notYet.runId))?.run).toMatchObject({ status: 'paused', attempt: 1 });
      const answer = { answers: new Map([['wait:ok', 'yes']]), continuation: goOn };
      const answered = await (ms > 0 ? wrong : right).answer(notYet.runId, answer);
      expect((await answered.ended).run.result?.content).toBe('yes');
    },
  );

  it.each([
    [hour, -hour],
    [-hour, hour],
  ])('a cancellation reaches a run, requested %d ms off and found %d ms off', async (asks, executes) => {
    const store = new RunStore(await (await freshPlace()).open());
    const held = executable('held', untilAborted);
    const asking = engineOver(store, [held], { timers: skewed(asks) });
    const executing = engineOver(store, [held], { timers: skewed(executes) });
    await executing.open();
    const wish = (runId: string) => ({
      runId,
      kind: 'agent' as const,
      componentId: 'held',
      sessionId: null,
      userId: null,
      reason: 'enough',
      requestedAt: Date.now() + asks,
    });
    const underWay = await begin(executing, held, { background: true });
    await asking.cancel(underWay.runId, wish(underWay.runId));
    expect((await underWay.ended).run.status).toBe('cancelled');
    // one that is asked for before the run is there
    await asking.cancel('early', wish('early'));
    const early = await begin(executing, held, { runId: 'early' });
    expect((await early.ended).run.status).toBe('cancelled');
  });

  it.each([hour, -hour])(
    'ends runs of missing components when they have waited long enough by the clock of the database, %d ms off',
    async (ms) => {
      const database = await (await freshPlace()).open();
      const store = new RunStore(database);
      const left = executable('left', untilAborted);
      const endingAfter = (endAfterMs: number) =>
        engineOver(store, [], {
          timers: skewed(ms),
          orphans: {
            journal: new OrphanStore(database),
            components: () => [],
            standIn: () => left,
            endAfterMs,
          },
        });
      const slots = () => new RunSlots({ executing: 1, waiting: 1 });
      const dead = engineOver(store, [left], { timers: skewed(-ms), leaseMs: 1, slots: slots() });
      const stopped = engineOver(store, [left], { timers: skewed(-ms), slots: slots() });
      const runIds: string[] = [];
      // in each process one begins, and the other one waits for its slot
      for (const engine of [dead, dead, stopped, stopped])
        runIds.push((await begin(engine, left, { background: true })).runId);
      await stopped.stop(0);
      await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
      await expect.poll(async () => (await store.queue.waiting(10, 0)).length).toBe(3);
      const statuses = async () => (await store.loadAll(runIds)).map(({ run }) => run.status);
      await endingAfter(hour / 2).recover();
      expect(await statuses()).not.toContain('error');
      const impatient = endingAfter(1);
      await expect
        .poll(async () => {
          await impatient.recover();
          return statuses();
        })
        .toEqual(Array(4).fill('error'));
    },
  );

  it.each([3 * day, -3 * day])('a key identifies its run for a day, %d ms off', async (ms) => {
    const store = new RunStore(await (await freshPlace()).open());
    const [right, wrong] = [0, ms].map((off) => engineOver(store, [rememberer], { timers: skewed(off) }));
    const under = (key: string) => ({
      idempotency: { userId: null, kind: 'agent' as const, componentId: 'rememberer', key, payload: '' },
    });
    for (const [first, second] of [
      [right!, wrong!],
      [wrong!, right!],
    ] as const) {
      const key = first === right ? 'right first' : 'wrong first';
      await (await begin(first, rememberer, under(key))).ended;
      await expect(begin(second, rememberer, under(key))).rejects.toMatchObject({
        code: 'idempotency_key_taken',
      });
    }
  });

  it.each([hour, -hour])(
    'an approval expires by the clock of the database, asked for %d ms off',
    async (ms) => {
      const database = await (await freshPlace()).open();
      const store = new RunStore(database);
      const approvals = new ApprovalStore(database);
      const everyone = { kind: 'all' } as const;
      const asked = async (approvalTimeoutMs: number) => {
        const { pay } = payTool({ approval: 'required', approvalTimeoutMs });
        const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 })] }]);
        const payer = agent({ id: 'payer', model, tools: [pay] });
        const engine = engineOver(store, [payer], { timers: skewed(ms) });
        const { run } = await (await begin(engine, payer)).ended;
        return async () => (await approvals.ofRun(everyone, run.runId))[0]!;
      };
      const [open, over] = [await asked(hour / 2), await asked(1)];
      await expect.poll(async () => (await over()).status).toBe('expired');
      expect((await open()).status).toBe('pending');
      // as a process sees it and decides on it whose clock is wrong the other way
      setClockOff(-ms);
      expect([(await open()).status, (await over()).status]).toEqual(['pending', 'expired']);
      expect(await approvals.count(everyone, { status: 'pending' })).toBe(1);
      expect(await approvals.count(everyone, { status: 'expired' })).toBe(1);
      const decision = { status: 'approved', resolvedBy: 'grace', resolutionData: null } as const;
      expect(await approvals.resolve({ ...decision, approvalId: (await over()).approvalId })).toBe(false);
      expect(await approvals.resolve({ ...decision, approvalId: (await open()).approvalId })).toBe(true);
    },
  );
});
