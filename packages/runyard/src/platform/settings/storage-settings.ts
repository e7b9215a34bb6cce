import { z } from 'zod';
import { redisAddress, redisUrlForms } from '../engine/redis/url.js';
import { setting } from './setting.js';

const databaseUrl = () =>
  z
    .string()
    .regex(/^(sqlite:(?!:memory:)|postgres(ql)?:\/\/).+/)
    .meta({
      allowed: 'sqlite:relative/path, sqlite:///absolute/path or postgres://user:password@host:5432/name',
    });

const redisUrl = () =>
  z
    .string()
    .refine((url) => redisAddress(url) !== undefined, { error: 'not a URL of a Redis' })
    .meta({ allowed: redisUrlForms });

const durability = () => z.enum(['power-cut', 'process-crash']);

const postgresUrl = () =>
  z
    .string()
    .regex(/^postgres(ql)?:\/\/.+/)
    .meta({ allowed: 'postgres://user:password@host:5432/name' });

const pooler = () => z.enum(['auto', 'session', 'transaction']);
const poolSize = () => z.int().min(1).max(1000);
const maxWaiting = () => z.int().min(1).max(1_000_000);

const databaseOptions = () =>
  z.strictObject({
    url: databaseUrl(),
    durability: durability().optional(),
    autoMigrate: z.boolean().optional(),
    poolSize: poolSize().optional(),
    maxWaiting: maxWaiting().optional(),
    pooler: pooler().optional(),
    directUrl: postgresUrl().optional(),
    replicaUrl: postgresUrl().optional(),
  });

/** Where a service stores, and what connects the processes that store in one place. */
export const storageSettings = {
  database: setting({
    about: 'The main database; an SQLite file in the data folder when left out.',
    schema: databaseUrl,
  }),
  databases: setting({
    about: 'Further databases by id; an agent may name one.',
    default: {},
    allowed:
      'a map from an id to a database URL, or to { url, durability, autoMigrate, poolSize, maxWaiting, pooler, directUrl, replicaUrl }',
    schema: () =>
      z.record(
        z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
        z.union([databaseUrl(), databaseOptions()]),
      ),
  }),
  databasePoolSize: setting({
    about: 'How many connections one process opens to the main database, if it is PostgreSQL.',
    default: 20,
    schema: poolSize,
  }),
  databaseMaxWaiting: setting({
    about:
      'How many calls may wait for one of these connections; beyond that, the service rejects requests with 503 and Retry-After.',
    default: 5_000,
    schema: maxWaiting,
  }),
  databasePooler: setting({
    about:
      'Whether a pooler is between the service and PostgreSQL. transaction: one that may give each transaction another connection; session: no pooler, or one that keeps sessions; auto: the service notices a pooler and treats it like transaction.',
    default: 'auto',
    schema: pooler,
  }),
  databaseDirectUrl: setting({
    about: 'The URL of the main database without its pooler; the service listens there for notifications.',
    schema: postgresUrl,
  }),
  databaseReplicaUrl: setting({
    about: 'A replica of the main database, from which the service reads lists and daily metrics.',
    schema: postgresUrl,
  }),
  redis: setting({
    about:
      'A Redis through which the processes of one PostgreSQL database notify each other faster; it stores nothing that is needed again.',
    schema: redisUrl,
  }),
  durability: setting({
    about: 'What an acknowledged write survives: also a power cut, or only a crash of the process.',
    default: 'power-cut',
    schema: durability,
  }),
  autoMigrate: setting({
    about:
      'Whether to bring the schema up to date at start; on for the embedded database only when left out.',
    schema: () => z.boolean(),
  }),
  databaseStartupMs: setting({
    about: 'How long the service waits at start for a PostgreSQL server to become available.',
    default: 30_000,
    schema: () => z.int().min(0).max(86_400_000),
  }),
};
