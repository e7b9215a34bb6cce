import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capture } from './setup.mjs';

/**
 * Makes and starts a throw-away cluster on loopback. Its data is not kept safe, because it is never needed again, unless
 * `settings` of the server say otherwise.
 */
export async function startCluster(binaries, port, signal, settings = {}) {
  const user = serverUser();
  const folder = mkdtempSync(join(tmpdir(), 'runyard-postgres-'));
  const password = randomBytes(16).toString('hex');
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  try {
    await initialise(binaries, folder, password, user);
    signal.throwIfAborted();
    const server = launch(binaries, folder, port, user, settings);
    const stop = async () => {
      await server.stop();
      removeFolder();
    };
    await untilReady(server, port, password, signal).catch(async (error) => {
      await stop();
      throw error;
    });
    return { url: urlOf(port, password), port, stop };
  } catch (error) {
    removeFolder();
    throw error;
  }
}

/** Starts a standby that streams from a cluster of `startCluster`. */
export async function startStandby(binaries, primary, port, signal, settings = {}) {
  const user = serverUser();
  const folder = mkdtempSync(join(tmpdir(), 'runyard-standby-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  const password = new URL(primary.url).password;
  try {
    if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
    const words = ['-d', primary.url, '-D', join(folder, 'data'), '-R', '-X', 'stream', '-c', 'fast', '-N'];
    const { code, output } = await capture(join(binaries, 'pg_basebackup'), words, { cwd: folder, ...user });
    if (code !== 0) throw new Error(`pg_basebackup failed: ${output.trim()}`);
    signal.throwIfAborted();
    const server = launch(binaries, folder, port, user, settings);
    const stop = async () => {
      await server.stop();
      removeFolder();
    };
    await untilReady(server, port, password, signal).catch(async (error) => {
      await stop();
      throw error;
    });
    return { url: urlOf(port, password), port, stop };
  } catch (error) {
    removeFolder();
    throw error;
  }
}

function urlOf(port, password) {
  return `postgres://runyard:${password}@127.0.0.1:${port}/postgres`;
}

/** PostgreSQL refuses to run as root: another user of the system has to lend its name. */
export function serverUser() {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const found = ['postgres', 'nobody']
    .map((name) => users.find((fields) => fields[0] === name))
    .find(Boolean);
  if (!found)
    throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody to run it as.');
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

async function initialise(binaries, folder, password, user) {
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user.uid !== undefined) for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);
  const words = ['-D', join(folder, 'data'), '-U', 'runyard', '--pwfile', passwordFile];
  // Not SCRAM: it is made to cost time, and the tests open thousands of connections to a server that lives for minutes.
  const how = ['-A', 'md5', '-E', 'UTF8', '--locale=C', '--no-sync'];
  const { code, output } = await capture(join(binaries, 'initdb'), [...words, ...how], {
    cwd: folder,
    ...user,
  });
  if (code !== 0) throw new Error(`initdb failed: ${output.trim()}`);
}

function launch(binaries, folder, port, user, given) {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    full_page_writes: 'off',
    max_connections: '200',
    shared_buffers: '64MB',
    ...given,
  };
  const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // A group of its own: Ctrl-C in the terminal must reach it through stop(), after its clients have gone.
  const child = spawn(
    join(binaries, 'postgres'),
    ['-D', join(folder, 'data'), '-p', String(port), ...words],
    {
      ...user,
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let output = '';
  // Only the beginning is of interest, but all of it has to be read or the server blocks.
  child.stderr.on('data', (chunk) => {
    if (output.length < 10_000) output += chunk;
  });
  const ended = new Promise((resolve) => child.on('exit', resolve).on('error', resolve));
  const stop = async () => {
    child.kill('SIGQUIT');
    await ended;
  };
  return { stop, hasEnded: () => child.exitCode !== null, output: () => output };
}

async function untilReady(server, port, password, signal) {
  const { default: pg } = await import('pg');
  const deadline = Date.now() + 30_000;
  for (;;) {
    signal.throwIfAborted();
    if (server.hasEnded()) throw new Error(`PostgreSQL did not start: ${server.output().trim()}`);
    const client = new pg.Client({ connectionString: urlOf(port, password), connectionTimeoutMillis: 1000 });
    client.on('error', () => {});
    const fault = await client.connect().then(
      () => undefined,
      (error) => error,
    );
    await client.end().catch(() => {});
    if (!fault) return;
    if (Date.now() > deadline) throw new Error(`PostgreSQL did not get ready: ${fault.message}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
