import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseDotEnv, readDotEnv } from './dot-env.js';

test('a line for each variable, in quotes or without', () => {
  const text = [
    '\ufeff# a comment',
    'PLAIN=a b # not this',
    'export KEY = "with # and \\n a line"',
    "SINGLE='as it \\n is'",
    'EMPTY=',
    'URL=https://example.com/#part?a=b',
    '',
  ].join('\r\n');
  expect(Object.fromEntries(parseDotEnv(text))).toEqual({
    PLAIN: 'a b',
    KEY: 'with # and \n a line',
    SINGLE: 'as it \\n is',
    EMPTY: '',
    URL: 'https://example.com/#part?a=b',
  });
});

test.each(['SECRET', '=x', 'A="half', '1A=x'])('the line %j is named, but not shown', (line) => {
  expect(() => parseDotEnv(`A=1\n${line}\n`)).toThrow(/^\.env, line 2: expected NAME=value/);
});

test('what is set stays, and a missing file sets nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-env-'));
  const environment: NodeJS.ProcessEnv = { SET: 'before', BLANK: '' };
  readDotEnv(folder, environment);
  writeFileSync(join(folder, '.env'), 'SET=after\nBLANK=x\nNEW=1\n');
  readDotEnv(folder, environment);
  expect(environment).toEqual({ SET: 'before', BLANK: '', NEW: '1' });
});
