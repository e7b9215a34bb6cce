import { open } from 'node:fs/promises';
import { errorCode } from '../../../core/errors/error-code.js';
import { errors } from '../../../core/errors/errors.js';
import { KeySet, type KeySetOptions, largestKeySet } from './key-set.js';
import { KeyFault } from './keys.js';
import type { LoadKeys } from './reloading-keys.js';

/** Reads the JWKS of a file, when it is another one than at the last time. */
export function jwksFileLoader(path: string, algorithms: KeySetOptions['algorithms']): LoadKeys {
  let seen: string | undefined;
  return async () => {
    const { text, version } = await readIfChanged(path, seen);
    if (text === undefined) return undefined;
    const keys = parsed(path, text, algorithms);
    // only now: a file that was caught half written is read again
    seen = version;
    return keys;
  };
}

async function readIfChanged(
  path: string,
  seen: string | undefined,
): Promise<{ version: string; text?: string }> {
  try {
    const file = await open(path, 'r');
    try {
      const { size, ino, mtimeMs, ctimeMs } = await file.stat();
      const version = [size, ino, mtimeMs, ctimeMs].join(' ');
      if (version === seen) return { version };
      if (size > largestKeySet) throw new KeyFault(`is larger than ${largestKeySet} bytes`);
      return { version, text: await file.readFile('utf8') };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = errorCode(error);
    if (error instanceof KeyFault) throw fileFault(path, error.message);
    throw fileFault(path, code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
  }
}

function parsed(path: string, text: string, algorithms: KeySetOptions['algorithms']): KeySet {
  try {
    return KeySet.parse(text, { algorithms, secrets: true });
  } catch (error) {
    if (error instanceof KeyFault) throw fileFault(path, error.message);
    throw error;
  }
}

function fileFault(path: string, reason: string): Error {
  return errors.invalidConfig(`jwksFile ${path} ${reason}.`);
}
