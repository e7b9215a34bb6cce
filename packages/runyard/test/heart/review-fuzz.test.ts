import { expect, test } from 'vitest';
import type { RunEngine } from '../../src/core/runs/engine.js';
import { RunFailed } from '../../src/core/runs/executable.js';
import { RunSlots } from '../../src/core/runs/run-slots.js';
import { allEvents, begin, engineOver, executable, freshStore, goOn, note } from './harness.js';

const pause = (ms: number) => new Promise((r) => setTimeout(r, ms));
function rng(seed: number) {
  return () => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
}

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8])
  test(`fuzz ${seed}`, { timeout: 60000 }, async () => {
    const random = rng(seed * 7919);
    const store = await freshStore();
    const done = new Map<string, number>();
    const cancelledAt = new Map<string, boolean>();
    const late: string[] = [];
    const component = executable('a', async (context) => {
      context.emit(note(`go ${context.run.attempt}`), `go:${context.run.attempt}`);
      for (let i = 0; i < 3; i += 1) {
        await context.wait({
          key: `q${i}`,
          kind: 'question',
          data: {},
          ...(random() < 0.2 && { dueAt: Date.now() + 30 }),
        });
        if (random() < 0.1) throw new RunFailed({ type: 'x', message: 'x' });
        await context.step(
          `pay:${i}`,
          { kind: 'step', name: 'pay', interrupted: { policy: 'ask', lost: () => 'lost' } },
          async () => {
            const key = `${context.run.runId}:${i}`;
            if (cancelledAt.get(context.run.runId)) late.push(key);
            done.set(key, (done.get(key) ?? 0) + 1);
            await pause(random() * 10);
            return 'paid';
          },
        );
        context.emit(note(`paid ${i}`), `pay:${i}:paid`);
      }
      return 'done';
    });
    const slots = new RunSlots({ executing: 3, waiting: 1000 });
    const make = () => engineOver(store, [component], { leaseMs: 40 + random() * 60, slots });
    const engines: RunEngine[] = [make(), make(), make()];
    for (const e of engines) await e.open();
    const runIds: string[] = [];
    for (let n = 0; n < 25; n += 1) {
      const h = await begin(engines[n % 3]!, store, component, { runId: `r${n}`, background: true });
      runIds.push(h.runId);
    }
    const cancelled = new Set<string>();
    const act = async () => {
      const runId = runIds[Math.floor(random() * runIds.length)]!;
      const e = engines[Math.floor(random() * engines.length)]!;
      const stored = (await store.load(runId))!;
      const roll = random();
      try {
        if (roll < 0.04) {
          cancelled.add(runId);
          await e.cancel(runId, {
            runId,
            kind: 'agent',
            componentId: 'a',
            sessionId: null,
            userId: null,
            reason: 'enough',
            requestedAt: Date.now(),
          });
          const after = (await store.load(runId))!.run.status;
          if (after !== 'cancelled' && after !== 'completed' && after !== 'error')
            console.log('cancel left', runId, after);
          if (after === 'cancelled') cancelledAt.set(runId, true);
        } else if (roll < 0.06) {
          const index = engines.indexOf(e);
          engines[index] = make();
          await engines[index]!.open();
          await e.stop(0);
        } else if (stored.run.status === 'paused') {
          const open = stored.steps.filter((s) => s.kind === 'wait' && s.status === 'running');
          const answers = new Map(
            open.map(
              (s) =>
                [s.key, s.name === 'unknown_outcome' ? { outcome: 'failed', message: 'no' } : 'yes'] as const,
            ),
          );
          await e.answer(runId, { answers: answers as never, continuation: goOn });
        } else if (stored.run.status === 'error') {
          await e.retry(
            runId,
            {
              steps: stored.steps.filter((s) => s.status === 'completed' || s.kind === 'step'),
              messageIndex: 0,
              turn: 0,
            },
            goOn,
          );
        }
      } catch (error) {
        const code = (error as { code?: string }).code;
        if (!['cannot_continue', 'answered_before', 'stopping', 'service_stopping'].includes(code ?? ''))
          console.log('ERR', code, (error as Error).message);
      }
    };
    const until = Date.now() + 6000;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        while (Date.now() < until) {
          await act();
          await pause(random() * 3);
        }
      }),
    );
    const settled = async () =>
      (await store.loadAll(runIds)).filter(({ run }) => ['running', 'pending'].includes(run.status)).length;
    await expect.poll(settled, { timeout: 20000 }).toBe(0);
    const all = await store.loadAll(runIds);
    const counts: Record<string, number> = {};
    for (const { run } of all) counts[run.status] = (counts[run.status] ?? 0) + 1;
    console.log(seed, counts, 'paid', done.size, 'attempts', all.map(({ run }) => run.attempt).join(' '));
    expect(late).toEqual([]);
    expect([...done].filter(([, n]) => n > 1)).toEqual([]);
    for (const runId of runIds) {
      const events = await allEvents({ events: () => engines[0]!.events(runId, 0) });
      const indices = events.map(({ index }) => index);
      expect([...indices].sort((a, b) => a - b)).toEqual(indices);
      expect(new Set(indices).size).toBe(indices.length);
    }
    await expect
      .poll(() => [slots.executing, slots.waiting, ...engines.map((e) => e.liveCount)])
      .toEqual([0, 0, 0, 0, 0]);
  });
