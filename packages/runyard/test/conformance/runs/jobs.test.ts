import { describe, expect, it, onTestFinished } from 'vitest';
import { JobStore } from '../../../src/capabilities/runs/storage/job-store.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { inProcessJobs } from '../../../src/core/components/component-space.js';
import { newId } from '../../../src/core/ids.js';
import { InProcessLearnings } from '../../../src/core/learnings/in-process-learnings.js';
import { silentLog } from '../../../src/core/log.js';
import { InProcessMedia } from '../../../src/core/media/in-process-media.js';
import { InProcessMemories } from '../../../src/core/memory/in-process-memories.js';
import { InProcessResponses } from '../../../src/core/models/cache/in-process-responses.js';
import { defineJob, type Job, type JobContext } from '../../../src/core/runs/jobs/job.js';
import { Jobs, type JobsOptions } from '../../../src/core/runs/jobs/jobs.js';
import { inputRecord, outputRecord } from '../../../src/core/runs/journal/codec.js';
import { MemoryJournal } from '../../../src/core/runs/journal/memory-journal.js';
import type { RunJournal } from '../../../src/core/runs/journal/ports.js';
import { list, number, object, text } from '../../../src/core/runs/journal/shapes.js';
import type { RunLeases } from '../../../src/core/runs/leases/run-leases.js';
import type { RunQueue } from '../../../src/core/runs/leases/run-queue.js';
import { RunSlots } from '../../../src/core/runs/leases/run-slots.js';
import { InProcessNotifications } from '../../../src/core/runs/notifications/in-process-notifications.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { gate } from '../../heart/harness.js';
import { forEachDatabase } from '../../support/databases.js';
import type { Body } from '../../support/service.js';
import { until } from '../../support/until.js';
import { aRun, creation } from '../builders.js';

type Work = (context: JobContext, given: { readonly names: readonly string[] }) => Promise<number>;

const given = inputRecord('counting', 1, object({ names: list(text) }));
const counted = outputRecord('counted', 1, object({ length: number }));
const total = outputRecord('total', 1, object({ total: number }));

function counting(execute: Work) {
  return defineJob({
    kind: 'counting',
    input: given,
    result: total,
    execute: async (context, input) => ({ total: await execute(context, input) }),
  });
}

/** Adds up the lengths of the names, a step for each. */
const addUp: Work = async ({ step, progress }, { names }) => {
  let sum = 0;
  for (const [done, name] of names.entries()) {
    const work = async () => ({ length: name.length });
    sum += (await step(`name:${done}`, { name: 'count', record: counted }, work)).length;
    progress({ done: done + 1, total: names.length, message: 'names' });
  }
  return sum;
};

interface JobJournal extends RunJournal {
  readonly leases: RunLeases;
  readonly queue: RunQueue;
}

function jobsOver(journal: JobJournal, jobs: readonly Job[], options: Partial<JobsOptions> = {}): Jobs {
  const opened = new Jobs({
    journal,
    leases: journal.leases,
    queue: journal.queue,
    notifications: new InProcessNotifications(),
    ports: {
      media: new InProcessMedia(),
      memories: new InProcessMemories(),
      learnings: new InProcessLearnings(),
      responses: new InProcessResponses(systemTimers),
      pastSessions: { latest: async () => [], read: async () => undefined },
      recall: { put: async () => {}, nearest: async () => [] },
    },
    timers: systemTimers,
    log: silentLog,
    owner: `test:${newId()}`,
    leaseMs: 60_000,
    slots: new RunSlots({ executing: 2, waiting: 0 }),
    isTransient: () => false,
    jobs,
    ...options,
  });
  onTestFinished(() => opened.stop());
  return opened;
}

async function eventsOf(jobs: Jobs, jobId: string): Promise<Body[]> {
  const reader = jobs.events(jobId);
  const seen: Body[] = [];
  for (let events = await reader.next(); events !== null; events = await reader.next())
    for (const event of events) seen.push(JSON.parse(event.data));
  return seen;
}

function forEachJobJournal(define: (aJournal: () => Promise<JobJournal>) => void): void {
  describe('in memory', () =>
    define(async () => {
      const journal = new MemoryJournal();
      return Object.assign(journal, { leases: journal, queue: journal });
    }));
  forEachDatabase((_dialect, freshPlace) =>
    define(async () => new JobStore(await (await freshPlace()).open())),
  );
}

