import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../lib/setup.mjs';

let clone;

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'runyard-clone-'));
  for (const folder of ['scripts', 'bench'])
    cpSync(join(root, folder), join(clone, folder), { recursive: true });
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

test.each(['bench', 'build', 'check', 'start', 'test'])(
  '`npm run %s` can be loaded where nothing is installed or built yet',
  (name) => {
    const { href } = pathToFileURL(join(clone, `scripts/commands/${name}.mjs`));
    const program = `console.log(typeof (await import('${href}')).run)`;
    const words = ['--input-type=module', '--eval', program];
    const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: clone, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(stdout).toBe('function\n');
  },
);
