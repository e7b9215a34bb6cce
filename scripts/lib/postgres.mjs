import { existsSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter } from 'node:path';
import { startCluster, startStandby } from './postgres-cluster.mjs';
import { freePort, install, once } from './servers.mjs';
import { capture } from './setup.mjs';

/**
 * A PostgreSQL for the tests: a given URL, a running server that lets us in, local binaries, the system's package
 * manager, in that order. Answers { url, description, stop }; stop may be called more than once. `settings` are those of
 * a server that is started here.
 */
export async function providePostgres(signal, settings) {
  const given = process.env.RUNYARD_TEST_POSTGRES_URL;
  if (given) return { url: given, description: 'RUNYARD_TEST_POSTGRES_URL', stop: async () => {} };
  return (
    (await onRunningServer()) ??
    (await onLocalBinaries(signal, settings)) ??
    (await onInstalledBinaries(signal, settings))
  );
}

/** A primary and a standby that streams from it, for tests that end them. */
export async function startPair(signal, settings) {
  const folder = (await findBinaries()) ?? ((await installBinaries()) && (await findBinaries()));
  if (!folder) throw new Error('The test needs the programs of PostgreSQL, and none were found.');
  const primary = await startCluster(folder, await freePort(), signal, settings);
  try {
    const standby = await startStandby(folder, primary, await freePort(), signal, settings);
    return {
      primary: { ...primary, stop: once(primary.stop) },
      standby: { ...standby, stop: once(standby.stop) },
    };
  } catch (error) {
    await primary.stop();
    throw error;
  }
}

/** A database of our own on the usual port, if a usual user may make one without a password. */
async function onRunningServer() {
  for (const user of new Set([process.env.PGUSER, userInfo().username, 'postgres'])) {
    if (!user) continue;
    const server = `postgres://${encodeURIComponent(user)}@127.0.0.1:5432`;
    const name = `runyard_test_${process.pid}_${Date.now()}`;
    const outcome = await execute(`${server}/postgres`, `create database ${name}`);
    if (outcome === 'no server') return undefined;
    if (outcome !== 'done') continue;
    const drop = once(() => execute(`${server}/postgres`, `drop database if exists ${name} with (force)`));
    return {
      url: `${server}/${name}`,
      description: `database ${name} on the server at 127.0.0.1:5432`,
      stop: drop,
    };
  }
  return undefined;
}

async function execute(connectionString, sql) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(sql);
    return 'done';
  } catch (error) {
    return error.code === 'ECONNREFUSED' ? 'no server' : 'refused';
  } finally {
    await client.end().catch(() => {});
  }
}

async function onLocalBinaries(signal, settings) {
  const folder = await findBinaries();
  if (!folder) return undefined;
  const cluster = await startCluster(folder, await freePort(), signal, settings);
  return {
    url: cluster.url,
    description: `private cluster on port ${cluster.port} from ${folder}`,
    stop: once(cluster.stop),
  };
}

async function onInstalledBinaries(signal, settings) {
  const used = await install({ brew: 'postgresql@17', apt: 'postgresql' });
  const provided = used ? await onLocalBinaries(signal, settings) : undefined;
  if (provided) return { ...provided, description: `${provided.description}, installed with ${used}` };
  throw new Error(
    'The tests need PostgreSQL and none was found. Set RUNYARD_TEST_POSTGRES_URL=postgres://user:password@host/database, or install PostgreSQL.',
  );
}

async function findBinaries() {
  const asked = await capture('pg_config', ['--bindir']);
  const candidates = [
    ...(asked.code === 0 ? [asked.output.trim()] : []),
    ...(process.env.PATH ?? '').split(delimiter),
    ...versionFolders('/usr/lib/postgresql', (version) => `/usr/lib/postgresql/${version}/bin`),
    ...versionFolders('/opt/homebrew/opt', (name) => `/opt/homebrew/opt/${name}/bin`, /^postgresql/),
    ...versionFolders('/usr/local/opt', (name) => `/usr/local/opt/${name}/bin`, /^postgresql/),
  ];
  return candidates.find(
    (folder) => folder && existsSync(`${folder}/initdb`) && existsSync(`${folder}/postgres`),
  );
}

function versionFolders(parent, path, pattern = /^\d/) {
  if (!existsSync(parent)) return [];
  const names = readdirSync(parent).filter((name) => pattern.test(name));
  return names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true })).map(path);
}