forEachJobJournal((aJournal) => {
  it('executes a job, with its result, its progress and its end as events, once for each id', async () => {
    const journal = await aJournal();
    const job = counting(addUp);
    const jobs = jobsOver(journal, [job]);
    const input = { names: ['a', 'bb', 'ccc'] };
    expect(await jobs.start(job, input, { jobId: 'one', userId: 'mia' })).toEqual({
      jobId: 'one',
      isNew: true,
    });
    expect(await jobs.ended(job, 'one')).toMatchObject({
      ...{ jobId: 'one', kind: 'counting', userId: 'mia', status: 'completed', result: { total: 6 } },
    });
    const events = await eventsOf(jobs, 'one');
    expect(await jobs.events('one', 9_999_999_999).next()).toBeNull();
    expect(events.map(({ event }) => event)).toEqual([
      ...['JobStarted', 'JobProgress', 'JobProgress', 'JobCompleted'],
    ]);
    expect(events[2]).toEqual({
      ...{ event: 'JobProgress', job_id: 'one', kind: 'counting', created_at: expect.any(Number) },
      ...{ done: 3, total: 3, percent: 100, message: 'names', event_index: 2 },
    });
    expect(await jobs.start(job, { names: [] }, { jobId: 'one' })).toEqual({ jobId: 'one', isNew: false });
    expect((await jobs.find(job, 'one'))?.result).toEqual({ total: 6 });
    expect(await jobs.find(job, 'another')).toBeUndefined();
  });

  it('executes so many jobs at once, the others in their order, whichever process has a free slot', async () => {
    const journal = await aJournal();
    const begun: string[] = [];
    const held = gate();
    const job = counting(async ({ jobId }) => {
      begun.push(jobId);
      await held.promise;
      return 0;
    });
    const jobs = jobsOver(journal, [job], { slots: new RunSlots({ executing: 1, waiting: 0 }) });
    for (const jobId of ['c', 'b', 'a']) {
      await jobs.start(job, { names: [] }, { jobId });
      // the order is that of the clock of the database, which counts milliseconds
      const { leases } = journal;
      const now = await leases.now();
      await until('the clock ticks', async () => (await leases.now()) > now);
    }
    await until('the first has begun', () => begun.length > 0);
    expect(begun).toEqual(['c']);
    const other = jobsOver(journal, [job], { slots: new RunSlots({ executing: 1, waiting: 0 }) });
    await other.open();
    await until('the other process has taken one', () => begun.length > 1);
    expect(begun).toEqual(['c', 'b']);
    held.open();
    await jobs.ended(job, 'a');
    expect(begun).toEqual(['c', 'b', 'a']);
  });

  it('executes jobs with slots of their own while all others are taken, and others while they wait', async () => {
    const journal = await aJournal();
    const [begun, held, waited] = [[] as string[], gate(), gate()];
    const work: Work = async ({ jobId, idle }) => {
      begun.push(jobId);
      if (jobId.startsWith('waits')) await idle(() => waited.promise);
      else await held.promise;
      return 0;
    };
    const long = { ...counting(work), kind: 'long' };
    const own = { ...counting(work), kind: 'own', ownSlots: 1 };
    const journalOf =
      journal instanceof JobStore ? { orphans: { journal: journal.orphans, endAfterMs: 0 } } : {};
    const slots = new RunSlots({ executing: 1, waiting: 0 });
    const jobs = jobsOver(journal, [long, own], { slots, ...journalOf });
    for (const jobId of ['long 1', 'long 2']) await jobs.start(long, { names: [] }, { jobId });
    for (const jobId of ['waits 1', 'own 1', 'own 2']) {
      await jobs.start(own, { names: [] }, { jobId });
      await jobs.recover();
    }
    await until('the slots are taken', () => begun.length === 3);
    expect(begun.toSorted()).toEqual(['long 1', 'own 1', 'waits 1']);
    waited.open();
    held.open();
    for (const jobId of ['waits 1', 'own 1', 'own 2']) await jobs.ended(own, jobId);
    for (const jobId of ['long 1', 'long 2']) await jobs.ended(long, jobId);
  });

  it('cancels a job that is executed here, in another process, or not yet', async () => {
    const journal = await aJournal();
    const begun: string[] = [];
    const job = counting(async ({ jobId, signal }) => {
      begun.push(jobId);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const slots = new RunSlots({ executing: 2, waiting: 0 });
    const [here, elsewhere] = [jobsOver(journal, [job], { slots }), jobsOver(journal, [job])];
    await here.open();
    for (const jobId of ['a', 'b', 'c']) await here.start(job, { names: [] }, { jobId });
    await until('two have begun', () => begun.length === 2);
    expect(await here.cancel(job, begun[0]!, 'enough')).toBe(true);
    await until('the third has begun', () => begun.length === 3);
    expect(await elsewhere.cancel(job, begun[1]!, 'enough')).toBe(true);
    expect(await here.cancel(job, begun[2]!, 'enough')).toBe(true);
    expect(await here.cancel(job, begun[2]!, 'again')).toBe(true);
    for (const jobId of begun) expect(await here.find(job, jobId)).toMatchObject({ status: 'cancelled' });
    expect((await eventsOf(elsewhere, begun[1]!)).at(-1)).toMatchObject({
      event: 'JobCancelled',
      reason: 'enough',
    });
  });

  it('continues a job that its process released, without repeating the steps that ended', async () => {
    const journal = await aJournal();
    const done: string[] = [];
    const held = gate();
    const job = counting(async ({ step, attempt }, { names }) => {
      for (const name of names)
        await step(name, { name: 'count', record: counted }, async () => {
          if (name === 'second' && attempt === 1) await held.promise;
          done.push(`${name} in ${attempt}`);
          return { length: 1 };
        });
      return names.length;
    });
    const first = jobsOver(journal, [job]);
    await first.start(job, { names: ['first', 'second'] }, { jobId: 'one' });
    await until('the first step is done', () => done.length === 1);
    await first.stop();
    const second = jobsOver(journal, [job]);
    await second.open();
    expect((await second.ended(job, 'one')).result).toEqual({ total: 2 });
    expect(done).toEqual(['first in 1', 'second in 2']);
    const started = (await eventsOf(second, 'one')).filter(({ event }) => event === 'JobStarted');
    expect(started.map(({ attempt }) => attempt)).toEqual([1, 2]);
    held.open();
  });
});

describe('a job', () => {
  const job = counting(addUp);

  it('does not repeat work that must not happen twice when its process has died', async () => {
    const store = new MemoryJournal();
    const journal = Object.assign(store, { leases: store, queue: store });
    let calls = 0;
    const job = counting(async ({ step }) => {
      const lost = () => ({ length: -1 });
      const { length } = await step('call', { name: 'call', record: counted, lost }, () => {
        calls += 1;
        return new Promise(() => {});
      });
      return length;
    });
    const first = jobsOver(journal, [job]);
    await first.start(job, { names: [] }, { jobId: 'one' });
    await until('it is called', () => calls === 1);
    await first.stop();
    const second = jobsOver(journal, [job]);
    await second.open();
    expect((await second.ended(job, 'one')).result).toEqual({ total: -1 });
    expect(calls).toBe(1);
  });

  it('is refused when its input does not fit, or is too large, and when two have one kind', async () => {
    const jobs = inProcessJobs([job], systemTimers);
    await expect(jobs.start(job, { names: [1] } as never)).rejects.toThrow("damaged at 'names.0'");
    await expect(jobs.start(job, { names: ['x'.repeat(1_100_000)] })).rejects.toThrow(
      "The input of a job of the kind 'counting' may have 1048576 characters as JSON, and has 1100014.",
    );
    expect(() => inProcessJobs([job, job], systemTimers)).toThrow('Two jobs have the same kind: counting');
    expect(() => defineJob({ ...job, retries: 3 } as never)).toThrow('retries is not an option');
  });

  it('tries a failed step again, and fails with the words of the last failure', async () => {
    let tries = 0;
    const retry = { maxRetries: 2, backoff: { delayMs: 1 } };
    const job = counting(async ({ step }, { names }) => {
      const { length } = await step('it', { name: 'count', record: counted, retry }, async () => {
        tries += 1;
        if (tries < 3 || names.length > 0) throw new Error(`try ${tries} failed`);
        return { length: 7 };
      });
      return length;
    });
    const jobs = inProcessJobs([job], systemTimers);
    const { jobId } = await jobs.start(job, { names: [] });
    expect((await jobs.ended(job, jobId)).result).toEqual({ total: 7 });
    tries = 0;
    const failing = await jobs.start(job, { names: ['fails'] });
    expect(await jobs.ended(job, failing.jobId)).toMatchObject({
      status: 'error',
      error: { type: 'Error', message: 'try 3 failed' },
    });
    expect((await eventsOf(jobs, failing.jobId)).at(-1)).toMatchObject({
      event: 'JobFailed',
      error: { type: 'Error', message: 'try 3 failed' },
    });
  });

  it('is executed without a service too', async () => {
    const jobs = inProcessJobs([job], systemTimers);
    const started = await Promise.all([1, 2, 3, 4].map(() => jobs.start(job, { names: ['abc'] })));
    for (const { jobId } of started) expect((await jobs.ended(job, jobId)).result).toEqual({ total: 3 });
  });
});

forEachDatabase((_dialect, freshPlace) => {
  it('of a kind that no process has is ended after a time, and leaves the runs alone', async () => {
    const database = await (await freshPlace()).open();
    const journal = new JobStore(database);
    const job = counting(addUp);
    const without = (endAfterMs: number) =>
      jobsOver(journal, [{ ...job, kind: 'other' }], { orphans: { journal: journal.orphans, endAfterMs } });
    // stored by a process that has no free slot
    const full = jobsOver(journal, [job], { slots: new RunSlots({ executing: 0, waiting: 0 }) });
    const { jobId } = await full.start(job, { names: [] });
    await without(3_600_000).open();
    expect(await full.find(job, jobId)).toMatchObject({ status: 'pending' });
    const runs = new RunStore(database);
    const run = aRun({ status: 'pending', leaseOwner: null, leaseExpiresAt: null });
    await runs.commit([creation(run)]);
    const impatient = without(1);
    await until('it is old enough', async () => {
      await impatient.recover();
      return (await full.find(job, jobId))?.status === 'error';
    });
    expect((await full.find(job, jobId))?.error?.message).toContain(
      "Jobs of the kind 'counting' are not registered, and no process took this one up for",
    );
    expect((await runs.load(run.runId))?.run.status).toBe('pending');
    expect(await runs.load(jobId)).toBeUndefined();
  });
});
