import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { startPgbouncer } from '../../../../../scripts/lib/pgbouncer.mjs';
import { agent } from '../../../src/index.js';
import { RunLife } from '../../support/components/run-life.js';
import { onServer, schemaPrefix } from '../../support/prepared-postgres.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { startService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

test('two processes work behind a pooler in transaction mode, with and without a direct way', async () => {
  const server = process.env.RUNYARD_TEST_POSTGRES_URL!;
  const name = `${schemaPrefix()}${randomBytes(8).toString('hex')}`;
  await onServer(server, `CREATE DATABASE ${name}`);
  onTestFinished(async () => {
    await onServer(server, `DROP DATABASE ${name} WITH (FORCE)`);
  });
  const pooler = await startPgbouncer(server, new AbortController().signal);
  onTestFinished(() => pooler.stop());
  const at = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const book = new ScriptBook();
  const options = {
    database: at(pooler.url),
    autoMigrate: true,
    agents: [agent({ id: 'a', model: book.model, addHistoryToContext: true })],
  };
  const one = await startService({ ...options, databaseDirectUrl: at(server) });
  const other = await startService(options);

  const statuses = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      (index % 2 ? one : other).run('a', { message: `m ${index}`, session_id: `s ${index % 5}` }),
    ),
  );
  expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]));
  const stream = await one.stream('a', { message: 'streamed', session_id: 's 0' });
  await stream.over;
  expect(stream.names.at(-1)).toBe('RunCompleted');

  // a cancellation reaches the process that executes the run
  const rest = gate();
  onTestFinished(() => rest.open());
  const message = book.write('long', { text: 'never', waitFor: rest.opened });
  const { body } = await one.run('a', { message, background: true });
  await until('it is executed', () => book.requests('long').length === 1);
  expect((await other.call('POST', `/agents/a/runs/${body.run_id}/cancel`)).status).toBe(200);
  expect(await new RunLife(other, 'a').rested(body.run_id)).toMatchObject({ status: 'cancelled' });

  // only the one that has a way past the pooler listens
  const { rows } = await onServer(
    server,
    `SELECT count(*)::int AS listening FROM pg_stat_activity WHERE datname = '${name}' AND query LIKE 'LISTEN%'`,
  );
  expect(rows).toEqual([{ listening: 1 }]);
  const [first] = other.logged.filter(({ message }) => message.startsWith('a pooler is between'));
  expect(first?.level).toBe('info');
});
