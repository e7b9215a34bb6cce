import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** Begins the name of every schema of this run of the tests; what is left of them is dropped at its end. */
export const schemaPrefix = () => `test_${process.env.RUNYARD_TEST_RUN ?? 'alone'}_`;

const newName = () => schemaPrefix() + randomBytes(8).toString('hex');

/** Hundreds of tests share the connections of their process for this. */
const pools = new Map<string, pg.Pool>();

export async function onServer(server: string, sql: string): Promise<pg.QueryResult> {
  const pool = pools.get(server) ?? new pg.Pool({ connectionString: server, allowExitOnIdle: true });
  // an idle connection that breaks is replaced by the next query
  if (!pools.has(server)) pool.on('error', () => {});
  pools.set(server, pool);
  return pool.query(sql);
}

export function urlOf(server: string, schema: string): string {
  const url = new URL(server);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return url.href;
}

export async function makeSchema(server: string): Promise<string> {
  const schema = newName();
  await onServer(server, `CREATE SCHEMA ${schema}`);
  return schema;
}

export async function dropSchema(server: string, schema: string): Promise<void> {
  await onServer(server, `DROP SCHEMA ${schema} CASCADE`);
}

/** Everything that a test may have changed about the tables of a schema. */
const shapeOf = (schema: string) => `
  SELECT md5(string_agg(part, ' ' ORDER BY part)) AS shape FROM (
    SELECT relname || relkind::text || relnatts || coalesce(reloptions::text, '') AS part
      FROM pg_class WHERE relnamespace = '${schema}'::regnamespace
    UNION ALL SELECT conname FROM pg_constraint WHERE connamespace = '${schema}'::regnamespace
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace
    UNION ALL SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE relnamespace = '${schema}'::regnamespace AND NOT tgisinternal
  ) AS parts`;

const tablesOf = (schema: string) => `
  SELECT relname AS name FROM pg_class
  WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r' AND relname <> 'runyard_migrations'`;

/** Only the tables in which a row was ever stored: a test writes to few, and to delete nothing from one takes as long. */
const empty = (schema: string) => `
  DO $$ DECLARE filled record; BEGIN
    FOR filled IN ${tablesOf(schema)} AND pg_relation_size(oid) > 0 LOOP
      EXECUTE format('DELETE FROM ${schema}.%I', filled.name);
    END LOOP;
    PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
      WHERE relnamespace = '${schema}'::regnamespace;
  END $$`;

/**
 * Schemas with all tables and no rows. To make one takes the server a third of a second, to empty one a hundredth:
 * a test leaves its schema to the next one.
 */
export class PreparedSchemas {
  readonly #spare: string[] = [];
  #shape = '';
  #lock: (schema: string) => string = () => '';

  constructor(
    private readonly server: string,
    private readonly migrate: (schema: string) => Promise<void>,
  ) {}

  async take(): Promise<string> {
    const spare = this.#spare.pop();
    if (spare !== undefined) return spare;
    const schema = await makeSchema(this.server);
    await this.migrate(schema);
    if (this.#shape === '') await this.#remember(schema);
    return schema;
  }

  async #remember(schema: string): Promise<void> {
    const { rows } = await onServer(this.server, tablesOf(schema));
    // What still writes, writes to the end before.
    this.#lock = (locked) => `LOCK TABLE ${rows.map(({ name }) => `${locked}.${name}`).join(', ')}`;
    this.#shape = await this.#shapeNow(schema);
  }

  async #shapeNow(schema: string): Promise<string> {
    return (await onServer(this.server, shapeOf(schema))).rows[0].shape;
  }

  /** Drops one whose tables were changed. */
  async giveBack(schema: string): Promise<void> {
    if ((await this.#shapeNow(schema)) !== this.#shape) return dropSchema(this.server, schema);
    // Under another name: connections that a test forgot find no tables, as if the schema was dropped.
    const next = newName();
    // One text is one transaction.
    await onServer(
      this.server,
      `ALTER SCHEMA ${schema} RENAME TO ${next}; ${this.#lock(next)}; ${empty(next)}`,
    );
    this.#spare.push(next);
  }
}
