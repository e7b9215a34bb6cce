import { z } from 'zod';
import { errors } from '../../../core/errors/errors.js';
import { checkOptions } from '../../../core/options/check-options.js';
import { count, flag, milliseconds, objectOf, text } from '../../../core/options/kinds.js';
import { tool } from '../../../core/tools/tool.js';
import { type Toolkit, toolkit } from '../../../core/tools/toolkit.js';
import { sqlitePath } from '../../storage/open.js';
import { postgresRunner } from './postgres-runner.js';
import type { QueryAnswer, QueryRunner } from './query-runner.js';
import { sqliteRunner } from './sqlite-runner.js';

export interface SqlQueryOptions {
  /** What is in the database, in a sentence for the model. */
  readonly description?: string;
  /** Default 100. */
  readonly maximumRows?: number;
  /** For each query. Default 10 s. */
  readonly timeoutMs?: number;
  /** PostgreSQL: lets a role through that may also read files or run programs on its server. Better: another role. */
  readonly allowPowerfulRole?: boolean;
  /** Stands before the names of the tools, for an agent with two databases. */
  readonly prefix?: string;
}

const sqlQueryOptions = objectOf<SqlQueryOptions>({
  description: text,
  maximumRows: count(1),
  timeoutMs: milliseconds(1),
  allowPowerfulRole: flag,
  prefix: text,
});

/**
 * Tools to ask a database, which cannot change it. `database` is `sqlite:///absolute/path`, `sqlite:relative/path`
 * or `postgres://…`.
 */
export function sqlQuery(database: string, options: SqlQueryOptions = {}): Toolkit {
  checkOptions('sqlQuery()', options, sqlQueryOptions);
  const runner = runnerFor(database, options);
  const { description, maximumRows = 100, timeoutMs = 10_000, prefix } = options;
  const about = description === undefined ? '' : ` ${description}`;
  const describeTool = tool({
    name: 'describe_database',
    description: `List the tables of the database with their columns. Call it before you write a query.${about}`,
    readOnly: true,
    execute: async (_, { signal }) =>
      (await runner.describe({ maximumRows: 1_000, timeoutMs, signal })) || 'There are no tables.',
  });
  const queryTool = tool({
    name: 'query_database',
    description: `Run one ${runner.dialect} SELECT query and get up to ${maximumRows} rows. Nothing can be changed.${about}`,
    inputSchema: z.object({ sql: z.string().min(1).max(20_000).describe('The query: one statement') }),
    readOnly: true,
    execute: async ({ sql }, { signal }) =>
      table(await runner.query(sql, { maximumRows, timeoutMs, signal })),
  });
  return toolkit({
    name: 'database',
    tools: [describeTool, queryTool],
    ...(prefix !== undefined && { prefix }),
  });
}

function runnerFor(database: string, { allowPowerfulRole = false }: SqlQueryOptions): QueryRunner {
  if (typeof database === 'string' && database.startsWith('sqlite:'))
    return sqliteRunner(sqlitePath(database));
  if (/^postgres(ql)?:\/\//.test(database)) return postgresRunner(database, { allowPowerfulRole });
  throw errors.invalidConfig(
    'sqlQuery() takes sqlite:///absolute/path, sqlite:relative/path or postgres://user@host/database.',
  );
}

const longestCell = 2_000;

/** Columns and rows as JSON lines: compact, and no value can be mistaken for a border. */
function table({ columns, rows, more }: QueryAnswer): string {
  const lines = [columns, ...rows].map((cells) => JSON.stringify(cells.map(shortened)));
  if (rows.length === 0) lines.push('[No rows]');
  if (more) lines.push(`[There are more rows than the ${rows.length} above]`);
  return lines.join('\n');
}

function shortened(cell: unknown): unknown {
  const text = typeof cell === 'string' ? cell : typeof cell === 'object' ? JSON.stringify(cell) : '';
  return text.length > longestCell ? `${text.slice(0, longestCell)}… (${text.length} characters)` : cell;
}
