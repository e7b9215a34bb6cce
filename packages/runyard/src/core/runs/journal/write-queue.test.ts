import { describe, expect, test } from 'vitest';
import { type Log, silentLog } from '../../log.js';
import type { Timers } from '../../timers.js';
import type { Run } from '../run.js';
import { MemoryJournal } from './memory-journal.js';
import type { RefusedWrite, RunJournal, RunWrite } from './ports.js';
import { WriteQueue, type WriteSource } from './write-queue.js';

/** A journal whose commits end when the test says so. */
class GatedJournal {
  readonly commits: {
    writes: readonly RunWrite[];
    end(refused?: RefusedWrite[]): void;
    fail(error: Error): void;
  }[] = [];
  private waiting: (() => void)[] = [];

  commit(writes: readonly RunWrite[]): Promise<readonly RefusedWrite[]> {
    return new Promise((resolve, reject) => {
      this.commits.push({ writes, end: (refused = []) => resolve(refused), fail: reject });
      for (const wake of this.waiting.splice(0)) wake();
    });
  }

  /** Fails what is in progress, and forgets it. */
  failAll(error: Error): void {
    for (const commit of this.commits.splice(0)) commit.fail(error);
  }

  async begun(count: number): Promise<void> {
    while (this.commits.length < count) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  runsOf(commit: number): string[] {
    return this.commits[commit]!.writes.map(({ runId }) => runId);
  }
}

class Source implements WriteSource {
  dirty = true;
  isAccepted = false;
  state: 'open' | 'written' | 'refused' = 'open';
  constructor(
    readonly runId: string,
    readonly size = 0,
  ) {}
  drain(): RunWrite | undefined {
    if (!this.dirty) return undefined;
    this.dirty = false;
    return { runId: this.runId, attempt: 1, steps: [], size: this.size };
  }
  written(): void {
    this.state = 'written';
  }
  refused(): void {
    this.state = 'refused';
  }
}

/** Time that passes when the test says so; what is due "soon" is due at once. */
function manualTimers() {
  const due: { at: number; work: () => void }[] = [];
  let now = 0;
  const timers: Timers = {
    now: () => now,
    elapsed: () => now,
    soon: queueMicrotask,
    after: (ms, work) => {
      const entry = { at: now + ms, work };
      due.push(entry);
      return () => void due.splice(due.indexOf(entry), due.includes(entry) ? 1 : 0);
    },
    every: () => () => {},
  };
  const pass = (ms: number) => {
    now += ms;
    for (const entry of due.filter(({ at }) => at <= now)) {
      due.splice(due.indexOf(entry), 1);
      entry.work();
    }
  };
  return { timers, pass, pending: () => due.length };
}

function setUp(isTransient: (error: unknown) => boolean = () => false) {
  const journal = new GatedJournal();
  const time = manualTimers();
  const lines: string[] = [];
  const queue = new WriteQueue(
    journal as unknown as RunJournal,
    time.timers,
    countingLog(lines),
    isTransient,
  );
  return { journal, queue, lines, ...time };
}

function countingLog(lines: string[]): Log {
  const note = (_: object, text: string) => void lines.push(text);
  return { ...silentLog, warn: note, error: note };
}

/** Makes an unavailable database fail every try until the given time has passed. */
async function outage({ journal, pass, pending }: ReturnType<typeof setUp>, ms: number): Promise<number> {
  let tries = 0;
  for (let passed = 0; passed < ms; passed += 500) {
    await journal.begun(1);
    tries += 1;
    journal.failAll(new Error('away'));
    while (pending() === 0) await new Promise((resolve) => setImmediate(resolve));
    pass(500);
  }
  return tries;
}

describe('group commit', () => {
  test('writes that come together share a transaction; those that come during it share the next', async () => {
    const { journal, queue } = setUp();
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => new Source(id)) as [Source, Source, Source, Source];
    const first = Promise.all([queue.flush(a), queue.flush(b)]);
    await journal.begun(1);
    const second = Promise.all([queue.flush(c), queue.flush(d)]);
    expect(journal.runsOf(0)).toEqual(['a', 'b']);
    expect(journal.commits).toHaveLength(1);
    journal.commits[0]!.end();
    await first;
    await journal.begun(2);
    expect(journal.runsOf(1)).toEqual(['c', 'd']);
    journal.commits[1]!.end();
    await second;
  });

  test('a flush resolves only after the transaction ended', async () => {
    const { journal, queue } = setUp();
    const source = new Source('a');
    let resolved = false;
    const flushed = queue.flush(source).then(() => {
      resolved = true;
    });
    await journal.begun(1);
    expect([resolved, source.state]).toEqual([false, 'open']);
    journal.commits[0]!.end();
    await flushed;
    expect([resolved, source.state]).toEqual([true, 'written']);
  });

  test('a write without a waiter goes with the next batch, or by itself after a moment', async () => {
    const { journal, queue, pass, pending } = setUp();
    queue.touch(new Source('lazy'));
    const flushed = queue.flush(new Source('urgent'));
    await journal.begun(1);
    expect(journal.runsOf(0)).toEqual(['lazy', 'urgent']);
    journal.commits[0]!.end();
    await flushed;
    queue.touch(new Source('alone'));
    await expect.poll(pending).toBe(1);
    pass(1000);
    await journal.begun(2);
    expect(journal.runsOf(1)).toEqual(['alone']);
  });

  test('touched while a transaction is in progress is not forgotten', async () => {
    const { journal, queue, pass, pending } = setUp();
    const flushed = queue.flush(new Source('a'));
    await journal.begun(1);
    queue.touch(new Source('b'));
    journal.commits[0]!.end();
    await flushed;
    await expect.poll(pending).toBe(1);
    pass(1000);
    await journal.begun(2);
    expect(journal.runsOf(1)).toEqual(['b']);
  });

  test('two runs under one id are never in one transaction, so that each gets its own outcome', async () => {
    const { journal, queue } = setUp();
    const [first, second] = [new Source('same'), new Source('same')];
    const flushed = Promise.allSettled([queue.flush(first), queue.flush(second)]);
    await journal.begun(1);
    expect(journal.runsOf(0)).toEqual(['same']);
    journal.commits[0]!.end();
    await journal.begun(2);
    journal.commits[1]!.end([{ runId: 'same', reason: 'run_exists' }]);
    await flushed;
    expect([first.state, second.state]).toEqual(['written', 'refused']);
  });

  test('nothing new to write is durable already', async () => {
    const { journal, queue } = setUp();
    const source = new Source('a');
    source.dirty = false;
    await queue.flush(source);
    expect(journal.commits).toHaveLength(0);
  });
});

