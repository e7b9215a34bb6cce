import { expect, it } from 'vitest';
import { RunStore } from '../../src/capabilities/runs/store.js';
import type { Timers } from '../../src/core/timers.js';
import { systemTimers } from '../../src/platform/engine/local/timers.js';
import { forEachDatabase } from '../support/databases.js';
import { begin, engineOver, executable } from './harness.js';

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
});
