import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const { href } = new URL('one-at-a-time.mjs', import.meta.url);

let folder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runyard-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that does its work in the folder while it is alone there. */
const program = (work) => [
  '--input-type=module',
  '--eval',
  `import { appendFileSync } from 'node:fs';
  import { setTimeout as pause } from 'node:timers/promises';
  import { oneAtATime } from '${href}';
  const say = (word) => appendFileSync(${JSON.stringify(join(folder, 'said'))}, word + '\\n');
  await oneAtATime(${JSON.stringify(folder)}, async () => { ${work} });`,
];

const said = () => readFileSync(join(folder, 'said'), 'utf8').trimEnd().split('\n');

test('commands that are started side by side do their work one after the other', async () => {
  const words = program(`say('begins'); await pause(50); say('ends');`);
  const children = Array.from({ length: 4 }, () => spawn(process.execPath, words, { stdio: 'inherit' }));
  const codes = await Promise.all(
    children.map((child) => new Promise((resolve) => child.on('close', resolve))),
  );
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(said()).toEqual(Array.from({ length: 4 }, () => ['begins', 'ends']).flat());
});

test.each([
  ['fails', `say('failed'); throw new Error('it fails');`],
  ['ends its process', `say('failed'); process.exit(1);`],
  ['is killed', `say('failed'); process.kill(process.pid, 'SIGKILL');`],
])('work that %s does not keep the next command waiting', (_, work) => {
  expect(spawnSync(process.execPath, program(work)).status).not.toBe(0);
  const { status } = spawnSync(process.execPath, program(`say('done');`), { timeout: 60_000 });
  expect(status).toBe(0);
  expect(said()).toEqual(['failed', 'done']);
});