describe('trouble', () => {
  test('a refused write fails its own run and no other', async () => {
    const { journal, queue } = setUp();
    const [a, b] = [new Source('a'), new Source('b')];
    const flushed = Promise.allSettled([queue.flush(a), queue.flush(b)]);
    await journal.begun(1);
    journal.commits[0]!.end([{ runId: 'a', reason: 'fenced' }]);
    const [first, second] = await flushed;
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'run_fenced' } });
    expect(second).toMatchObject({ status: 'fulfilled' });
    expect([a.state, b.state]).toEqual(['refused', 'written']);
  });

  test('a write that cannot be stored does not fail the others of its batch', async () => {
    const { journal, queue } = setUp();
    const [bad, good] = [new Source('bad'), new Source('good')];
    const flushed = Promise.allSettled([queue.flush(bad), queue.flush(good)]);
    await journal.begun(1);
    journal.commits[0]!.fail(new Error('poison'));
    await journal.begun(2);
    journal.commits[1]!.fail(new Error('poison'));
    await journal.begun(3);
    journal.commits[2]!.end();
    await flushed;
    expect([bad.state, good.state]).toEqual(['refused', 'written']);
  });

  test('a commit that landed although its connection broke is not taken for a clash of ids', async () => {
    const journal = new MemoryJournal();
    const time = manualTimers();
    let broken = true;
    const commit = journal.commit.bind(journal);
    journal.commit = async (writes) => {
      const refused = await commit(writes);
      if (broken) {
        broken = false;
        throw new Error('connection lost after the commit');
      }
      return refused;
    };
    const queue = new WriteQueue(journal, time.timers, silentLog, () => true);
    const source = new Source('a');
    source.drain = () => ({
      runId: 'a',
      attempt: 1,
      steps: [],
      insert: { runId: 'a', attempt: 1, leaseOwner: 'me', createdAt: 1 } as Run,
    });
    const flushed = queue.flush(source);
    await expect.poll(time.pending).toBe(1);
    time.pass(60_000);
    await flushed;
    expect(source.state).toBe('written');
  });

  test('a short outage of the database delays writes but does not fail them', async () => {
    const { journal, queue, pass, pending } = setUp(() => true);
    const source = new Source('a');
    const flushed = queue.flush(source);
    await journal.begun(1);
    journal.commits[0]!.fail(new Error('connection lost'));
    await expect.poll(pending).toBe(1);
    pass(60_000);
    await journal.begun(2);
    journal.commits[1]!.end();
    await flushed;
    expect(source.state).toBe('written');
  });
});

