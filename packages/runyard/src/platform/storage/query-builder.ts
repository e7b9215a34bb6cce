import { createRequire } from 'node:module';
import type * as KyselyModule from 'kysely';

let loaded: typeof KyselyModule | undefined;

/**
 * Kysely, loaded when the first query is built with it. It is 260 files, a fifth of the start of a service; the
 * migrations and the hot path do without it.
 */
export function queryBuilder(): typeof KyselyModule {
  const kysely: typeof KyselyModule = loaded ?? createRequire(import.meta.url)('kysely');
  loaded = kysely;
  return kysely;
}
