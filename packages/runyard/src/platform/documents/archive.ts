import { inflateRawSync } from 'node:zlib';
import { ContentUnreadable } from '../../core/knowledge/readers/reader.js';
import type { ParseBudget } from './parse-budget.js';

/** A file in a zip archive. */
export interface ArchiveEntry {
  readonly path: string;
  readonly method: number;
  readonly compressedSize: number;
  /** Where its own header is. */
  readonly offset: number;
}

const endSize = 22;
const longestComment = 65_535;

/**
 * The files of a zip archive, by its directory; folders and symbolic links are left out. Refuses archives that are
 * encrypted, that name a file twice or that name files outside of themselves. What the directory says about sizes is not
 * believed: see `inflate`.
 */
export function archiveEntries(bytes: Uint8Array, budget: ParseBudget): ArchiveEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return entriesOf(view, bytes, budget);
  } catch (error) {
    if (error instanceof RangeError) throw damaged(error);
    throw error;
  }
}

function entriesOf(view: DataView, bytes: Uint8Array, budget: ParseBudget): ArchiveEntry[] {
  const paths = new Set<string>();
  const entries: ArchiveEntry[] = [];
  const directory = directoryOf(view);
  let at = directory.offset;
  for (let index = 0; index < directory.count; index++) {
    budget.entry();
    if (view.getUint32(at, true) !== 0x02014b50) throw damaged();
    const flags = view.getUint16(at + 8, true);
    const nameLength = view.getUint16(at + 28, true);
    const extraLength = view.getUint16(at + 30, true);
    const path = nameOf(bytes.subarray(at + 46, at + 46 + nameLength), flags);
    if ((flags & 1) !== 0) throw new ContentUnreadable('The archive is encrypted');
    const sizes = sizesOf(view, at, at + 46 + nameLength, extraLength);
    if (!path.endsWith('/') && !isSymbolicLink(view, at)) {
      checkPath(path);
      if (paths.has(path)) throw new ContentUnreadable(`The archive has the file '${path}' twice`);
      paths.add(path);
      entries.push({ path, method: view.getUint16(at + 10, true), ...sizes });
    }
    at += 46 + nameLength + extraLength + view.getUint16(at + 32, true);
  }
  return entries;
}

/** The bytes of an entry. It inflates no further than the bounds allow, whatever its header says. */
export function inflate(bytes: Uint8Array, entry: ArchiveEntry, budget: ParseBudget): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { offset } = entry;
  if (offset + 30 > bytes.length || view.getUint32(offset, true) !== 0x04034b50) throw damaged();
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  if (start + entry.compressedSize > bytes.length) throw damaged();
  const compressed = bytes.subarray(start, start + entry.compressedSize);
  const content = decompress(compressed, entry, budget);
  budget.inflated(content.length);
  return content;
}

function decompress(compressed: Uint8Array, { method, path }: ArchiveEntry, budget: ParseBudget): Uint8Array {
  const most = budget.inflatable;
  if (method === 0) return compressed.length > most ? budget.tooMuchInflated() : compressed;
  if (method !== 8)
    throw new ContentUnreadable(
      `The file '${path}' of the archive is compressed in a way that cannot be read`,
    );
  if (most <= 0) budget.tooMuchInflated();
  try {
    return inflateRawSync(compressed, { maxOutputLength: most });
  } catch (error) {
    if (error instanceof RangeError) budget.tooMuchInflated();
    throw damaged(error);
  }
}

function directoryOf(view: DataView): { readonly count: number; readonly offset: number } {
  const first = Math.max(0, view.byteLength - endSize - longestComment);
  for (let at = view.byteLength - endSize; at >= first; at--) {
    if (view.getUint32(at, true) !== 0x06054b50) continue;
    const count = view.getUint16(at + 10, true);
    const offset = view.getUint32(at + 16, true);
    if (count !== 0xffff && offset !== 0xffffffff) return { count, offset };
    return largeDirectory(view, at - 20) ?? { count, offset };
  }
  throw damaged();
}

/** Zip64 writes the numbers that do not fit into a record of its own. */
function largeDirectory(view: DataView, locator: number) {
  if (locator < 0 || view.getUint32(locator, true) !== 0x07064b50) return undefined;
  const at = Number(view.getBigUint64(locator + 8, true));
  if (view.getUint32(at, true) !== 0x06064b50) throw damaged();
  return {
    count: Number(view.getBigUint64(at + 32, true)),
    offset: Number(view.getBigUint64(at + 48, true)),
  };
}

function sizesOf(view: DataView, at: number, extra: number, extraLength: number) {
  let compressedSize = view.getUint32(at + 20, true);
  let offset = view.getUint32(at + 42, true);
  for (let field = extra; field + 4 <= extra + extraLength; field += 4 + view.getUint16(field + 2, true)) {
    if (view.getUint16(field, true) !== 1) continue;
    // only what does not fit above is there, in this order
    let value = field + 4;
    if (view.getUint32(at + 24, true) === 0xffffffff) value += 8;
    if (compressedSize === 0xffffffff) {
      compressedSize = Number(view.getBigUint64(value, true));
      value += 8;
    }
    if (offset === 0xffffffff) offset = Number(view.getBigUint64(value, true));
  }
  return { compressedSize, offset };
}

function nameOf(bytes: Uint8Array, flags: number): string {
  const utf8 = new TextDecoder().decode(bytes);
  // without the flag the encoding is not known: what is valid UTF-8 is UTF-8
  const name =
    (flags & 0x800) === 0 && utf8.includes('\ufffd') ? new TextDecoder('windows-1252').decode(bytes) : utf8;
  return name.replaceAll('\\', '/');
}

/** Nothing is ever written to such a path, but one that leaves the archive was not made in good faith. */
function checkPath(path: string): void {
  if (path.startsWith('/') || /^[a-z]:/i.test(path) || path.split('/').includes('..') || path.includes('\0'))
    throw new ContentUnreadable(
      `The archive has an unsafe path: '${path.replaceAll('\0', '').slice(0, 200)}'`,
    );
}

function isSymbolicLink(view: DataView, at: number): boolean {
  const madeOn = view.getUint8(at + 5);
  return madeOn === 3 && ((view.getUint32(at + 38, true) >>> 16) & 0xf000) === 0xa000;
}

function damaged(cause?: unknown): ContentUnreadable {
  return new ContentUnreadable('The archive is damaged', { cause });
}
