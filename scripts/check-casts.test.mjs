import { describe, expect, test } from 'vitest';
import { findUnexplained } from './check-casts.mjs';

const found = (text) => findUnexplained(new Map([['a.ts', text]])).map(({ line, kind }) => `${line} ${kind}`);

describe('casts without a reason', () => {
  test.each([
    ['const a = b as string;', ['1 as']],
    ['const a = b as unknown as string;', ['1 as unknown as']],
    ['const a = b[0]!;', ['1 !']],
    ['// why\n\nconst a = b as string;', ['3 as']],
    ['// why\nfunction f() {\n  g();\n  return b as string;\n}', ['4 as']],
    ['/** What it is. */\nclass A {\n  b = c!;\n}', ['3 !']],
  ])('%j', (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test.each([
    'const a = b as const;',
    'const a = b satisfies string;',
    "import { a as b } from 'c';",
    'const a = !b;',
    'const a = b as string; // why',
    '// why\nconst a = b as string;',
    '/* why */\nconst a = f(\n  b as string,\n);',
    'const a = {\n  // why\n  c: b!,\n};',
    'class A {\n  // why\n  b = c!;\n}',
  ])('none in %j', (text) => {
    expect(found(text)).toEqual([]);
  });
});