describe('a refused source', () => {
  test('rejects a flush that comes after the refusal of a write without a waiter', async () => {
    const { journal, queue, pass } = setUp();
    const source = new Source('a');
    queue.touch(source);
    pass(1000);
    await journal.begun(1);
    journal.commits[0]!.end([{ runId: 'a', reason: 'fenced' }]);
    await expect.poll(() => source.state).toBe('refused');
    await expect(queue.flush(source)).rejects.toMatchObject({ code: 'run_fenced' });
    expect(journal.commits).toHaveLength(1);
  });

  test('rejects a flush that was requested while its earlier write was in progress', async () => {
    const { journal, queue } = setUp();
    const source = new Source('a');
    const [first] = [queue.flush(source).catch((error: unknown) => error)];
    await journal.begun(1);
    // nothing new, or something new: neither is durable
    const second = queue.flush(source);
    source.dirty = true;
    journal.commits[0]!.end([{ runId: 'a', reason: 'fenced' }]);
    expect(await first).toMatchObject({ code: 'run_fenced' });
    await expect(second).rejects.toMatchObject({ code: 'run_fenced' });
    expect(journal.commits).toHaveLength(1);
  });

  test('writes nothing more, whatever it still has', async () => {
    const { journal, queue, pass } = setUp();
    const source = new Source('a');
    const flushed = queue.flush(source).catch((error: unknown) => error);
    await journal.begun(1);
    journal.commits[0]!.end([{ runId: 'a', reason: 'fenced' }]);
    await flushed;
    source.dirty = true;
    queue.touch(source);
    pass(1000);
    const other = queue.flush(new Source('b'));
    await journal.begun(2);
    expect(journal.runsOf(1)).toEqual(['b']);
    journal.commits[1]!.end();
    await other;
  });

  test('is not mixed up with another one under the same run id', async () => {
    const { journal, queue } = setUp();
    const [refused, other] = [new Source('same'), new Source('same')];
    const flushed = Promise.allSettled([queue.flush(refused), queue.flush(other)]);
    await journal.begun(1);
    journal.commits[0]!.end([{ runId: 'same', reason: 'run_exists' }]);
    await journal.begun(2);
    journal.commits[1]!.end();
    expect(await flushed).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled' }]);
    expect([refused.state, other.state]).toEqual(['refused', 'written']);
  });
});

describe('a source that throws', () => {
  const throwing = ['drain', 'written', 'refused'] as const;

  test.each(throwing)('in %s fails alone, and the queue stays in use', async (method) => {
    const { journal, queue, lines } = setUp();
    const [broken, other] = [new Source('broken'), new Source('other')];
    let refusals = 0;
    broken.refused = () => {
      refusals += 1;
    };
    broken[method] = () => {
      throw new TypeError('careless');
    };
    const flushed = Promise.allSettled([queue.flush(broken), queue.flush(other)]);
    await journal.begun(1);
    journal.commits[0]!.end(method === 'refused' ? [{ runId: 'broken', reason: 'fenced' }] : []);
    const [first, second] = await flushed;
    expect(first).toMatchObject({ status: 'rejected' });
    expect(second).toMatchObject({ status: 'fulfilled' });
    expect([refusals, lines.length]).toEqual([method === 'refused' ? 0 : 1, 1]);
    await expect(queue.flush(broken)).rejects.toThrow();
    const later = queue.flush(new Source('later'));
    await journal.begun(2);
    expect(journal.runsOf(1)).toEqual(['later']);
    journal.commits[1]!.end();
    await later;
  });
});

