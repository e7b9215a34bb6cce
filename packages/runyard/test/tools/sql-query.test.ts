import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collectFixedTools } from '../../src/core/tools/collect-tools.js';
import { loadSqliteLibrary } from '../../src/platform/storage/sqlite/library.js';
import { type SqlQueryOptions, sqlQuery } from '../../src/platform/tools/sql/sql-query.js';
import { until } from '../support/until.js';
import { callTool } from './tool-call.js';

function toolsOf(database: string, options: SqlQueryOptions = {}) {
  const { tools } = collectFixedTools('Test', [sqlQuery(database, options)]);
  const run = async (name: string, args: Record<string, string>, signal?: AbortSignal) => {
    const { content, error } = await callTool(tools.get(name)!, args, signal && { site: { signal } });
    return error ? `failed: ${content}` : content;
  };
  return {
    tools,
    query: (sql: string, signal?: AbortSignal) => run('query_database', { sql }, signal),
    describe: () => run('describe_database', {}),
  };
}

const tables = `CREATE TABLE pets (id integer PRIMARY KEY, name text, born text);
  INSERT INTO pets VALUES (1, 'Ada; the "cat"', NULL), (2, 'Bob', '2020');`;

function sqliteFile() {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-query-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'pets.db');
  const database = new (loadSqliteLibrary().DatabaseSync)(path);
  database.exec(`${tables} CREATE TABLE odd (big integer, blob blob);
    INSERT INTO odd VALUES (9223372036854775807, x'010203')`);
  database.close();
  return { folder, path, url: `sqlite://${path}` };
}

/** A role that may only read, and a schema of its own. */
async function postgresPlace() {
  const server = process.env.RUNYARD_TEST_POSTGRES_URL;
  if (!server)
    throw new Error('No PostgreSQL to test on: run through npm test, or set RUNYARD_TEST_POSTGRES_URL');
  const name = `query_${randomBytes(6).toString('hex')}`;
  const owner = new pg.Client({ connectionString: server });
  await owner.connect();
  await owner.query(`CREATE SCHEMA ${name}; CREATE ROLE ${name} LOGIN PASSWORD '${name}';
    GRANT USAGE, CREATE ON SCHEMA ${name} TO ${name}; SET search_path = ${name}; ${tables}
    GRANT ALL ON ALL TABLES IN SCHEMA ${name} TO ${name};
    CREATE FUNCTION ${name}.forget() RETURNS integer LANGUAGE sql AS 'DELETE FROM ${name}.pets RETURNING 1'`);
  onTestFinished(async () => {
    await owner.query(`DROP SCHEMA ${name} CASCADE; DROP OWNED BY ${name}; DROP ROLE ${name}`);
    await owner.end();
  });
  const url = new URL(server);
  url.searchParams.set('options', `-c search_path=${name}`);
  const powerful = url.href;
  url.username = name;
  url.password = name;
  const count = async () => Number((await owner.query(`SELECT count(*) FROM ${name}.pets`)).rows[0].count);
  /** How many connections the role has, or those that execute a statement which begins like this. */
  const running = async (text = '') =>
    Number(
      (
        await owner.query('SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND query LIKE $2', [
          name,
          `${text}%`,
        ])
      ).rows[0].count,
    );
  return { name, url: url.href, powerful, count, running };
}

