import { errorCode } from './error-code.js';
import { reasonOf } from './reason.js';

/** Why a file that the application names cannot be read. */
export function fileFault(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT')
    return 'there is no such file (ENOENT). A relative path starts at the working directory';
  if (code === 'EISDIR') return 'it is a folder';
  return code === 'EACCES' || code === 'EPERM' ? 'this process may not read it' : reasonOf(error);
}
