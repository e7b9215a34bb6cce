import { z } from 'zod';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import type { Described } from '../capability.js';

export const homeBody = lazyObject(() => ({ name: z.string(), id: z.string(), version: z.string() }), {
  id: 'Home',
  description: 'The name and version of the service.',
  examples: [{ name: 'Runyard API', id: 'runyard', version: '0.1.0' }],
});

export const healthBody = lazyObject(
  () => ({
    status: z.string(),
    instantiated_at: z.iso.datetime().meta({ description: 'When the process started.' }),
  }),
  {
    id: 'Health',
    description: 'The service responds.',
    examples: [{ status: 'ok', instantiated_at: '2026-11-15T00:35:54.448Z' }],
  },
);

const runCounts = lazyObject(() => ({
  executing: z.int().meta({ description: 'Runs in progress.' }),
  waiting: z.int().meta({ description: 'Runs in the queue.' }),
  max_executing: z.int().meta({ description: 'The setting maxConcurrentRuns.' }),
  max_waiting: z.int().meta({ description: 'The setting maxWaitingRuns.' }),
}));

const poolCounts = lazyObject(() => ({
  in_use: z.int().meta({ description: 'Connections in use.' }),
  open: z.int().meta({ description: 'Open connections.' }),
  size: z.int().meta({ description: 'How many connections may be open.' }),
  waiting: z.int().meta({ description: 'Calls that wait for a connection.' }),
}));

const checkStatus = lazySchema(() => z.enum(['ok', 'failed', 'unknown']));

function checkOf(states: readonly [string, ...string[]], description: string) {
  const databases = z.record(z.string(), z.enum(states)).meta({ description: 'By the id of the database.' });
  return z.object({ status: checkStatus, databases }).meta({ description });
}

export const readyBody = lazyObject(
  () => ({
    status: z.enum(['ready', 'not_ready']),
    checks: z.object({
      database: checkOf(
        ['ok', 'unavailable', 'read_only', 'unknown'],
        'Whether each database accepts writes.',
      ).extend({
        pools: z
          .record(z.string(), z.record(z.string(), poolCounts))
          .optional()
          .meta({ description: 'The connections to each PostgreSQL database, by the name of the pool.' }),
      }),
      migrations: checkOf(
        ['current', 'older', 'newer', 'unknown'],
        'Whether each database has the schema of this version.',
      ),
      engine: checkOf(
        ['ok', 'closed', 'leases_overdue', 'recovery_stuck', 'unknown'],
        'Whether the engine renews leases and looks for abandoned runs. The check passes even if all slots are taken.',
      ).extend({ runs: runCounts.optional() }),
      stopping: z.object({ status: checkStatus }).meta({ description: 'failed: the service is stopping.' }),
      redis: checkOf(
        ['ok', 'unavailable'],
        'Whether the Redis beside each database can be used, where there is one. A service without it is ready.',
      ).optional(),
    }),
  }),
  {
    id: 'Ready',
    description: 'Whether this process is ready for requests, and if not, why.',
    examples: [
      {
        status: 'ready',
        checks: {
          database: { status: 'ok', databases: { default: 'ok' } },
          migrations: { status: 'ok', databases: { default: 'current' } },
          engine: {
            status: 'ok',
            databases: { default: 'ok' },
            runs: { executing: 3, waiting: 0, max_executing: 1000, max_waiting: 10000 },
          },
          stopping: { status: 'ok' },
        },
      },
    ],
  },
);

const infoBody = lazyObject(() => ({
  os_id: z.string(),
  name: z.string().nullable(),
  product: z.literal('Runyard').meta({ 'x-addition': true }),
  version: z.string().meta({ description: 'The version of Runyard.', 'x-addition': true }),
  agno_version: z.string().meta({ description: 'The version of Runyard, for older clients.' }),
  mcp: z.object({
    enabled: z.boolean(),
    path: z.string().nullable(),
    oauth: z
      .object({ authorization_servers: z.array(z.string()).optional(), resource: z.string().optional() })
      .nullable(),
  }),
  auth_mode: z.enum(['none', 'security_key', 'jwt']),
  runs: runCounts.meta({ description: 'The run counts of this process.', 'x-addition': true }),
}));

const domain = lazyObject(() => ({ display_name: z.string().optional() }));

const databaseOf = lazyObject(() => ({
  db_id: z.string(),
  domain_config: domain.optional(),
  tables: z.array(z.string()).optional(),
}));
const section = lazyObject(() => ({
  display_name: z.string().optional(),
  dbs: z.array(databaseOf).optional(),
}));

const configBody = lazyObject(() => ({
  os_id: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
  os_database: z.string().optional(),
  databases: z.array(z.string()),
  chat: z.object({ quick_prompts: z.record(z.string(), z.array(z.string())) }).optional(),
  manifest: z
    .record(
      z.string(),
      z.object({
        description: z.string().optional(),
        labels: z.array(z.string()).optional(),
        quick_prompts: z.array(z.string()).optional(),
      }),
    )
    .optional(),
  knowledge: section
    .extend({
      knowledge_instances: z
        .array(
          z.object({
            id: z.string(),
            name: z.string(),
            description: z.string().optional(),
            db_id: z.string(),
            table: z.string(),
          }),
        )
        .optional(),
    })
    .optional(),
  evals: section.optional(),
  interfaces: z.array(z.object({ type: z.string(), version: z.string(), route: z.string() })),
}));

/** The body of `/info`, with what the capabilities and interfaces add to it. */
export function infoBodyOf(all: readonly Described[]) {
  const parts = (): z.ZodRawShape => Object.assign({}, ...all.map(({ info }) => info?.()));
  return lazyObject(() => ({ ...infoBody.shape, ...parts() }), {
    id: 'Info',
    description: 'Information that a client needs before authentication.',
  });
}

/** The body of `/config`, with the sections of the capabilities and what they add to it. */
export function configBodyOf(all: readonly Described[]) {
  const parts = (): z.ZodRawShape => {
    const sections = all.flatMap(({ section: own }) =>
      // some sections hold more than the databases
      own === undefined || own.name in configBody.shape ? [] : [[own.name, section.optional()]],
    );
    return Object.assign(Object.fromEntries(sections), ...all.map(({ config }) => config?.()));
  };
  return lazyObject(() => ({ ...configBody.shape, ...parts() }), {
    id: 'Config',
    description: 'The components, databases and interfaces of the service.',
  });
}
