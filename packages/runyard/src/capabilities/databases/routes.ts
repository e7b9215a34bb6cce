import type { z } from 'zod';
import { reply } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import type { SchemaChange } from '../../platform/storage/migrations/change-schema.js';
import type { MigrationResult } from '../../platform/storage/migrations/migrate.js';
import {
  databaseParams,
  databasesBody,
  migrateBody,
  migratedAllBody,
  migratedBody,
  migrateQuery,
  migrationFailedBody,
  partlyMigratedBody,
} from './schema.js';
import { type DatabaseStatus, type DatabasesService, failureOf, type MigrateRequest } from './service.js';

export interface DatabaseServices {
  readonly databases: DatabasesService;
}

const downgrades =
  'A downgrade that deletes data gets 409 with the tables and the number of rows, unless force is true. While the schema does not ' +
  'fit this version, requests for the database get 503.';

const migrateAll = defineRoute({
  method: 'POST',
  path: '/databases/all/migrate',
  operationId: 'migrate_all_databases',
  scope: 'config:write',
  tag: 'Databases',
  summary: 'Migrate all databases',
  description: `Migrates the schemas of all databases, one after the other. ${downgrades}`,
  query: migrateQuery,
  body: migrateBody,
  responses: {
    200: migratedAllBody,
    207: { description: 'At least one database was not migrated.', schema: partlyMigratedBody },
  },
  handler: async ({ databases }: DatabaseServices, { query, body }) => {
    const request = requestOf(query, body);
    const { changes, failed, total } = await databases.migrateAll(request);
    const reports = Object.fromEntries(
      Array.from(changes, ([id, change]) => [id, reportOf(change, request)]),
    );
    if (failed.size === 0)
      return {
        message: messageOf(request, `All databases migrated successfully to ${targetOf(request)}`),
        databases: reports,
      };
    const message = `Migrated ${total - failed.size}/${total} databases to ${targetOf(request)}`;
    return reply(207, { message, failed: Object.fromEntries(failed), databases: reports });
  },
});

const migrateOne = defineRoute({
  method: 'POST',
  path: '/databases/:db_id/migrate',
  operationId: 'migrate_database',
  scope: 'config:write',
  tag: 'Databases',
  summary: 'Migrate a database',
  description: `Migrates the schema of a database up or down. ${downgrades}`,
  params: databaseParams,
  query: migrateQuery,
  body: migrateBody,
  responses: {
    200: migratedBody,
    500: {
      description: 'A step failed and was rolled back; those before it were kept.',
      schema: migrationFailedBody,
    },
  },
  handler: async ({ databases }: DatabaseServices, { params, query, body, requestId }) => {
    const request = requestOf(query, body);
    const change = await databases.migrate(params.db_id, request);
    const failure = failureOf(change);
    if (failure === undefined)
      return {
        message: messageOf(request, `Database migrated successfully to ${targetOf(request)}`),
        ...reportOf(change, request),
      };
    const detail = `Failed to migrate database: ${failure}`;
    const error = { detail, error_code: 'migration_failed', request_id: requestId };
    return reply(500, { ...error, ...reportOf(change, request) });
  },
});

const listDatabases = defineRoute({
  method: 'GET',
  path: '/databases',
  operationId: 'list_databases',
  scope: 'config:read',
  tag: 'Databases',
  summary: 'List the databases',
  description:
    'The registered databases with the versions of their schemas and tables, and pending migrations.',
  addition: true,
  responses: { 200: databasesBody },
  handler: async ({ databases }: DatabaseServices) => (await databases.list()).map(statusBodyOf),
});

export const databaseRoutes: readonly Route<DatabaseServices>[] = [listDatabases, migrateAll, migrateOne];

function requestOf(query: z.output<typeof migrateQuery>, body: z.output<typeof migrateBody>): MigrateRequest {
  return {
    target: String(query.target_version ?? body?.target_version ?? '').trim(),
    dryRun: query.dry_run ?? body?.dry_run ?? false,
    force: query.force ?? body?.force ?? false,
  };
}

function targetOf({ target }: MigrateRequest): string {
  return target === '' ? 'latest version' : `version ${target}`;
}

function messageOf({ dryRun }: MigrateRequest, done: string): string {
  return dryRun ? 'Dry run: nothing was executed' : done;
}

function reportOf({ from, to, results, losses }: SchemaChange, { dryRun }: MigrateRequest) {
  return { dry_run: dryRun, from_version: from, to_version: to, steps: results.map(stepOf), losses };
}

function stepOf({ version, name, direction, status, ms, sql }: MigrationResult) {
  return { version, name, direction, status, ms, ...(sql !== undefined && { sql }) };
}

function statusBodyOf({ databaseId, schema, latest, tables }: DatabaseStatus) {
  return {
    db_id: databaseId,
    status: schema === undefined ? 'unavailable' : fitOf(schema.current, latest),
    version: schema?.current,
    latest_version: latest,
    pending: schema?.pending ?? [],
    tables: Array.from(tables, ([name, version]) => ({ name, version })),
  };
}

function fitOf(current: number, latest: number): 'current' | 'older' | 'newer' {
  if (current === latest) return 'current';
  return current < latest ? 'older' : 'newer';
}
