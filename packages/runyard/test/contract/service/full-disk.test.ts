import { expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { loadSqliteLibrary } from '../../../src/platform/storage/sqlite/library.js';
import { SqliteWriter } from '../../../src/platform/storage/sqlite/writer.js';
import { RunLife } from '../../support/components/run-life.js';
import { freshSqlite } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { startService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';

/** The writing connection of the service that was opened last, and what its database may grow to. */
function bounded() {
  const writers: SqliteWriter[] = [];
  const { write } = SqliteWriter.prototype;
  SqliteWriter.prototype.write = function (units) {
    if (!writers.includes(this)) writers.push(this);
    return write.call(this, units);
  };
  return {
    pages: async (count: number) => {
      for (const writer of writers) await writer.query(`PRAGMA max_page_count = ${count}`, []);
    },
    restore: () => {
      SqliteWriter.prototype.write = write;
    },
  };
}

test('a full disk answers 503 with few log lines, reads continue, and runs resume when there is space', async () => {
  const disk = bounded();
  try {
    const book = new ScriptBook();
    const { url } = await freshSqlite();
    const service = await startService({
      database: url,
      autoMigrate: true,
      agents: [agent({ id: 'a', model: book.model })],
    });
    const life = new RunLife(service, 'a');
    const before = (await service.run('a', { message: 'before' })).body.run_id as string;
    const rest = gate();
    const text = 'long'.repeat(50_000);
    const message = book.write('under way', { text, waitFor: rest.opened });
    const underWay = (await service.run('a', { message, background: true })).body.run_id as string;
    await until('the model is called', () => book.requests(message).length === 1);
    service.logged.length = 0;
    // the smallest bound is what the file has
    await disk.pages(1);
    rest.open();
    const big = 'x'.repeat(200_000);
    const answers = [];
    for (let calls = 0; calls < 10; calls++)
      answers.push(await service.run('a', { message: `${big}${calls}`, background: true }));
    for (const { status, body, headers } of answers) {
      expect([status, body.error_code]).toEqual([503, 'database_unavailable']);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
      expect(body.detail).not.toMatch(/sqlite|full/i);
    }
    expect((await life.get(before)).status).toBe(200);
    const lines = service.logged.filter(({ level }) => level === 'warn' || level === 'error');
    expect(lines.length).toBeLessThan(6);
    expect(lines[0]).toMatchObject({
      message: expect.stringContaining('does not accept writes'),
      fields: { reason: expect.stringContaining('full') },
    });

    await disk.pages(1_000_000);
    const resumed = await life.rested(underWay);
    expect([resumed.status, resumed.content === text]).toEqual(['completed', true]);
    expect((await service.run('a', { message: 'after' })).status).toBe(200);
  } finally {
    disk.restore();
  }
});

test('a file that was locked by another process for too long answers 503, and is used again after that', async () => {
  const { url } = await freshSqlite();
  const book = new ScriptBook();
  const service = await startService({
    database: url,
    autoMigrate: true,
    agents: [agent({ id: 'a', model: book.model })],
  });
  const { DatabaseSync } = loadSqliteLibrary();
  const other = new DatabaseSync(url.replace('sqlite://', ''));
  other.exec('BEGIN IMMEDIATE');
  // the head of a stream names the run: it is not sent before the run is stored
  const ways = [{ background: true }, { stream: true }];
  const refusals = await Promise.all(ways.map((way) => service.run('a', { message: 'x', ...way })));
  for (const { status, body } of refusals)
    expect([status, body.error_code]).toEqual([503, 'database_unavailable']);
  other.exec('ROLLBACK');
  other.close();
  expect((await service.run('a', { message: 'y' })).status).toBe(200);
});
