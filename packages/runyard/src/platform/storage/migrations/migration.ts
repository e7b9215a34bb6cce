import type { Kysely } from 'kysely';
import type { Dialect } from '../database.js';

/** A numbered change of the schema. Migrations are written once and never edited after a release. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /**
   * Both run in a transaction. They see an untyped database on purpose: the types describe the newest schema,
   * a migration works on the one of its time.
   */
  up(database: Kysely<unknown>, dialect: Dialect): Promise<void>;
  down(database: Kysely<unknown>, dialect: Dialect): Promise<void>;
}
