import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import * as zlib from 'node:zlib';

/**
 * Once a service has started: what it has compiled by then is what the next start needs. A machine with other work may
 * take long for a start, and some services never rest: the code is kept after a time with little work, or after the last.
 * A process that ends earlier keeps what it has compiled, until one that lives long enough replaces it.
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
  if (!usable?.isSettled) {
    const isEarlier = (other: string) => other.startsWith(`${name}-`) && other.endsWith(`-${tag}.bin`);
    const atExit = () => keep(script, { kept, isEarlier, isSettled: false });
    if (usable === undefined) keptAtExit.add(atExit);
    whenSettled(() => {
      keptAtExit.delete(atExit);
      keep(script, { kept, isEarlier, isSettled: true });
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

interface Keeping {
  /** The name of the file. */
  readonly kept: string;
  readonly isEarlier: (name: string) => boolean;
  /** Whether the process has lived long enough to have compiled what a start needs. */
  readonly isSettled: boolean;
}

/** Where the package may not be written to, each start compiles. */
function keep(script: Script, { kept, isEarlier, isSettled }: Keeping): void {
  try {
    mkdirSync(folder, { recursive: true });
    const written = new URL(`${kept}.${process.pid}`, folder);
    const data = script.createCachedData();
    const head = Buffer.alloc(headBytes);
    head.writeUInt32LE(checksumOf(data));
    head.writeUInt32LE(isSettled ? 1 : 0, 4);
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
function soundContentOf(file: URL): { readonly data: Buffer; readonly isSettled: boolean } | undefined {
  try {
    const content = readFileSync(file);
    const data = content.subarray(headBytes);
    if (checksumOf(data) !== content.readUInt32LE()) return undefined;
    return { data, isSettled: content.readUInt32LE(4) === 1 };
  } catch {
    return undefined;
  }
}

/** A checksum and whether the process had settled. V8 copies data that does not begin at a multiple of eight bytes. */
const headBytes = 8;

/** It finds damage, and does not have to find more: who may write here could also write another checksum. */
const checksumOf: (data: Buffer) => number =
  // versions before 20.15 do not have it
  zlib.crc32 ?? ((data) => createHash('sha256').update(data).digest().readUInt32LE());
