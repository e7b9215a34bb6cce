import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { isLeaseOwnerGone, newLeaseOwner } from './lease-owner.js';
import { ownBirth, processNow } from './process-birth.js';

/** The owner that a process with this number and this start would have here. */
function ownerOf(pid: number, { start = processNow(pid)?.start, ...changed }: Partial<Birth> = {}): string {
  const { boot, namespace } = { ...ownBirth()!, ...changed };
  return `${hostname()}:${pid}:some-id:${boot}/${namespace}/${start}`;
}

interface Birth {
  readonly boot: string;
  readonly namespace: string;
  readonly start: string | undefined;
}

/** A program that does nothing, and its owner. */
async function sleeper(command = 'exec sleep 600'): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn('/bin/sh', ['-c', command]);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  return child as ChildProcess & { readonly pid: number };
}

/** What the system says about a process; empty when there is none with this number. */
function statOf(pid: number): string {
  return existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
}

test('an owner of this process is there, as long as the process made it', () => {
  const owner = newLeaseOwner();
  expect(isLeaseOwnerGone(owner)).toBe(false);
  expect(isLeaseOwnerGone(owner.replace(/:[^:]*-[^:]*/, ':another-id'))).toBe(true);
});

test('an owner on another host, and one that no process made, is never judged', () => {
  expect(isLeaseOwnerGone(`not-${newLeaseOwner()}`)).toBe(false);
  expect(isLeaseOwnerGone('dead')).toBe(false);
  expect(isLeaseOwnerGone(`${hostname()}:x:id`)).toBe(false);
  expect(isLeaseOwnerGone(`${hostname()}:-1:id`)).toBe(false);
});

test('an owner of an earlier version is judged by its process id', async () => {
  const child = await sleeper();
  const owner = `${hostname()}:${child.pid}:some-id`;
  expect(isLeaseOwnerGone(owner)).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await until('the process is gone', () => isLeaseOwnerGone(owner));
});

describe.runIf(process.platform === 'linux')('on Linux', () => {
  test('a process that was killed and not reaped is gone', async () => {
    const parent = await sleeper('sleep 600 & echo $!; wait');
    const [line] = (await once(parent.stdout!, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const owners = [ownerOf(pid), `${hostname()}:${pid}:some-id`];
    expect(owners.map(isLeaseOwnerGone)).toEqual([false, false]);
    // a parent that stands still reaps none of its children
    parent.kill('SIGSTOP');
    await until('the parent stands still', () => /\) T /.test(statOf(parent.pid)));
    process.kill(pid, 'SIGKILL');
    await until('it has ended', () => {
      expect([statOf(parent.pid), statOf(pid)]).not.toContain('');
      return processNow(pid)?.hasEnded;
    });
    expect(process.kill(pid, 0)).toBe(true);
    expect(owners.map(isLeaseOwnerGone)).toEqual([true, true]);
  });

  test('another process that has its number now is not taken for it', async () => {
    const { pid } = await sleeper();
    expect(isLeaseOwnerGone(ownerOf(pid))).toBe(false);
    expect(isLeaseOwnerGone(ownerOf(pid, { start: '1' }))).toBe(true);
  });

  test('a process from before the machine started again is gone', async () => {
    const { pid } = await sleeper();
    expect(isLeaseOwnerGone(ownerOf(pid, { boot: 'another-boot' }))).toBe(true);
  });
});
