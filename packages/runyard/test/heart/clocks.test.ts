import { expect, it } from 'vitest';
import { RunStore } from '../../src/capabilities/runs/store.js';
import type { Timers } from '../../src/core/timers.js';
import { systemTimers } from '../../src/platform/engine/local/timers.js';
import { forEachDatabase } from '../support/databases.js';
import { begin, engineOver, executable, gate, goOn } from './harness.js';

const hour = 3_600_000;

/** The clock of a host that is wrong by some time. */
function skewed(ms: number): Timers {
  return { ...systemTimers, now: () => Date.now() + ms };
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
      const handle = await begin(engine, store, rememberer, { input, sessionId: 'talk' });
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
    await (await begin(behind!, store, rememberer, turn('first'))).ended;
    const slow = await begin(ahead!, store, late, turn('slow', { background: true }));
    await (await begin(behind!, store, rememberer, turn('later'))).ended;
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
      const kept = await begin(healthy, store, component, { background: true });
      const wrong = await begin(other, store, component, { background: true });
      await other.recover();
      await healthy.recover();
      expect(began).toEqual(['healthy', 'other']);
      const lost = await begin(dead, store, component, { background: true });
      await expect
        .poll(async () => (await store.expired(10, 0)).map(({ runId }) => runId))
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
      const notYet = await begin(wrong, store, asking, { background: true });
      expect((await notYet.ended).run.status).toBe('paused');
      timeoutMs = 1;
      const due = await begin(wrong, store, asking, { background: true });
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
});
