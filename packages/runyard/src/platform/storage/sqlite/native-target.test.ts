import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nativeTarget, usesMusl } from './native-target.js';

const folder = mkdtempSync(join(tmpdir(), 'runyard-target-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(content: Uint8Array | string): string {
  const path = join(folder, 'node');
  writeFileSync(path, content);
  return path;
}

/** An executable with two segments, the second of which names a loader, at a place in the file. */
function executable(loader: string, { place = 400, bits = 2 } = {}): Buffer {
  const file = Buffer.alloc(place + loader.length + 1);
  file.write(`\x7fELF${String.fromCharCode(bits, 1)}`, 'latin1');
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(2, 56);
  file.writeUInt32LE(6, 64);
  file.writeUInt32LE(3, 64 + 56);
  file.writeBigUInt64LE(BigInt(place), 64 + 56 + 8);
  file.writeBigUInt64LE(BigInt(loader.length + 1), 64 + 56 + 32);
  file.write(loader, place, 'latin1');
  return file;
}

describe('the C library of an executable', () => {
  it.each([
    '/lib/ld-musl-x86_64.so.1',
    '/lib/ld-musl-aarch64.so.1',
    '/opt/musl-1.2/lib/ld-musl-aarch64.so.1',
  ])('is musl by its loader: %s', (loader) => {
    expect(usesMusl(fileOf(executable(loader)))).toBe(true);
    // a tool that changes the loader of an executable appends the new name
    expect(usesMusl(fileOf(executable(loader, { place: 100_000 })))).toBe(true);
  });

  it.each([
    '/lib64/ld-linux-x86-64.so.2',
    '/lib/ld-linux-aarch64.so.1',
    '/nix/store/q2-no-ld-musl-here/ld-linux-aarch64.so.1',
    '',
  ])('is glibc by its loader: %s', (loader) => {
    expect(usesMusl(fileOf(executable(loader)))).toBe(false);
  });

  it('is glibc where the file says nothing, or cannot be read', () => {
    const musl = executable('/lib/ld-musl-x86_64.so.1');
    for (const length of [0, 5, 40, 64, 130, 400])
      expect(usesMusl(fileOf(musl.subarray(0, length)))).toBe(false);
    expect(usesMusl(fileOf('#!/bin/sh\nexec /lib/ld-musl-x86_64.so.1 node "$@"\n'.padEnd(200)))).toBe(false);
    expect(usesMusl(fileOf(executable('/lib/ld-musl-armhf.so.1', { bits: 1 })))).toBe(false);
    expect(usesMusl(join(folder, 'missing'))).toBe(false);
    expect(usesMusl(folder)).toBe(false);
  });
});

it('names the platform of this process', () => {
  expect(nativeTarget()).toMatch(new RegExp(`^${process.platform}-${process.arch}(-musl)?$`));
});
