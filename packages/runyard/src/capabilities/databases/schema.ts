import { z } from 'zod';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { formBoolean } from '../../platform/http/request/fields.js';

export const databaseParams = lazyObject(() => ({
  db_id: z.string().meta({ description: 'The identifier of the database.', examples: ['default'] }),
}));

const facts = {
  target_version: {
    description:
      'The version to migrate to, up or down; the latest if omitted. 0 removes all tables. The versions 2.0.0, 2.3.0, 2.5.0 and 2.5.6 of other implementations are accepted and change nothing.',
    examples: ['22'],
  },
  dry_run: {
    description: 'true: nothing is executed, and the response has the SQL of each step.',
    'x-addition': true,
  },
  force: { description: 'true: also if a downgrade deletes data.', 'x-addition': true },
} as const;

const longestVersion = 100;

export const migrateQuery = lazyObject(() => ({
  target_version: z.string().max(longestVersion).optional().meta(facts.target_version),
  dry_run: formBoolean().optional().meta(facts.dry_run),
  force: formBoolean().optional().meta(facts.force),
}));

/** The same in a body, as some clients send it. The query comes first. */
export const migrateBody = lazySchema(
  () =>
    z
      .object({
        target_version: z
          .union([z.string().max(longestVersion), z.int()])
          .nullish()
          .meta(facts.target_version),
        dry_run: z.boolean().nullish().meta(facts.dry_run),
        force: z.boolean().nullish().meta(facts.force),
      })
      .nullish(),
  { id: 'MigrateRequest', description: 'What to migrate to, if the query does not name it.' },
);

const step = lazyObject(() => ({
  version: z.int(),
  name: z.string(),
  direction: z.enum(['up', 'down']),
  status: z.enum(['done', 'failed', 'not_run', 'planned']).meta({
    description: 'failed: it was rolled back. not_run: an earlier step failed. planned: a dry run.',
  }),
  ms: z.int().meta({ description: 'How long it took.' }),
  sql: z.array(z.string()).optional().meta({ description: 'The statements, in a dry run.' }),
}));

const loss = lazyObject(() => ({
  table: z.string(),
  column: z.string().optional().meta({ description: 'Set if only the values of this column are deleted.' }),
  rows: z.int().meta({ description: 'The number of rows, counted up to 1,000,000.' }),
  more: z.boolean().meta({ description: 'true: there are more rows.' }),
}));

const report = lazyObject(() => ({
  dry_run: z.boolean(),
  from_version: z.int(),
  to_version: z
    .int()
    .meta({ description: 'The version after the migration; after a dry run, the planned one.' }),
  steps: z.array(step),
  losses: z.array(loss).meta({ description: 'What the downgrade deletes.' }),
}));

export const migratedBody = lazyObject(() => ({ message: z.string(), ...added(report.shape) }), {
  id: 'DatabaseMigrated',
  description: 'What was done to the schema of a database.',
  examples: [
    {
      message: 'Database migrated successfully to latest version',
      dry_run: false,
      from_version: 21,
      to_version: 22,
      steps: [{ version: 22, name: 'schedule turns', direction: 'up', status: 'done', ms: 3 }],
      losses: [],
    },
  ],
});

export const migratedAllBody = lazyObject(
  () => ({
    message: z.string(),
    databases: z
      .record(z.string(), report)
      .meta({ description: 'By the id of the database.', 'x-addition': true }),
  }),
  { id: 'DatabasesMigrated', description: 'What was done to the schemas of all databases.' },
);

export const partlyMigratedBody = lazySchema(
  () =>
    migratedAllBody.extend({
      failed: z
        .record(z.string(), z.string())
        .meta({ description: 'Why a database was not migrated, by its id.' }),
    }),
  { id: 'DatabasesPartlyMigrated', description: 'Some databases were not migrated.' },
);

export const migrationFailedBody = lazyObject(
  () => ({
    detail: z.string(),
    error_code: z.string(),
    request_id: z.string(),
    ...added(report.shape),
  }),
  { id: 'DatabaseMigrationFailed', description: 'A step failed and was rolled back.' },
);

const versionOf = lazyObject(() => ({ name: z.string(), version: z.int() }));

export const databasesBody = lazySchema(
  () =>
    z.array(
      z.object({
        db_id: z.string(),
        status: z.enum(['current', 'older', 'newer', 'unavailable']).meta({
          description:
            'Whether the database has the schema of this process; unavailable: it does not respond.',
        }),
        version: z
          .int()
          .optional()
          .meta({ description: 'The version of the schema; 0 is an empty database.' }),
        latest_version: z.int().meta({ description: 'The newest version that this process knows.' }),
        pending: z.array(versionOf).meta({ description: 'The migrations that are still to run.' }),
        tables: z
          .array(versionOf)
          .meta({ description: 'The tables, each with the version that changed it last.' }),
      }),
    ),
  { description: 'The registered databases, that of the service first.' },
);

/** Fields that the wire contract does not have. */
function added<Fields extends Readonly<Record<string, z.ZodType>>>(fields: Fields): Fields {
  for (const field of Object.values(fields))
    z.globalRegistry.add(field, { ...field.meta(), 'x-addition': true });
  return fields;
}
