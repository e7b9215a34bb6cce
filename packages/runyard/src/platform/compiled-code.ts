import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** Once a service has started: what it has compiled by then is what the next start needs. */
const settledMs = 2_000;

/** In the package itself: a process that may write there could change the code as well. */
const folder = new URL('../../.cache/', import.meta.url);

/**
 * The function that a file of the bundle consists of, with the compiled code that an earlier process has kept: without
 * that, half of a start is compiling. Node keeps compiled modules by itself only from version 22 on.
 */
export function compiledCode(file: URL, hash: string): unknown {
  // V8 itself compares no more of the source than its length
  const kept = new URL(`${hash}-${cachedDataVersionTag()}.bin`, folder);
  const cachedData = soundContentOf(kept);
  // the bundle is ASCII, which this reads fastest
  const script = new Script(readFileSync(file, 'latin1'), { filename: fileURLToPath(file), cachedData });
  if (cachedData === undefined || script.cachedDataRejected)
    setTimeout(() => keep(script, kept), settledMs).unref();
  return script.runInThisContext();
}

/** Where the package may not be written to, each start compiles. */
function keep(script: Script, kept: URL): void {
  try {
    mkdirSync(folder, { recursive: true });
    const written = new URL(`${kept.href}.${process.pid}`);
    const data = script.createCachedData();
    writeFileSync(written, Buffer.concat([digestOf(data), data]));
    renameSync(written, kept);
    // those of earlier versions of the package
    const [, tag = ''] = kept.href.split(/(?=-\d+\.bin$)/);
    for (const name of readdirSync(folder)) {
      const other = new URL(name, folder);
      if (name.endsWith(tag) && other.href !== kept.href) rmSync(other, { force: true });
    }
  } catch {
    // nothing is kept
  }
}

/** V8 ends the process over code that was damaged, as a power cut may damage it. */
function soundContentOf(file: URL): Buffer | undefined {
  try {
    const content = readFileSync(file);
    const data = content.subarray(digestBytes);
    return digestOf(data).equals(content.subarray(0, digestBytes)) ? data : undefined;
  } catch {
    return undefined;
  }
}

const digestBytes = 32;

function digestOf(data: Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
