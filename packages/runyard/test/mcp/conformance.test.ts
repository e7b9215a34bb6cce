import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { freshSqlite } from '../support/databases.js';
import { conformanceServer } from './conformance-server.js';
import { startServer } from './fixture.js';

/** Server scenarios of the suite that do not apply, each with its reason. All others pass. */
const notApplicable: Readonly<Record<string, string>> = {};

const suite = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');
const onNode20 = fileURLToPath(new URL('conformance-on-node-20.mjs', import.meta.url));

test('every server scenario of the official conformance suite that applies passes', async () => {
  const { url: database } = await freshSqlite();
  const { url } = await startServer(conformanceServer, { database });
  const args = ['--import', onNode20, suite, 'server', '--url', url, '--suite', 'all'];
  const run = promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  const results = [...stdout.matchAll(/^([✓✗]) ([a-z\d-]+): (\d+) passed, (\d+) failed/gm)].map(
    ([, mark, name, passed, failed]) => ({ mark, name, passed, failed }),
  );
  expect(results.length, stdout.slice(-2_000)).toBeGreaterThan(25);
  const faults = results.filter(({ mark, name = '' }) => mark !== '✓' && !(name in notApplicable));
  expect(faults, stdout.slice(-20_000)).toEqual([]);
});
