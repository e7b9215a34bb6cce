import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { turnsFolder } from './one-at-a-time.mjs';

const { href } = new URL('one-at-a-time.mjs', import.meta.url);

let folder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runyard-lock-'));
});
afterEach(() => {
  rmSync(turnsFolder(folder), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

/** A program that does its work in the folder while it is alone there. */
const program = (work, before = '') => [
  '--input-type=module',
  '--eval',
  `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
  import { setTimeout as pause } from 'node:timers/promises';
  import { oneAtATime, turnsFolder } from '${href}';
  const say = (word) => appendFileSync(${JSON.stringify(join(folder, 'said'))}, word + '\\n');
  ${before}
  await oneAtATime(${JSON.stringify(folder)}, async () => { ${work} });`,
];

const said = () => readFileSync(join(folder, 'said'), 'utf8').trimEnd().split('\n');

/** Starts commands side by side, and checks that they do their work one after the other. */
async function inTurn(count) {
  const words = program(`say('begins'); await pause(50); say('ends');`);
  const children = Array.from({ length: count }, () => spawn(process.execPath, words, { stdio: 'inherit' }));
  const codes = await Promise.all(
    children.map((child) => new Promise((resolve) => child.on('close', resolve))),
  );
  expect(codes).toEqual(children.map(() => 0));
  expect(said()).toEqual(children.flatMap(() => ['begins', 'ends']));
}

test('commands that are started side by side do their work one after the other', () => inTurn(4));

/** A process that continues after these lines, until the test is over. */
function lasting(lines) {
  const program = `import { oneAtATime } from '${href}';
  const folder = ${JSON.stringify(folder)};
  ${lines}
  setInterval(() => {}, 1_000);`;
  const words = ['--input-type=module', '--eval', program];
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  return child;
}

test('a command that continues after its work does not keep the next one waiting', async () => {
  const first = lasting(`await oneAtATime(folder, () => {}); console.log('done');`);
  await once(first.stdout, 'data');
  const { status } = spawnSync(process.execPath, program(`say('done');`), { timeout: 60_000 });
  expect(status).toBe(0);
});

test('a command that waits says once for which process', async () => {
  const untilLine = `new Promise((resolve) => process.stdin.once('data', resolve))`;
  const first = lasting(`await oneAtATime(folder, () => { console.log('works'); return ${untilLine}; });`);
  await once(first.stdout, 'data');
  const second = lasting(`await oneAtATime(folder, () => console.log('works'), (pid) => console.log(pid));`);
  let text = '';
  second.stdout.setEncoding('utf8').on('data', (more) => {
    text += more;
  });
  await expect.poll(() => text).toContain('\n');
  // it looks several times
  await pause(500);
  first.stdin.write('end');
  await expect.poll(() => text).toBe(`${first.pid}\nworks\n`);
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

test.each([
  ['an ended process with the id of this one', "process.pid + ' 1'"],
  ['a disk that was full', "''"],
  ['no process', "'nonsense'"],
])('a turn that %s has left is not waited for', (_, owner) => {
  const turns = `turnsFolder(${JSON.stringify(folder)})`;
  const left = `mkdirSync(${turns}); writeFileSync(${turns} + '/7', ${owner});`;
  const { status } = spawnSync(process.execPath, program(`say('done');`, left), { timeout: 60_000 });
  expect(status).toBe(0);
  expect(said()).toEqual(['done']);
});

test('turns are kept from other users, and a folder that others may write to is not used', () => {
  const turns = turnsFolder(folder);
  expect(spawnSync(process.execPath, program(`say('done');`)).status).toBe(0);
  expect(statSync(turns).mode & 0o077).toBe(0);
  rmSync(turns, { recursive: true });
  mkdirSync(turns);
  chmodSync(turns, 0o777);
  const refused = spawnSync(process.execPath, program(`say('done');`), { encoding: 'utf8' });
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('others may write to it') });
  expect(readdirSync(turns)).toEqual([]);
  expect(said()).toEqual(['done']);
});

test('of many commands that find the turn of a process that was killed, only one takes it at a time', async () => {
  spawnSync(process.execPath, program(`process.kill(process.pid, 'SIGKILL');`));
  await inTurn(8);
});
