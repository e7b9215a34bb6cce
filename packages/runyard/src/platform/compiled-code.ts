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
  const cachedData = soundContentOf(new URL(kept, folder));
  // the bundle is ASCII, which this reads fastest
  const script = new Script(readFileSync(file, 'latin1'), { filename, cachedData });
  if (cachedData === undefined || script.cachedDataRejected) {
    const isEarlier = (other: string) => other.startsWith(`${name}-`) && other.endsWith(`-${tag}.bin`);
    whenSettled(() => keep(script, kept, isEarlier));
  }
  return script.runInThisContext();
}

function whenSettled(work: () => void, times = 1): void {
  const before = process.cpuUsage();
  setTimeout(() => {
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1_000 < restingMs || times === mostTimes) work();
    else whenSettled(work, times + 1);
  }, settledMs).unref();
}

/** Where the package may not be written to, each start compiles. */
function keep(script: Script, kept: string, isEarlier: (name: string) => boolean): void {
  try {
    mkdirSync(folder, { recursive: true });
    const written = new URL(`${kept}.${process.pid}`, folder);
    const data = script.createCachedData();
    const checksum = Buffer.alloc(checksumBytes);
    checksum.writeUInt32LE(checksumOf(data));
    writeFileSync(written, Buffer.concat([checksum, data]));
    renameSync(written, new URL(kept, folder));
    // of earlier versions of the package
    for (const name of readdirSync(folder))
      if (name !== kept && isEarlier(name)) rmSync(new URL(name, folder), { force: true });
  } catch {
    // nothing is kept
  }
}

/** V8 ends the process over code that was damaged, as a power cut may damage it. */
function soundContentOf(file: URL): Buffer | undefined {
  try {
    const content = readFileSync(file);
    const data = content.subarray(checksumBytes);
    return checksumOf(data) === content.readUInt32LE() ? data : undefined;
  } catch {
    return undefined;
  }
}

const checksumBytes = 4;

/** It finds damage, and does not have to find more: who may write here could also write another checksum. */
const checksumOf: (data: Buffer) => number =
  // versions before 20.15 do not have it
  zlib.crc32 ?? ((data) => createHash('sha256').update(data).digest().readUInt32LE());
