import { type Statement, statement, statementNow } from './database.js';

/** What queues in the database say differently in each dialect. */
export interface QueueWords {
  readonly now: string;
  /** The members of a list that is a parameter. */
  readonly among: string;
  readonly skipLocked: string;
  readonly inOrder: string;
  /** The later of two times. */
  readonly later: string;
}

/** A statement of a queue of rows that several processes take work from. */
export function queueStatement(name: string, sql: (words: QueueWords) => string): Statement {
  return {
    name,
    sqlite: sql({
      now: statementNow.sqlite,
      among: 'IN (SELECT value FROM json_each(?))',
      skipLocked: '',
      inOrder: '',
      later: 'max',
    }),
    postgres: statement(
      name,
      sql({
        now: statementNow.postgres,
        among: '= ANY(CAST(? AS text[]))',
        skipLocked: 'FOR UPDATE SKIP LOCKED',
        inOrder: 'FOR UPDATE',
        later: 'greatest',
      }),
    ).postgres,
  };
}
