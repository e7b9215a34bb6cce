import type { Dialect } from '../database.js';

/** A numbered change of the schema. Migrations are written once and never edited after a release. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /**
   * The statements of the change, and those that take it back. They run in their order in one transaction, and
   * are plain SQL: a start with a new data folder does not wait for the query builder.
   */
  up(dialect: Dialect): readonly string[];
  down(dialect: Dialect): readonly string[];
}
