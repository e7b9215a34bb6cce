import { createHash } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const lookMs = 200;

/**
 * Does the work while no other process does such work in this folder: two commands may be started side by side.
 * `waiting` is called with the number of the process that this one waits for.
 */
export async function oneAtATime(folder, work, waiting = () => {}) {
  const lock = lockOf(folder);
  let waitsFor;
  while (!take(lock)) {
    const owner = ownerOf(lock);
    if (owner === undefined) continue;
    if (!isAlive(owner)) {
      rmSync(lock, { force: true });
      continue;
    }
    if (owner !== waitsFor) waiting(owner);
    waitsFor = owner;
    await pause(lookMs);
  }
  // also when the work ends the process
  const release = () => rmSync(lock, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/** Outside of the folder, where nothing has to ignore it. */
function lockOf(folder) {
  return join(tmpdir(), `runyard-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}.lock`);
}

function take(lock) {
  // a process that is killed here leaves no lock without a number
  const own = `${lock}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, lock);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own);
  }
}

/** Undefined when it has just been released. */
function ownerOf(lock) {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // a process of another user may not be signalled
    return error.code !== 'ESRCH';
  }
}
