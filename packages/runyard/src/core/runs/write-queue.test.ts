import { describe, expect, test } from 'vitest';
import { silentLog } from '../log.js';
import type { Timers } from '../timers.js';
import { MemoryJournal } from './memory-journal.js';
import type { RefusedWrite, RunJournal, RunWrite } from './ports.js';
import type { Run } from './run.js';
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

  async begun(count: number): Promise<void> {
    while (this.commits.length < count) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  runsOf(commit: number): string[] {
    return this.commits[commit]!.writes.map(({ runId }) => runId);
  }
}

class Source implements WriteSource {
  dirty = true;
  state: 'open' | 'written' | 'refused' = 'open';
  constructor(readonly runId: string) {}
  drain(): RunWrite | undefined {
    if (!this.dirty) return undefined;
    this.dirty = false;
    return { runId: this.runId, attempt: 1, steps: [] };
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
  const queue = new WriteQueue(journal as unknown as RunJournal, time.timers, silentLog, isTransient);
  return { journal, queue, ...time };
}

describe('group commit', () => {
  test('writes that come together share a transaction; those that come meanwhile share the next', async () => {
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

  test('nobody is told before the transaction ended', async () => {
    const { journal, queue } = setUp();
    const source = new Source('a');
    let told = false;
    const flushed = queue.flush(source).then(() => {
      told = true;
    });
    await journal.begun(1);
    expect([told, source.state]).toEqual([false, 'open']);
    journal.commits[0]!.end();
    await flushed;
    expect([told, source.state]).toEqual([true, 'written']);
  });

  test('a write that nobody waits for goes with the next batch, or by itself after a moment', async () => {
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

  test('touched while a transaction is under way is not forgotten', async () => {
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

  test('two runs under one id are never in one transaction, so that each is told its own fate', async () => {
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
  test('a refused write tells its own run and no other', async () => {
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

  test('a write that cannot be stored does not take the others of its batch with it', async () => {
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

  test('a database that is away for a moment delays, it does not fail', async () => {
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
