import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { systemTimers } from '../../../platform/engine/local/timers.js';
import { LazyAbort } from '../../abort.js';
import { silentLog } from '../../log.js';
import { OwnName } from '../execution/code-owner.js';
import type { Run } from '../run.js';
import { RunGuard } from './run-guard.js';
import { RunMeter } from './run-meter.js';

const owner = { kind: 'agent', id: 'a' } as const;

function outermost() {
  const abort = new LazyAbort();
  const meter = new RunMeter({ model: null, modelProvider: null } as Run, [], {});
  const around = { ceiling: {}, meter, timers: systemTimers, log: silentLog, ownName: new OwnName() };
  return { abort, guard: new RunGuard({ owner, ...around, prefix: '', executedMs: 0 }, abort, null) };
}

test('a run that begins inside something that is aborted has an aborted signal from its first line on', async () => {
  const { abort, guard } = outermost();
  const inside = guard.inside({ owner, prefix: 'p/', executedMs: 0 }, abort.signal);
  const reason = new Error('enough');
  abort.abort(reason);
  const seen = await inside.within(async () => inside.signal.aborted);
  expect(seen).toBe(true);
  expect(inside.signal.reason).toBe(reason);
});

test('a run that meets a limit at once leaves nothing behind on the signal around it', async () => {
  const { abort, guard } = outermost();
  const limited = { ...owner, limits: { turns: 1 } };
  const inside = guard.inside({ owner: limited, prefix: 'p/', executedMs: 0 }, abort.signal);
  const work = async () => inside.admit('model', 2);
  await expect(inside.within(work)).rejects.toThrow('turns');
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
});

test('the abort of the outermost run ends it before its work notices', async () => {
  const { abort, guard } = outermost();
  const ended = guard.within(() => new Promise(() => {}));
  const reason = new Error('enough');
  abort.abort(reason);
  await expect(ended).rejects.toBe(reason);
});
