import { z } from 'zod';

/** The query fields that choose one of several databases. */
export const databaseQuery = () => ({
  db_id: z.string().optional().meta({
    description: 'The id of the database; required if the service has several.',
  }),
  table: z.string().optional().meta({
    description: 'The name of a table in that database. Requires db_id.',
  }),
});

/** Which database a request means. */
export interface DatabaseQuery {
  readonly db_id?: string | undefined;
  readonly table?: string | undefined;
}
