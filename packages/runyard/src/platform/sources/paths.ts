import { errors } from '../../core/errors/errors.js';

const longestPath = 4_096;
const unprintable = /[\p{Cc}\p{Cs}]/u;

/** The folder that a prefix stands for: `docs` and `docs/` are one, and `docs-old` is outside of both. */
export function folderOf(prefix: string | undefined): string {
  return prefix === undefined || prefix === '' || prefix.endsWith('/') ? (prefix ?? '') : `${prefix}/`;
}

/** Whether a path cannot lead elsewhere once it is part of an address. */
export function isPlainPath(path: string): boolean {
  return faultOf(path) === undefined;
}

/** Refuses a path that is outside of the folder, or that could lead out of it. */
export function checkPath(path: string, folder: string): void {
  const fault = faultOf(path);
  if (fault !== undefined) throw errors.sourcePathRefused(path, fault);
  if (!path.startsWith(folder) && `${path}/` !== folder)
    throw errors.sourcePathRefused(path, `is outside of the prefix '${folder}' of the source.`);
}

function faultOf(path: string): string | undefined {
  if (path.length > longestPath) return `is longer than ${longestPath} characters.`;
  if (path.startsWith('/')) return 'begins with a slash. Give the path within the source.';
  if (unprintable.test(path)) return 'has a character that cannot be sent.';
  const parts = path.split(/[\\/]/);
  return parts.includes('..') || parts.includes('.') ? "has a part '.' or '..'." : undefined;
}

/** For an address: what SigV4 calls encoded once, too. */
export function encoded(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export function encodedPath(path: string): string {
  return path.split('/').map(encoded).join('/');
}

/** A query, with what is undefined left out. */
export function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${encoded(name)}=${encoded(value)}`]))
    .join('&');
}

export function lastPart(path: string): string {
  return path.replace(/\/+$/, '').split('/').at(-1) ?? path;
}
