import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../core/errors/error-code.js';

/** Makes a folder and its missing parents, one by one: `recursive` of Node never returns below a folder like `/proc`. */
export function makeFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found !== undefined) throw Object.assign(new Error(`${path} is a file`), { code: 'ENOTDIR' });
  const parent = dirname(path);
  // a drive that is not there is its own parent
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
