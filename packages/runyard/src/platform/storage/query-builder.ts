import { createRequire } from 'node:module';
import type * as KyselyModule from 'kysely';

let loaded: typeof KyselyModule | undefined;

/**
 * Kysely, loaded when the first query is built with it. It is 260 files, a fifth of the start of a service that
 * has nothing to migrate, and the hot path does without it.
 */
export function queryBuilder(): typeof KyselyModule {
  loaded ??= createRequire(import.meta.url)('kysely') as typeof KyselyModule;
  return loaded;
}
