import { createHash } from 'node:crypto';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const lookMs = 200;

/**
 * Does the work while no other process does such work in this folder: two commands may run side by side. Calls
 * `waiting` with the id of the process that it waits for.
 */
export async function oneAtATime(folder, work, waiting = () => {}) {
  const turns = new Turns(turnsFolder(folder));
  let waitsFor;
  for (;;) {
    const pid = turns.take();
    if (pid === undefined) break;
    if (pid !== waitsFor) waiting(pid);
    waitsFor = pid;
    await pause(lookMs);
  }
  // also when the work ends the process
  const end = () => turns.end();
  process.once('exit', end);
  try {
    return await work();
  } finally {
    process.off('exit', end);
    end();
  }
}

/** Outside the folder, so that nothing has to ignore it. Each user has one, which others may not write to. */
export function turnsFolder(folder) {
  const place = `${process.getuid?.() ?? ''} ${folder}`;
  return join(tmpdir(), `runyard-${createHash('sha256').update(place).digest('hex').slice(0, 16)}.turns`);
}

/**
 * Numbered files, of which the last one counts: it names the process whose turn it is, or is empty. The next process
 * adds one, which only one can do. It does not remove the last one first: another process, which has looked at it as
 * well, could remove the file of that process instead.
 */
class Turns {
  #number = 0;

  constructor(folder) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOwn(folder))
      throw new Error(
        `${folder} belongs to another user, or others may write to it. Remove it, or set TMPDIR to a folder of your own.`,
      );
  }

  /** Undefined when the turn is taken; otherwise the process whose turn it is. */
  take() {
    for (;;) {
      const last = this.#last();
      const owner = last === 0 ? '' : this.#ownerOf(last);
      if (owner === undefined) continue;
      const pid = runningProcess(owner);
      if (pid !== undefined) return pid;
      if (this.#add(last + 1)) return undefined;
    }
  }

  end() {
    renameSync(this.#write(''), this.#path(this.#number));
  }

  #add(number) {
    const path = this.#write(ownerNow());
    try {
      linkSync(path, this.#path(number));
    } catch (error) {
      if (error.code === 'EEXIST') return false;
      throw error;
    } finally {
      rmSync(path);
    }
    const numbers = this.#numbers();
    const isLast = numbers.every((other) => other <= number);
    // the number was free because a later turn had removed its file
    if (!isLast) rmSync(this.#path(number), { force: true });
    else for (const other of numbers) if (other < number) rmSync(this.#path(other), { force: true });
    this.#number = number;
    return isLast;
  }

  /** A file is complete before it gets its number. */
  #write(text) {
    const path = join(this.folder, `of-${process.pid}`);
    writeFileSync(path, text);
    return path;
  }

  #last() {
    return Math.max(0, ...this.#numbers());
  }

  #numbers() {
    return readdirSync(this.folder)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  }

  /** Undefined when a later turn has removed it. */
  #ownerOf(number) {
    try {
      return readFileSync(this.#path(number), 'utf8');
    } catch (error) {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  #path(number) {
    return join(this.folder, String(number));
  }
}

/** Anyone may create a folder with this name, and could put links into it that lead to files of this user. */
function isOwn(folder) {
  const { uid, mode } = lstatSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o22) === 0);
}

function ownerNow() {
  return `${process.pid} ${startOf(process.pid)}`;
}

/** The id of the process if it still runs; undefined if a later process has its id. */
function runningProcess(owner) {
  const [id, start] = owner.split(' ');
  const pid = Number(id);
  if (!Number.isInteger(pid) || pid <= 0 || startOf(pid) !== start) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    // a process of another user may not be signalled
    return error.code === 'ESRCH' ? undefined : pid;
  }
}

/** When the process started, in ticks since the machine booted; a dash where the system does not show it. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return '-';
  }
}
