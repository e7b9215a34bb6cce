/**
 * The tables, as the queries see them: each capability declares those that are its own. Payload columns hold JSON as
 * text: storage never looks inside, and PostgreSQL's own JSON type cannot hold every string. Times are milliseconds
 * since the epoch.
 */
export interface Schema {
  runyard_migrations: { version: number; name: string; applied_at: number };
}
