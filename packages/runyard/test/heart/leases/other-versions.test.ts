import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { OrphanStore } from '../../../src/capabilities/runs/storage/orphan-store.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { standIn } from '../../../src/core/components/stand-in.js';
import type { RunContext } from '../../../src/core/runs/context.js';
import type { Executable } from '../../../src/core/runs/executable.js';
import { journalFormat } from '../../../src/core/runs/journal/journal-format.js';
import { anyRecord } from '../../../src/core/runs/journal/records.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { statement } from '../../../src/platform/storage/database.js';
import { freshSqlite } from '../../support/databases.js';
import { answers, begin, engineOver, executable, gate } from '../harness.js';

const leaseMs = 60_000;

/** A store that several processes share. */
async function shared() {
  const database = await (await freshSqlite()).open();
  const store = new RunStore(database);
  const clock = { elapsed: 0 };
  const timers = { ...systemTimers, elapsed: () => clock.elapsed };
  const process = (...components: readonly Executable[]) => {
    const keys = components.map(({ kind, id }) => `${kind} ${id}`);
    const orphans = { journal: new OrphanStore(database), components: () => keys, standIn, endAfterMs: 0 };
    return engineOver(store, components, { orphans, timers, leaseMs });
  };
  const define = (definition: string | null) =>
    database.change(statement('define_runs', 'UPDATE runs SET definition = ?'), [definition]);
  return { store, clock, process, define };
}

function component(id: string, fingerprint: string, execute: (context: RunContext) => Promise<unknown>) {
  return { ...executable(id, execute), fingerprint };
}

const doStep = (context: RunContext, name: string) =>
  context.step(name, { kind: 'step', name, record: anyRecord }, async () => `${name} is done`);

test('a run that a newer version has executed waits for a process of that version', async () => {
  const { store, process, define } = await shared();
  const open = gate();
  const held = component('held', 'f', async () => open.promise);
  const newer = process(held);
  const { runId, ended } = await begin(newer, held, { background: true });
  const handedOn = ended.catch(() => {});
  await newer.stop(0);
  await handedOn;
  await define(`${journalFormat + 1}.f`);

  const older = process(held);
  await older.recover();
  const { run } = (await store.load(runId))!;
  expect([run.status, run.attempt, older.liveCount]).toEqual(['running', 1, 0]);
  expect(await older.resume(run)).toBeUndefined();
  expect((await store.load(runId))!.run.attempt).toBe(1);

  await define('f');
  await older.recover();
  expect(older.liveCount).toBe(1);
  open.open();
  await expect.poll(async () => (await store.load(runId))!.run.status).toBe('completed');
});

test('a paused run that a newer version has executed is neither woken nor answered by an older one', async () => {
  const { store, process, define } = await shared();
  const asking = component('asking', 'f', (context) =>
    context.wait({ key: 'q', kind: 'question', data: {}, dueAt: 1 }),
  );
  const first = process(asking);
  const { runId, ended } = await begin(first, asking);
  await ended;
  await first.stop(0);
  await define(`${journalFormat + 1}.f`);

  const older = process(asking);
  await older.recover();
  await expect(older.answer(runId, answers({ 'wait:q': 'yes' }))).rejects.toMatchObject({
    code: 'newer_version',
    status: 503,
  });
  expect((await store.load(runId))!.run).toMatchObject({ status: 'paused', attempt: 1 });
  await define('f');
  await older.recover();
  await expect.poll(async () => (await store.load(runId))!.run.status).toBe('completed');
});

/** The same component in two versions, which do not fit each other. */
async function twoVersions() {
  const site = await shared();
  const open = gate();
  const of = (name: string) =>
    component('c', name, async (context) => {
      await doStep(context, name);
      await open.promise;
      return doStep(context, 'last');
    });
  const [before, after] = [of('before'), of('after')];
  const newer = site.process(after);
  const { runId, ended } = await begin(newer, after, { background: true });
  const handedOn = ended.catch(() => {});
  await expect.poll(async () => (await site.store.load(runId))!.steps.length).toBe(1);
  await newer.stop(0);
  await handedOn;
  return { ...site, open, before, after, runId };
}

test('a run that does not fit the code of a process is left to a process that it fits', async () => {
  const { store, process, open, before, after, runId } = await twoVersions();
  const older = process(before);
  await older.recover();
  await older.recover();
  expect((await store.load(runId))!.run).toMatchObject({ status: 'running', attempt: 1 });
  await process(after).recover();
  open.open();
  await expect.poll(async () => (await store.load(runId))!.run.status).toBe('completed');
  expect((await store.load(runId))!.run.attempt).toBe(2);
});

test('it ends when no process takes it for a while', async () => {
  const { store, process, clock, before, runId } = await twoVersions();
  const older = process(before);
  await older.recover();
  clock.elapsed += 4 * leaseMs - 1;
  await older.recover();
  expect((await store.load(runId))!.run.status).toBe('running');
  clock.elapsed += 1;
  await older.recover();
  await expect.poll(async () => (await store.load(runId))!.run.status).toBe('error');
  expect((await store.load(runId))!.run.result?.error?.type).toBe('definition_changed');
});

test('the format of journals counts the versions of all records', () => {
  const source = fileURLToPath(new URL('../../../src', import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(source, file), 'utf8'));
  const versions = texts.flatMap((text) =>
    Array.from(text.matchAll(/\b(?:in|out)putRecord(?:<\w+>)?\(\s*'[^']+',\s*(\d+),/g), ([, version]) =>
      Number(version),
    ),
  );
  expect(versions.length).toBeGreaterThan(60);
  // raise journalFormat together with the version of a record: see its comment
  expect(1 + versions.reduce((sum, version) => sum + version - 1, 0)).toBe(journalFormat);
});
