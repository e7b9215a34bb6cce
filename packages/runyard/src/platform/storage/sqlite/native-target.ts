import { closeSync, openSync, readSync } from 'node:fs';

/** The platform that native code must be compiled for, as its file is named. */
export function nativeTarget(): string {
  const { platform, arch } = process;
  const libc = platform === 'linux' && usesMusl('/proc/self/exe') ? '-musl' : '';
  return `${platform}-${arch}${libc}`;
}

/**
 * Whether an executable is linked with musl, as on Alpine: it names its loader. Native code for glibc must not be tried
 * there: it can load, and crash at its first call.
 */
export function usesMusl(executable: string): boolean {
  let file: number | undefined;
  try {
    file = openSync(executable, 'r');
    return /(?:^|\/)ld-musl-/.test(loaderOf(file));
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The first bytes of a 64-bit little-endian ELF file: those of every platform that there is native code for. */
const elfHead = Buffer.from('\x7fELF\x02\x01', 'latin1');
const loaderSegment = 3;

/** The path in the segment PT_INTERP. */
function loaderOf(file: number): string {
  const header = bytesAt(file, 0, 64);
  if (!header.subarray(0, elfHead.length).equals(elfHead)) return '';
  const [place, size, count] = [
    Number(header.readBigUInt64LE(32)),
    header.readUInt16LE(54),
    header.readUInt16LE(56),
  ];
  const table = bytesAt(file, place, size * count);
  for (let at = 0; at < table.length; at += size) {
    if (table.readUInt32LE(at) !== loaderSegment) continue;
    const [start, length] = [table.readBigUInt64LE(at + 8), table.readBigUInt64LE(at + 32)].map(Number);
    return bytesAt(file, start ?? 0, length ?? 0).toString('latin1');
  }
  return '';
}

function bytesAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}
