import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { dropSchema, onServer, schemaPrefix } from './prepared-postgres.js';

const script = fileURLToPath(new URL('../../../../scripts/build.mjs', import.meta.url));

/**
 * Tests run the compiled package, also as processes. Quick when nothing changed since. Whether the types are right is
 * another check's business.
 */
function build(): void {
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  if (status !== 0) console.warn(stderr);
}

/** Before all tests and after them; called for each project of the configuration. */
export function setup(project: TestProject): undefined | (() => Promise<void>) {
  if (process.env.RUNYARD_TEST_RUN !== undefined) return undefined;
  process.env.RUNYARD_TEST_RUN = randomBytes(4).toString('hex');
  build();
  project.onTestsRerun(async () => build());
  return dropSchemas;
}

/** What the processes kept on PostgreSQL for their next test. */
async function dropSchemas(): Promise<void> {
  const server = process.env.RUNYARD_TEST_POSTGRES_URL;
  if (!server) return;
  const { rows } = await onServer(
    server,
    `SELECT nspname AS name FROM pg_namespace WHERE starts_with(nspname, '${schemaPrefix()}')`,
  );
  for (const { name } of rows) await dropSchema(server, name);
}
