import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { migrations } from '../../src/capabilities/capabilities.js';
import { readRuns, writeRuns } from '../../src/cli/exported-runs.js';
import { silentLog } from '../../src/core/log.js';
import { agent, agentFactory, Runyard, type RunyardOptions, step, workflow } from '../../src/index.js';
import { migrate } from '../../src/platform/storage/migrations/migrate.js';
import { openDatabase } from '../../src/platform/storage/open.js';
import { scriptedModel } from '../../src/testing.js';
import { emptyPostgres } from '../support/databases.js';
import { linkPackages, project, run } from './support.js';

/** An entry with a workflow of steps that a person has to confirm; each would leave a file behind if it was executed. */
const entry = (...names: string[]) => `
import { writeFileSync } from 'node:fs';
import { Runyard, step, workflow } from 'runyard';
console.log('loaded');
const review = { requiresConfirmation: true };
const steps = ${JSON.stringify(names)}.map((name) =>
  step({ name, review, run: () => writeFileSync('executed', name) }));
export const app = new Runyard({ workflows: ${names.length > 0 ? "[workflow({ id: 'newsletter', steps })]" : '[]'} });
`;

const confirmed = (name: string) => step({ name, review: { requiresConfirmation: true }, run: () => name });

/** A folder whose database holds runs of the workflow that wait for the confirmation of `send`. */
async function withWaitingRuns(count: number, options: Partial<RunyardOptions> = {}) {
  const folder = project({});
  linkPackages(folder);
  const newsletter = workflow({ id: 'newsletter', steps: [confirmed('send')] });
  const app = new Runyard({
    workflows: [newsletter],
    dataDir: join(folder, 'data'),
    log: silentLog,
    ...options,
  });
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) ids.push((await newsletter.run('x')).runId);
  await app.close({ graceMs: 0 });
  const replay = (words: readonly string[], ...names: string[]) => {
    writeFileSync(join(folder, 'agents.mjs'), entry(...names));
    return run(['replay', 'agents.mjs', '--data-dir', 'data', ...words], { cwd: folder });
  };
  return { folder, ids, replay };
}

/** An application whose database holds runs that wait. */
async function waiting(count: number) {
  const { folder } = await withWaitingRuns(count);
  const newsletter = workflow({ id: 'newsletter', steps: [confirmed('send')] });
  const app = new Runyard({ workflows: [newsletter], dataDir: join(folder, 'data'), log: silentLog });
  return { app, folder };
}

