import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linkPackages, project, run, start } from './support.js';

/** TypeScript, with one eval that passes and one whose second case does not. */
const greeter = `
import { agent } from 'runyard';
import { contains, evaluate, type Scorer } from 'runyard/evals';
const model = 'offline';
const greeter = agent({ id: 'greeter', model });
const answers: Scorer = { name: 'answers', score: ({ run }) => ({ score: run.output.length, passed: true }) };
const cases = [{ id: 'hello', input: 'Hello' }, { id: 'secret', input: 'Say <b>nothing</b>', expectedOutput: 'xyzzy' }];
export default evaluate({ name: 'Answers', agent: greeter, cases: cases.slice(0, 1), scorers: [answers] });
export const secret = evaluate({ name: 'Knows the word', agent: greeter, cases, scorers: [contains({ texts: 'xyzzy' })] });
console.log('printed while it is loaded');
`;

const slow = `
import { writeFileSync } from 'node:fs';
import { step, workflow } from 'runyard';
import { evaluate } from 'runyard/evals';
const wait = ({ input }) => input === 'quick' ? 'done' : (writeFileSync('waiting', ''), new Promise(() => {}));
const flow = workflow({ id: 'flow', steps: [step({ name: 'wait', run: wait })] });
const any = { name: 'any', score: () => ({ score: 1, passed: true }) };
const cases = ['quick', 'slow'].map((input) => ({ id: input, input }));
export const evals = [evaluate({ name: 'Waits', workflow: flow, cases, concurrency: 1, scorers: [any] })];
`;

test('executes the evals of all files, prints and writes the results, and says in its code what it found', async () => {
  const folder = project({
    'greeter.eval.ts': greeter,
    'evals/broken.eval.mjs': 'export default nowhere;',
    'evals/empty.eval.mjs': 'export const nothing = 1;',
  });
  linkPackages(folder);
  const words = ['eval', '--json', 'reports/out.json', '--junit', 'out.xml', '--iterations', '2'];
  const { code, stdout, stderr } = await run(words, { cwd: folder });
  expect(stderr).toContain('✓ Answers 2/2 passed');
  expect(stdout).toMatch(/✓ Answers +2 +2 /);
  expect(stdout).toMatch(/✗ Knows the word +4 +0 /);
  expect(stdout).toContain('expected xyzzy');
  expect(stdout).toMatch(/evals\/broken\.eval\.mjs was not loaded\.\n.*nowhere is not defined/);
  expect(stdout).toContain('empty.eval.mjs was not loaded.\n  It exports no eval (it exports nothing).');
  expect(stdout).not.toContain('printed while');
  expect(code).toBe(2);

  const report = JSON.parse(readFileSync(join(folder, 'reports/out.json'), 'utf8'));
  expect(report).toMatchObject({ version: 1, cancelled: false, loadErrors: [{}, {}] });
  expect(report.evals.map(({ name, status, cases }: never) => [name, status, (cases as []).length])).toEqual([
    ['Answers', 'passed', 2],
    ['Knows the word', 'failed', 4],
  ]);
  const xml = readFileSync(join(folder, 'out.xml'), 'utf8');
  expect(xml).toContain('<testsuite name="Knows the word" file="greeter.eval.ts" tests="4" failures="4"');
  expect(xml).toContain('Say &lt;b&gt;nothing');
});

test('a file that ends the process does not end it as if all had passed', async () => {
  const folder = project({ 'leaves.eval.mjs': 'process.exit(0);' });
  const { code, stderr } = await run(['eval'], { cwd: folder });
  expect([code, stderr]).toEqual([2, expect.stringContaining('does it call process.exit()?')]);
});

test('a file with a top-level await that never settles is an error, and the others are executed', async () => {
  const folder = project({
    'a.eval.mjs': 'await new Promise(() => {});',
    'b.eval.ts': 'await new Promise(() => {});',
    'greeter.eval.ts': greeter,
  });
  linkPackages(folder);
  const { code, stdout, stderr } = await run(['eval'], { cwd: folder });
  const fault = 'could not be loaded: a top-level await in it, or in what it imports, never settles.';
  for (const file of ['a.eval.mjs', 'b.eval.ts'])
    expect(stdout).toContain(`${file} was not loaded.\n  ${file} ${fault}`);
  expect(stderr).toContain('✓ Answers 1/1 passed');
  expect(code).toBe(2);
});

test('an interrupted command cancels the runs, and reports what is there', async () => {
  const folder = project({ 'slow.eval.mjs': slow });
  linkPackages(folder);
  const command = start(['eval', '--json', 'out.json'], { cwd: folder });
  await command.shows('the slow case has begun', () => existsSync(join(folder, 'waiting')));
  command.signal('SIGINT');
  const { code, stdout } = await command.ended;
  expect(code).toBe(130);
  expect(stdout).toMatch(/- Waits +1 +1 /);
  expect(stdout).toContain('Cancelled.');
  expect(JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8'))).toMatchObject({ cancelled: true });
});
