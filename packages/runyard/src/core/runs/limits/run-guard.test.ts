import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { systemTimers } from '../../../platform/engine/local/timers.js';
import { LazyAbort } from '../../async/abort.js';
import { silentLog } from '../../log.js';
import type { Timers } from '../../timers.js';
import { OwnName } from '../execution/code-owner.js';
import type { Run } from '../run.js';
import { Deadlines } from './deadlines.js';
import { RunGuard } from './run-guard.js';
import { RunMeter } from './run-meter.js';

const owner = { kind: 'agent', id: 'a' } as const;

function outermost(timers: Timers = systemTimers, limits = {}) {
  const abort = new LazyAbort();
  const meter = new RunMeter({ model: null, modelProvider: null } as Run, [], {});
  const deadlines = new Deadlines(timers);
  const service = { ceiling: {}, timers, deadlines, log: silentLog };
  const run = {
    service,
    owner: { ...owner, limits },
    meter,
    prefix: '',
    executedMs: 0,
    ownName: new OwnName(),
  };
  return { abort, guard: new RunGuard(run, abort, null) };
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

test('the receiver of a run that is aborted before it begins gets the error after the first lines of its work', async () => {
  const { abort, guard } = outermost();
  abort.abort(new Error('enough'));
  const calls: string[] = [];
  await new Promise<void>((resolve) => {
    const failed = (error: unknown) => {
      calls.push(String(error));
      resolve();
    };
    guard.begin(() => void calls.push('begun'), { received: () => void calls.push('received'), failed });
  });
  expect(calls).toEqual(['begun', 'Error: enough']);
});

test('the receiver of a run gets one outcome, also when the work continues after that', async () => {
  const { abort, guard } = outermost();
  const calls: unknown[] = [];
  const receiver = {
    received: (result: string) => void calls.push(result),
    failed: () => void calls.push('failed'),
  };
  guard.begin<string>((outcome) => {
    outcome.received('done');
    outcome.received('done again');
    outcome.failed(new Error('late'));
  }, receiver);
  abort.abort(new Error('too late'));
  await Promise.resolve();
  expect(calls).toEqual(['done']);
});

test('the abort of the outermost run ends it before its work notices', async () => {
  const { abort, guard } = outermost();
  const ended = guard.within(() => new Promise(() => {}));
  const reason = new Error('enough');
  abort.abort(reason);
  await expect(ended).rejects.toBe(reason);
});

test('a timer that fires a millisecond early does not end a run before its time', async () => {
  let now = 0;
  const armed: { ms: number; callback: () => void }[] = [];
  const after: Timers['after'] = (ms, callback) => {
    const timer = { ms, callback };
    armed.push(timer);
    return () => void armed.splice(armed.indexOf(timer), 1);
  };
  const { guard } = outermost({ ...systemTimers, now: () => now, after }, { timeMs: 60 });
  const ended = guard.within(() => new Promise(() => {}));
  expect(armed.map(({ ms }) => ms)).toEqual([60]);
  now = 59;
  armed[0]?.callback();
  expect(armed.map(({ ms }) => ms)).toEqual([1]);
  now = 60;
  armed[0]?.callback();
  await expect(ended).rejects.toMatchObject({ failure: { additionalData: { used: 60 } } });
  expect(armed).toEqual([]);
});

test('a run that has ended is not aborted by its time, nor by a limit that is set too late', async () => {
  const armed = new Set<() => void>();
  const arm = (_ms: number, work: () => void) => {
    armed.add(work);
    return () => void armed.delete(work);
  };
  const { abort, guard } = outermost({ ...systemTimers, after: arm, every: arm });
  const inside = guard.inside(
    { owner: { ...owner, limits: { timeMs: 60 } }, prefix: 'p/', executedMs: 0 },
    abort.signal,
  );
  // the outermost run has the time that is the default, the one inside has its own
  await guard.within(() => inside.within(async () => {}));
  expect(armed.size).toBe(0);
  guard.limit({ timeMs: 10 });
  expect(armed.size).toBe(0);
});

test('a run that another request cancels, or whose time is up, ends in its own context', async () => {
  const requests = new AsyncLocalStorage<string>();
  const endOf = (end: (parts: ReturnType<typeof outermost>) => void, limits = {}) =>
    new Promise<string | undefined>((resolve) => {
      const parts = requests.run('of the run', () => outermost(systemTimers, limits));
      const receiver = { received() {}, failed: () => resolve(requests.getStore()) };
      parts.guard.begin(() => {}, receiver);
      requests.run('of another', () => end(parts));
    });
  expect(await endOf(({ abort }) => abort.abort(new Error('enough')))).toBe('of the run');
  expect(await endOf(({ guard }) => guard.timeUp(), { timeMs: 60_000 })).toBe('of the run');
});