describe('runyard replay', () => {
  test('says that all runs fit, executes nothing and ends with 0', async () => {
    const { folder, replay } = await withWaitingRuns(2);
    const { code, stdout } = await replay([], 'send', 'report');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '2 runs compared: 2 fit, 0 do not.\n' });
    expect(() => statSync(join(folder, 'executed'))).toThrow('ENOENT');
  });

  test('lists the runs that do not fit with the difference, and ends with 1', async () => {
    const { ids, replay } = await withWaitingRuns(1);
    const { code, stdout } = await replay([], 'wipe', 'send');
    expect(code).toBe(1);
    expect(stdout).toBe(
      `default: run ${ids[0]} (paused) does not fit. The workflow 'newsletter' has changed: step 1 was 'send' (function), and is now 'wipe' (function).\n1 run compared: 0 fit, 1 do not.\n`,
    );
  });

  test('reads more runs than a page, and reports a removed component as a mismatch', async () => {
    const { replay } = await withWaitingRuns(45);
    const { code, stdout } = await replay(['--json']);
    const report = JSON.parse(stdout);
    expect(code).toBe(1);
    expect(report).toMatchObject({ checked: 45, fits: 0, left_out: {} });
    expect(report.unfit).toHaveLength(45);
    expect(report.unfit[0]).toMatchObject({
      database: 'default',
      kind: 'workflow',
      component_id: 'newsletter',
      status: 'paused',
      fits: false,
      reason: "The workflow 'newsletter' is no longer registered.",
    });
    expect(JSON.parse((await replay(['--json'], 'send')).stdout)).toEqual({
      unfit: [],
      checked: 45,
      fits: 45,
      unknown: 0,
      unknown_runs: [],
      left_out: {},
    });
  });

  test('compares an export without a database', async () => {
    const { folder, ids, replay } = await withWaitingRuns(2);
    const written = await replay(['--export', 'runs.jsonl'], 'send');
    expect(written).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 runs written to runs.jsonl'),
    });
    const file = join(folder, 'runs.jsonl');
    expect(statSync(file).mode & 0o077).toBe(0);
    const elsewhere = project({
      'agents.mjs': entry('wipe', 'send'),
      'runs.jsonl': readFileSync(file, 'utf8'),
    });
    linkPackages(elsewhere);
    const words = ['replay', 'agents.mjs', '--file', 'runs.jsonl', '--json'];
    const { code, stdout } = await run(words, { cwd: elsewhere });
    expect(code).toBe(1);
    const found = JSON.parse(stdout).unfit.map(({ run_id }: { run_id: string }) => run_id);
    expect(found.sort()).toEqual([...ids].sort());
    expect(() => statSync(join(elsewhere, 'data'))).toThrow('ENOENT');
  });

  test.each([
    ['no file', ['--file', 'none.jsonl'], 'none.jsonl cannot be read (ENOENT).'],
    ['another file', ['--file', 'agents.mjs'], 'agents.mjs is not an export of runs.'],
    ['a broken line', ['--file', 'broken.jsonl'], 'broken.jsonl is damaged: line 2 is not a run'],
    ['an unknown flag', ['--fil', 'broken.jsonl'], "unknown option '--fil'"],
    ['both ways', ['--file', 'a', '--export', 'b'], 'Use either --export to write runs to a file'],
    ['no database', ['--data-dir', 'nowhere'], 'There is no database at'],
    [
      'a place that cannot be written',
      ['--export', 'none/runs.jsonl'],
      'none/runs.jsonl cannot be written (ENOENT).',
    ],
  ])('reports what is wrong with %s', async (_, words, text) => {
    const { folder, replay } = await withWaitingRuns(0, { workflows: [] });
    writeFileSync(join(folder, 'broken.jsonl'), '{"runyard_export":1}\n{"run":1}\n');
    const outcome = await replay(words, 'send');
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
    expect(() => statSync(join(folder, 'nowhere'))).toThrow('ENOENT');
  });

  test('notices a cut, a change or an addition in an export', async () => {
    const { app, folder } = await waiting(3);
    const file = join(folder, 'runs.jsonl');
    writeFileSync(file, 'public', { mode: 0o644 });
    expect(await writeRuns(file, app.waitingRuns())).toBe(3);
    expect(statSync(file).mode & 0o077).toBe(0);
    const text = readFileSync(file, 'utf8');
    const lines = text.trimEnd().split('\n');
    const without = (field: string) => {
      const line = JSON.parse(lines[1]!);
      delete line.run[field];
      return [lines[0], JSON.stringify(line), ...lines.slice(2)].join('\n');
    };
    const read = async (changed: string) => {
      writeFileSync(file, changed);
      let count = 0;
      for await (const _ of app.replay({ runs: readRuns(file) })) count += 1;
      return count;
    };
    expect(await read(text)).toBe(3);
    expect(await read(text.replaceAll('\n', '\r\n'))).toBe(3);
    for (const [changed, fault] of [
      [lines.slice(0, -1).join('\n'), 'its end is missing'],
      [text.slice(0, text.indexOf('\n') + 50), 'line 2 is not a run'],
      [lines.toSpliced(2, 1).join('\n'), 'its end does not belong to its runs'],
      [text.replace('"content":"x"', '"content":"y"'), 'its end does not belong to its runs'],
      [`${text}${lines[1]}\n`, 'line 6 comes after its end'],
      [without('kind'), 'line 2 is not a run (run.kind)'],
      [without('input'), 'line 2 is not a run (run.input)'],
    ] as const)
      await expect(read(changed)).rejects.toThrow(`is damaged: ${fault}`);
    await app.close({ graceMs: 0 });
  });

  test('distinguishes a run that it could not compare from one that does not fit', async () => {
    const { app } = await waiting(1);
    const changed = workflow({ id: 'newsletter', steps: [confirmed('send'), confirmed('report')] });
    const next = new Runyard({ workflows: [changed], log: silentLog });
    async function* broken() {
      for await (const run of app.waitingRuns()) {
        const steps = run.steps.map((step) => (step.kind === 'wait' ? { ...step, input: null } : step));
        yield { ...run, steps };
      }
    }
    const found = [];
    for await (const run of next.replay({ runs: broken() })) found.push(run);
    expect(found).toMatchObject([{ fits: null, reason: expect.stringContaining('Error') }]);
    await app.close({ graceMs: 0 });
  });

  test('names what it cannot compare: the agent of a factory', async () => {
    const folder = project({});
    linkPackages(folder);
    const make = () =>
      agentFactory({ id: 'built', build: () => agent({ id: 'x', model: scriptedModel(() => 'hi') }) });
    const app = new Runyard({ agents: [make()], port: 0, dataDir: join(folder, 'data'), log: silentLog });
    const run = { kind: 'agent', componentId: 'built', input: { options: {} } };
    const waiting = { database: 'default', run, steps: [] };
    const found = [];
    const runs = (async function* () {
      yield waiting as never;
    })();
    for await (const one of app.replay({ runs })) found.push(one);
    expect(found).toMatchObject([{ fits: true, left_out: ["what the factory 'built' builds"] }]);
  });

  test('reads PostgreSQL, and explains what to do when its schema is older', async () => {
    const place = await emptyPostgres();
    await place.open();
    const { replay } = await withWaitingRuns(1, { database: place.url });
    const { code, stdout } = await replay(['--database', place.url], 'wipe');
    expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining("is now 'wipe'") });
    const database = await openDatabase({ id: 'old', url: place.url, migrations, log: silentLog });
    await migrate(database, { to: 9 });
    await database.close();
    const outcome = await replay(['--database', place.url], 'send');
    expect(outcome).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('runyard replay --export runs.jsonl'),
    });
  });
});
