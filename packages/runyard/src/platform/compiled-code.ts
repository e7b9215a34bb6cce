import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag, getHeapCodeStatistics } from 'node:v8';
import { Script } from 'node:vm';
import * as zlib from 'node:zlib';

/**
 * Once a service has started: what it has compiled by then is what the next start needs. A machine with other work may
 * take long for a start, and some services never rest: the code is kept after a time with little work, or after the last.
 * A process that ends earlier keeps what it has compiled, until one that has compiled more, or lives long enough, replaces
 * it.
 */
const settledMs = 2_000;
const restingMs = 200;
const mostTimes = 5;

export const requireBuiltin = createRequire(import.meta.url);

/** In the package itself: a process that may write there could change the code as well. */
const folder = new URL('../../.cache/', import.meta.url);

/**
 * The function that a file of the bundle consists of, with the compiled code that an earlier process has kept: without
 * that, half of a start is compiling. Node keeps compiled modules by itself only from version 22 on.
 */
export function compiledCode(file: URL, hash: string): unknown {
  const filename = fileURLToPath(file);
  const [name, tag] = [basename(filename, '.code.js'), cachedDataVersionTag()];
  // V8 itself compares no more of the source than its length
  const kept = `${name}-${hash}-${tag}.bin`;
  const found = soundContentOf(new URL(kept, folder));
  // the bundle is ASCII, which this reads fastest
  const script = new Script(readFileSync(file, 'latin1'), { filename, cachedData: found?.data });
  const usable = script.cachedDataRejected === false ? found : undefined;
  if (usable?.amount !== settled) {
    const isEarlier = (other: string) => other.startsWith(`${name}-`) && other.endsWith(`-${tag}.bin`);
    const atExit = () => {
      const amount = compiledAmount();
      if (usable === undefined || amount > usable.amount * muchMore)
        keep(script, { kept, isEarlier, amount });
    };
    keptAtExit.add(atExit);
    whenSettled(() => {
      keptAtExit.delete(atExit);
      keep(script, { kept, isEarlier, amount: settled });
    });
  }
  return script.runInThisContext();
}

/** With one listener: Node warns of more than ten. */
const keptAtExit = new Set<() => void>();
process.once('exit', () => {
  for (const keepNow of keptAtExit) keepNow();
});

function whenSettled(work: () => void, times = 1): void {
  const before = process.cpuUsage();
  setTimeout(() => {
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1_000 < restingMs || times === mostTimes) work();
    else whenSettled(work, times + 1);
  }, settledMs).unref();
}

/** The amount of a process that has lived long enough to have compiled what a start needs. */
const settled = 0xffff_ffff;
/** A command that starts no service has compiled less than this part of what a start needs. */
const muchMore = 1.1;

/** In bytes: the code of the application counts, too, which varies less than what commands need. */
function compiledAmount(): number {
  return Math.min(getHeapCodeStatistics().bytecode_and_metadata_size, settled - 1);
}

interface Keeping {
  /** The name of the file. */
  readonly kept: string;
  readonly isEarlier: (name: string) => boolean;
  /** How much the process has compiled in all, or `settled`. */
  readonly amount: number;
}

/** Where the package may not be written to, each start compiles. */
function keep(script: Script, { kept, isEarlier, amount }: Keeping): void {
  try {
    mkdirSync(folder, { recursive: true });
    const written = new URL(`${kept}.${process.pid}`, folder);
    const data = script.createCachedData();
    const head = Buffer.alloc(headBytes);
    head.writeUInt32LE(checksumOf(data));
    head.writeUInt32LE(amount, 4);
    writeFileSync(written, Buffer.concat([head, data]));
    renameSync(written, new URL(kept, folder));
    // of earlier versions of the package
    for (const name of readdirSync(folder))
      if (name !== kept && isEarlier(name)) rmSync(new URL(name, folder), { force: true });
  } catch {
    // nothing is kept
  }
}

/** V8 ends the process over code that was damaged, as a power cut may damage it. */
function soundContentOf(file: URL): { readonly data: Buffer; readonly amount: number } | undefined {
  try {
    const content = readFileSync(file);
    const data = content.subarray(headBytes);
    if (checksumOf(data) !== content.readUInt32LE()) return undefined;
    return { data, amount: content.readUInt32LE(4) };
  } catch {
    return undefined;
  }
}

/** A checksum and the amount. V8 copies data that does not begin at a multiple of eight bytes. */
const headBytes = 8;

/** It finds damage, and does not have to find more: who may write here could also write another checksum. */
const checksumOf: (data: Buffer) => number =
  // versions before 20.15 do not have it
  zlib.crc32 ?? ((data) => createHash('sha256').update(data).digest().readUInt32LE());