describe('an outage', () => {
  const isAway = (error: unknown) => (error as Error).message === 'away';

  test('keeps a batch together, and later writes join it', async () => {
    const parts = setUp(isAway);
    const sources = Array.from({ length: 100 }, (_, index) => {
      const source = new Source(`run-${index}`);
      source.isAccepted = true;
      return source;
    });
    const flushed = Promise.all(sources.map((source) => parts.queue.flush(source)));
    const tries = await outage(parts, 60_000);
    const late = parts.queue.flush(new Source('late'));
    await parts.journal.begun(1);
    parts.journal.failAll(new Error('away'));
    await expect.poll(parts.pending).toBe(1);
    parts.pass(500);
    await parts.journal.begun(1);
    expect(parts.journal.runsOf(0)).toHaveLength(101);
    parts.journal.commits[0]!.end();
    await Promise.all([flushed, late]);
    // a try for each delay, however many runs there are
    expect(tries).toBeLessThanOrEqual(120);
    expect(parts.lines).toEqual([]);
  });

  test('refuses a new run within seconds, and keeps those in progress', async () => {
    const parts = setUp(isAway);
    const [accepted, fresh] = [new Source('accepted'), new Source('fresh')];
    accepted.isAccepted = true;
    const kept = parts.queue.flush(accepted);
    const refused = parts.queue.flush(fresh).catch((error: unknown) => error);
    await outage(parts, 5_000);
    expect(await refused).toEqual(new Error('away'));
    expect([accepted.state, fresh.state]).toEqual(['open', 'refused']);
    await parts.journal.begun(1);
    expect(parts.journal.runsOf(0)).toEqual(['accepted']);
    parts.journal.commits[0]!.end();
    await kept;
  });

  test('that does not end leaves the runs to their leases, with one line for all of them', async () => {
    const parts = setUp(isAway);
    const sources = Array.from({ length: 30 }, (_, index) => {
      const source = new Source(`run-${index}`);
      source.isAccepted = true;
      return source;
    });
    const flushed = Promise.allSettled(sources.map((source) => parts.queue.flush(source)));
    await outage(parts, 90_000);
    await parts.journal.begun(1);
    parts.journal.failAll(new Error('away'));
    expect((await flushed).every(({ status }) => status === 'rejected')).toBe(true);
    expect(new Set(sources.map(({ state }) => state))).toEqual(new Set(['refused']));
    expect(parts.lines).toHaveLength(1);
  });

  test('that begins while a faulty write is looked for fails no other write', async () => {
    const parts = setUp(isAway);
    const sources = ['a', 'b', 'c', 'd'].map((id) => new Source(id));
    for (const source of sources) source.isAccepted = true;
    const flushed = Promise.allSettled(sources.map((source) => parts.queue.flush(source)));
    const { journal, pending, pass } = parts;
    await journal.begun(1);
    journal.commits[0]!.fail(new Error('poison'));
    await journal.begun(2);
    expect(journal.runsOf(1)).toEqual(['a', 'b']);
    journal.commits[1]!.fail(new Error('away'));
    await expect.poll(pending).toBe(1);
    pass(1000);
    for (let seen = 3; sources.some(({ state }) => state === 'open'); seen += 1) {
      await journal.begun(seen);
      const commit = journal.commits[seen - 1]!;
      if (commit.writes.some(({ runId }) => runId === 'c')) commit.fail(new Error('poison'));
      else commit.end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await flushed;
    expect(sources.map(({ state }) => state)).toEqual(['written', 'written', 'refused', 'written']);
  });

  test('a commit takes all that is short, and of what is long up to some megabytes: the rest comes next', async () => {
    const { journal, queue } = setUp();
    const megabyte = 1_048_576;
    const sizes = { a: 3 * megabyte, b: 3 * megabyte, c: 50 * megabyte, d: 100, e: 3 * megabyte };
    const sources = Object.entries(sizes).map(([id, size]) => new Source(id, size));
    const flushed = Promise.all(sources.map((source) => queue.flush(source)));
    const batches = [['a', 'b', 'd'], ['c', 'late'], ['e']];
    for (const [index, runIds] of batches.entries()) {
      await journal.begun(index + 1);
      if (index === 0) void queue.flush(new Source('late', 100));
      expect(journal.runsOf(index)).toEqual(runIds);
      journal.commits[index]!.end();
    }
    await flushed;
    expect(sources.every(({ state }) => state === 'written')).toBe(true);
  });
});

test('an error in the queue itself rejects the waiters, and the queue stays in use', async () => {
  const { journal, queue, lines } = setUp(() => {
    throw new TypeError('careless');
  });
  const flushed = Promise.allSettled([queue.flush(new Source('a')), queue.flush(new Source('b'))]);
  await journal.begun(1);
  journal.commits[0]!.fail(new Error('connection lost'));
  expect(await flushed).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(lines).toHaveLength(1);
  const later = queue.flush(new Source('later'));
  await journal.begun(2);
  journal.commits[1]!.end();
  await later;
});

test('a caller who waits for a write leaves no timer behind', async () => {
  const { queue, pending } = setUp();
  await queue.withinPatience(Promise.resolve());
  await expect(queue.withinPatience(Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(pending()).toBe(0);
});

test('a caller waits longer for a slow database than for one that fails', async () => {
  const { journal, queue, pass } = setUp(() => true);
  const outcomes: string[] = [];
  const waitFor = (source: Source) =>
    queue.withinPatience(queue.flush(source)).then(
      () => outcomes.push('stored'),
      () => outcomes.push('refused'),
    );
  const slow = waitFor(new Source('slow'));
  await journal.begun(1);
  pass(3_000);
  pass(3_000);
  journal.commits[0]!.end();
  await slow;
  const refused = waitFor(new Source('failing'));
  await journal.begun(2);
  journal.commits[1]!.fail(new Error('away'));
  await new Promise((resolve) => setImmediate(resolve));
  pass(3_000);
  await refused;
  expect(outcomes).toEqual(['stored', 'refused']);
});
