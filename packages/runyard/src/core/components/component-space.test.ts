import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, onTestFinished, test } from 'vitest';
import { begin } from '../../../test/heart/harness.js';
import { step, workflow } from '../../index.js';
import { systemTimers } from '../../platform/engine/local/timers.js';
import { inProcessSpace } from './component-space.js';

test('what wakes all paused runs works in the context of none of them', async () => {
  const contexts = new AsyncLocalStorage<string>();
  const startedIn: (string | undefined)[] = [];
  const timers: typeof systemTimers = {
    ...systemTimers,
    every(ms, work) {
      if (ms === 1_000) startedIn.push(contexts.getStore());
      return systemTimers.every(ms, work);
    },
  };
  const flow = workflow({ id: 'w', steps: [step({ name: 's', run: ({ sleep }) => sleep(3_600_000) })] });
  const { engine } = inProcessSpace(flow, timers);
  onTestFinished(() => engine.stop(0));
  const handle = await contexts.run('a caller', () => begin(engine, flow));
  expect((await handle.ended).run.status).toBe('paused');
  expect(startedIn).toEqual([undefined]);
});
