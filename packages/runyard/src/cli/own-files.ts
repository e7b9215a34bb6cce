import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Whether a file is the application's own, not one of a package. */
export function isOwnFile(path: string): boolean {
  return !path.includes(`${sep}node_modules${sep}`);
}

/** A path as the person at the terminal would write it. */
export function shownPath(path: string): string {
  return relative(process.cwd(), path) || path;
}

export function toPath(url: string): string | undefined {
  try {
    return fileURLToPath(url.replace(/\?.*$/, ''));
  } catch {
    return undefined;
  }
}
