import { expect, test } from 'vitest';
import { migrations } from '../../src/capabilities/capabilities.js';
import { silentLog } from '../../src/core/log.js';
import type { Migration } from '../../src/platform/storage/database.js';
import { migrate } from '../../src/platform/storage/migrations/migrate.js';
import { openDatabase } from '../../src/platform/storage/open.js';
import { ChaosProcess } from '../support/chaos-process.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';
import { onPostgres } from './places.js';

const latest = migrations.at(-1)!.version;
const settings = { leaseMs: 5000 };

const next: Migration = {
  version: latest + 1,
  name: 'next',
  up: () => ['CREATE TABLE next_things (id integer)', 'ALTER TABLE runs ADD COLUMN next_thing text'],
  down: () => ['DROP TABLE next_things', 'ALTER TABLE runs DROP COLUMN next_thing'],
};

async function migrateOver(one: ChaosProcess, body: object): Promise<Body> {
  const response = await fetch(`${one.url}/databases/default/migrate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

/** Waits until the process refuses a run, and answers with the code of the refusal. */
const refusal = (one: ChaosProcess) =>
  until('it refuses writes', async () => {
    const response = await one.post('echo', { message: 'hi', stream: 'false' });
    const body = (await response.json()) as Body;
    return response.status === 503 && body.error_code;
  });

test('processes leave a schema that they do not know, and continue where they were when it fits', async () => {
  const options = { ...(await onPostgres()), settings };
  const { folder } = options;
  const all = await Promise.all([ChaosProcess.start(options), ChaosProcess.start(options)]);
  const [first, second] = all;
  const { run_id } = await first.run('planner', { message: 'plan: charge, peek@gate', background: 'true' });
  await until('the second tool is called', () => folder.effects('peek').length === 1);

  const newer = await openDatabase({
    ...{ id: 'newer', url: options.database!, migrations: [...migrations, next], log: silentLog },
  });
  await migrate(newer);
  for (const one of all) expect(await refusal(one)).toBe('schema_newer');
  // reads pass
  expect(['pending', 'running']).toContain((await second.get('planner', run_id)).status);
  folder.release('gate');
  expect(folder.effects('peek')).toHaveLength(1);
  await migrate(newer, { to: latest });
  await newer.close();
  expect(await second.settled('planner', run_id)).toMatchObject({ content: 'All 2 steps are done.' });
  expect(folder.effects('charge')).toHaveLength(1);

  const held = await second.run('held', { message: 'a while', background: 'true' });
  const down = { target_version: String(latest - 1), force: true };
  expect(await migrateOver(first, down)).toMatchObject({ to_version: latest - 1 });
  for (const one of all) expect(await refusal(one)).toBe('schema_outdated');
  expect(await migrateOver(second, {})).toMatchObject({ from_version: latest - 1, to_version: latest });
  folder.release('a while');
  expect(await first.settled('held', held.run_id)).toMatchObject({ content: 'Begun and done.' });
  for (const one of all) expect((await one.run('echo', { message: 'hi' })).content).toBe('Answer to: hi');
});