describe('sqlQuery on SQLite', () => {
  it('describes and queries', async () => {
    const { query, describe } = toolsOf(sqliteFile().url);
    expect(await describe()).toContain('CREATE TABLE pets (id integer PRIMARY KEY, name text, born text);');
    expect(await query('select id, name, born from pets order by id;')).toBe(
      '["id","name","born"]\n[1,"Ada; the \\"cat\\"",null]\n[2,"Bob","2020"]',
    );
    expect(await query("select 1 as a, 2 as a -- it's; fine")).toBe('["a","a"]\n[1,2]');
    expect(await query('select * from odd')).toContain('["9223372036854775807","<3 bytes>"]');
    expect(await query('select * from pets where id > 9')).toContain('[No rows]');
    expect(
      await query('with recursive n(i) as (values(1) union all select i + 1 from n) select i from n'),
    ).toMatch(/\[100\]\n\[There are more rows than the 100 above\]$/);
    expect(await query('select colour from pets')).toContain('no such column: colour');
  });

  it.each([
    "insert into pets values (3, 'x', null)",
    'delete from pets',
    'drop table pets',
    'update pets set name = 1',
    'with a as (select 1) delete from pets',
    'with a as (select 1) insert into pets select 9, 9, 9',
    "attach '/tmp/runyard-elsewhere.db' as elsewhere",
    'pragma journal_mode = delete',
    'pragma query_only = off',
    'vacuum',
    "vacuum into '/tmp/runyard-copy.db'",
    'select 1; delete from pets',
    "select 1 /* ; */ ; -- x\n attach 'x' as y",
    "select ';' ; drop table pets",
    'begin',
    'create temp table t (a)',
    "select load_extension('x')",
    'select * from pragma_database_list',
    'explain',
    ' ; ',
  ])('refuses %s', async (sql) => {
    const { path, url } = sqliteFile();
    const before = readFileSync(path);
    expect(await toolsOf(url).query(sql)).toMatch(/^failed: /);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('ends a query whose time is up, and one whose run is cancelled', async () => {
    const endless = 'with recursive n(i) as (values(1) union all select i + 1 from n) select count(*) from n';
    const { url } = sqliteFile();
    expect(await toolsOf(url, { timeoutMs: 300 }).query(endless)).toContain('did not finish within 300 ms');
    const controller = new AbortController();
    const running = toolsOf(url).query(endless, controller.signal);
    setImmediate(() => controller.abort(new Error('cancelled')));
    await expect(running).rejects.toThrow('cancelled');
  });

  it('reports that a file does not exist, and does not create it', async () => {
    const { folder } = sqliteFile();
    expect(await toolsOf(`sqlite://${folder}/missing.db`).query('select 1')).toMatch(
      /failed: .*unable to open/,
    );
    expect(() => sqlQuery('mysql://x')).toThrow('sqlQuery() takes sqlite:///absolute/path');
  });

  it('limits the answer of a query', async () => {
    const { query } = toolsOf(sqliteFile().url);
    const answer = await query("select printf('%.*c', 100000, 'x') from (select 1 union all select 2), pets");
    expect(answer).toContain('(100000 characters)');
    expect(answer).toContain('[There are more rows than the 3 above]');
    expect(await query('select length(zeroblob(100000000))')).toMatch(/^failed: /);
  });
});

describe('sqlQuery on PostgreSQL', () => {
  it('describes and queries', async () => {
    const { name, url } = await postgresPlace();
    const { query, describe } = toolsOf(url);
    expect(await describe()).toContain(`${name}.pets(id integer, name text, born text)`);
    expect(await query('select id, name, born from pets order by id;')).toBe(
      '["id","name","born"]\n[1,"Ada; the \\"cat\\"",null]\n[2,"Bob","2020"]',
    );
    expect(
      await query(`select 1 as a, 2 as a, true, 1.5::float8, 12345678901234567890::numeric, '{"a":1}'::jsonb,
      '\\x0102'::bytea, timestamp '2026-01-02 03:04:05', 9223372036854775807::bigint`),
    ).toContain(
      '[1,2,true,1.5,"12345678901234567890",{"a":1},"<2 bytes>","2026-01-02 03:04:05","9223372036854775807"]',
    );
    expect(await query('select * from generate_series(1, 1000)')).toMatch(
      /\[100\]\n\[There are more rows than the 100 above\]$/,
    );
    expect(await query('select nothing from pets')).toContain('column "nothing" does not exist');
  });

  it.each([
    "insert into pets values (3, 'x', null)",
    'delete from pets returning *',
    'drop table pets',
    'with gone as (delete from pets returning *) select * from gone',
    'select forget()',
    'select 1; delete from pets',
    "select ';'; delete from pets",
    'select 1 into other',
    'commit; delete from pets',
    'set transaction read write',
    "select set_config('transaction_read_only', 'off', false), forget()",
    "copy pets to program 'true'",
    "copy pets to '/tmp/x'",
    'do $$ begin delete from pets; end $$',
    "select pg_read_file('/etc/passwd')",
    'select 1; commit; delete from pets; begin',
    '',
  ])('refuses %s', async (sql) => {
    const { url, count } = await postgresPlace();
    const { query } = toolsOf(url);
    expect(await query(sql)).toMatch(/^failed: /);
    expect(await count()).toBe(2);
  });

  it('ends a query whose time is up, and one whose run is cancelled', async () => {
    const { url } = await postgresPlace();
    expect(await toolsOf(url, { timeoutMs: 300 }).query('select pg_sleep(60)')).toContain(
      'did not finish within 300 ms',
    );
    const controller = new AbortController();
    const running = toolsOf(url, { timeoutMs: 1_000 }).query('select pg_sleep(60)', controller.signal);
    setImmediate(() => controller.abort(new Error('cancelled')));
    await expect(running).rejects.toThrow('cancelled');
  });

  it.each([
    "select set_config('statement_timeout', '0', false), case when i > 30 then pg_sleep(600) end from generate_series(1, 100) i",
    "select set_config('statement_timeout', '0', true), case when i > 30 then (select count(*) from generate_series(1, 100000000000)) end from generate_series(1, 100) i",
  ])('ends a query in the server too that switched the limit of the server off: %s', async (sql) => {
    const { name, url, running } = await postgresPlace();
    const { query } = toolsOf(url, { timeoutMs: 1_000 });
    expect(await query(sql)).toContain('did not finish within 1000 ms');
    await until('nothing of it is left', async () => (await running()) === 0);
    const controller = new AbortController();
    const cancelled = toolsOf(url, { timeoutMs: 600_000 }).query(sql, controller.signal);
    await until(`${name} is asked`, async () => (await running('FETCH')) === 1);
    controller.abort(new Error('cancelled'));
    await expect(cancelled).rejects.toThrow('cancelled');
    await until('nothing of it is left', async () => (await running()) === 0);
  });

  it('does not use a role that could do more than read, unless its options say so', async () => {
    const { powerful } = await postgresPlace();
    expect(await toolsOf(powerful).query('select 1')).toContain('Use a role that may only read data');
    expect(await toolsOf(powerful, { allowPowerfulRole: true }).query('select 1 as one')).toBe(
      '["one"]\n[1]',
    );
  });

  it('reports a refused connection, without the password', async () => {
    const answer = await toolsOf('postgres://someone:hunter2@127.0.0.1:9/nothing').query('select 1');
    expect(answer).toMatch(/failed: .*ECONNREFUSED/);
    expect(answer).not.toContain('hunter2');
  });
});
