import type { Expression, SqlBool } from 'kysely';
import type { DataScope } from '../auth/caller.js';
import { type SqlValue, type Statement, statement } from './database.js';
import { queryBuilder } from './query-builder.js';

/** A query, an update or a removal whose rows can be narrowed. */
interface Narrowed<Self> {
  where(condition: Expression<SqlBool>): Self;
}

/** Of a query, what the scope shows: its rows have their owner in this column. */
export function within<Query extends Narrowed<Query>>(query: Query, scope: DataScope, column: string): Query {
  if (scope.kind === 'all') return query;
  const { sql } = queryBuilder();
  const owner = sql.ref(column);
  // two plain comparisons, each of which both databases find by an index
  return query.where(
    scope.kind === 'user' ? sql<SqlBool>`${owner} = ${scope.userId}` : sql<SqlBool>`${owner} IS NULL`,
  );
}

/** The same condition for SQL that is written out, to be put behind another one. Its parameter is `ownerParameters`. */
export function andWithin(scope: DataScope, column: string): string {
  if (scope.kind === 'all') return '';
  return scope.kind === 'user' ? ` AND ${column} = ?` : ` AND ${column} IS NULL`;
}

export function ownerParameters(scope: DataScope): readonly SqlValue[] {
  return scope.kind === 'user' ? [scope.userId] : [];
}

/** One prepared statement for each kind of scope. */
export type ScopedStatement = (scope: DataScope) => Statement;

/**
 * A statement that depends on the scope. `write` puts the condition where it belongs; it is empty for a scope that
 * shows everything. Written with `?` placeholders, in the words of each database.
 */
export function scopedStatement(
  name: string,
  column: string,
  write: (owned: string, dialect: 'sqlite' | 'postgres') => string,
): ScopedStatement {
  const named = (scope: DataScope): Statement => {
    const owned = andWithin(scope, column);
    const postgres = statement('', write(owned, 'postgres')).postgres;
    return { name: `${name}_${scope.kind}`, sqlite: write(owned, 'sqlite'), postgres };
  };
  const statements = {
    all: named({ kind: 'all' }),
    user: named({ kind: 'user', userId: '' }),
    unowned: named({ kind: 'unowned' }),
  };
  return ({ kind }) => statements[kind];
}
