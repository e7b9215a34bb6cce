import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { silentLog } from '../../log.js';
import type { Timers } from '../../timers.js';
import { codeOwner, runAsOwner } from '../execution/code-owner.js';
import { Deadlines } from './deadlines.js';

/** A clock that is moved by hand, with the timers that are armed on it. */
class Clock implements Timers {
  readonly armed = new Set<{ ms: number; due: number; work: () => void }>();
  time = 0;

  now(): number {
    throw new Error('A clock that is set must not decide how long a run may take.');
  }

  elapsed(): number {
    return this.time;
  }

  soon(): void {}

  after(): () => void {
    throw new Error('This timer would keep the process alive.');
  }

  every(ms: number, work: () => void): () => void {
    const timer = { ms, due: this.time + ms, work };
    this.armed.add(timer);
    return () => void this.armed.delete(timer);
  }

  /** Moves on, and fires what is due by then. */
  moveTo(time: number): void {
    this.time = time;
    for (const timer of [...this.armed]) if (timer.due <= time) timer.work();
  }

  get waits(): number[] {
    return [...this.armed].map(({ ms }) => ms);
  }
}

function started() {
  const clock = new Clock();
  const ended: string[] = [];
  const run = (name: string) => ({ timeUp: () => void ended.push(name) });
  return { clock, deadlines: new Deadlines(clock), ended, run };
}

test('runs of one limit end in the order in which they began, each in its time, with one timer', () => {
  const { clock, deadlines, ended, run } = started();
  deadlines.add(100, run('first'));
  clock.moveTo(30);
  deadlines.add(100, run('second'));
  expect(clock.waits).toEqual([100]);
  clock.moveTo(100);
  expect(ended).toEqual(['first']);
  expect(clock.waits).toEqual([30]);
  clock.moveTo(130);
  expect(ended).toEqual(['first', 'second']);
  expect(clock.waits).toEqual([]);
});

test('a run that has ended has no time that could be up, and does not delay or hasten the others', () => {
  const { clock, deadlines, ended, run } = started();
  const [first, second, third] = [run('first'), run('second'), run('third')];
  deadlines.add(100, first);
  clock.moveTo(10);
  deadlines.add(100, second);
  clock.moveTo(20);
  deadlines.add(100, third);
  deadlines.delete(100, first);
  deadlines.delete(100, third);
  clock.moveTo(109);
  expect(ended).toEqual([]);
  clock.moveTo(110);
  expect(ended).toEqual(['second']);
  expect(clock.waits).toEqual([]);
});

test('the last one that is deleted takes the timer with it, and the next one gets its whole time', () => {
  const { clock, deadlines, ended, run } = started();
  const first = run('first');
  deadlines.add(100, first);
  deadlines.delete(100, first);
  deadlines.delete(100, first);
  expect(clock.waits).toEqual([]);
  clock.moveTo(60);
  deadlines.add(100, run('second'));
  clock.moveTo(159);
  expect(ended).toEqual([]);
  clock.moveTo(160);
  expect(ended).toEqual(['second']);
});

test('a timer that fires early ends nothing before its time', () => {
  const { clock, deadlines, ended, run } = started();
  deadlines.add(100, run('first'));
  clock.time = 99.4;
  for (const { work } of [...clock.armed]) work();
  expect(ended).toEqual([]);
  expect(clock.waits).toEqual([1]);
  clock.moveTo(100.4);
  expect(ended).toEqual(['first']);
});

test('limits that differ do not wait for each other; one whose time was up before ends at once', () => {
  const { clock, deadlines, ended, run } = started();
  deadlines.add(100, run('long'));
  deadlines.add(20, run('short'));
  deadlines.add(0, run('none'));
  clock.moveTo(1);
  expect(ended).toEqual(['none']);
  clock.moveTo(20);
  expect(ended).toEqual(['none', 'short']);
});

test('runs that end together may end each other', () => {
  const { clock, deadlines, ended, run } = started();
  const second = run('second');
  deadlines.add(100, {
    timeUp: () => {
      ended.push('first');
      deadlines.delete(100, second);
    },
  });
  deadlines.add(100, second);
  clock.moveTo(100);
  expect(ended).toEqual(['first']);
  expect(clock.waits).toEqual([]);
});

test('one that throws leaves the others their timer', () => {
  const { clock, deadlines, ended, run } = started();
  const broken = new Error('broken');
  deadlines.add(100, {
    timeUp: () => {
      throw broken;
    },
  });
  deadlines.add(100, run('second'));
  expect(() => clock.moveTo(100)).toThrow(broken);
  expect(clock.waits).toEqual([1]);
  clock.moveTo(101);
  expect(ended).toEqual(['second']);
  expect(clock.waits).toEqual([]);
});

test('one that adds another at its end leaves one timer, for the first that is due', () => {
  const { clock, deadlines, ended, run } = started();
  deadlines.add(100, { timeUp: () => deadlines.add(100, run('third')) });
  clock.moveTo(50);
  deadlines.add(100, run('second'));
  clock.moveTo(100);
  expect(clock.waits).toEqual([50]);
  clock.moveTo(150);
  clock.moveTo(200);
  expect(ended).toEqual(['second', 'third']);
});

test('the timer belongs to none of the runs: what it calls is not the work of the one that began first', () => {
  const owners: unknown[] = [];
  const requests = new AsyncLocalStorage<string>();
  const { clock } = started();
  const timers = {
    ...clock,
    elapsed: () => 0,
    every: () => {
      owners.push(codeOwner(), requests.getStore());
      return () => {};
    },
  } as unknown as Timers;
  const owner = { log: silentLog, facts: { component: 'a', step: 'tool' } };
  const add = () => new Deadlines(timers).add(100, { timeUp: () => {} });
  requests.run('the first', () => runAsOwner(owner, add));
  expect(owners).toEqual([undefined, undefined]);
});
