import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { serverUser } from './postgres-cluster.mjs';
import { freePort, install } from './servers.mjs';

/** A pooler in transaction mode before a server, from what is installed or from the system's package manager. */
export async function startPgbouncer(url, signal) {
  const program =
    findProgram() ?? ((await install({ brew: 'pgbouncer', apt: 'pgbouncer' })) && findProgram());
  if (!program)
    throw new Error('The test needs PgBouncer, and none was found. Install the package pgbouncer.');
  const port = await freePort();
  const user = serverUser();
  const folder = mkdtempSync(join(tmpdir(), 'runyard-pgbouncer-'));
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, settingsOf(new URL(url), port), { mode: 0o600 });
  if (user.uid !== undefined) for (const path of [folder, file]) chownSync(path, user.uid, user.gid);
  const child = spawn(program, [file], {
    ...user,
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk) => {
    if (output.length < 10_000) output += chunk;
  });
  const ended = new Promise((resolve) => child.on('exit', resolve).on('error', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  while (!(await answers(port))) {
    if (signal.aborted || child.exitCode !== null) {
      await stop();
      throw new Error(`PgBouncer did not start: ${output.trim()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const pooled = new URL(url);
  pooled.host = `127.0.0.1:${port}`;
  return { url: pooled.href, stop };
}

function findProgram() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/opt/homebrew/bin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
}

/** Any database of the server. Few connections to it, so that clients share them. */
function settingsOf(server, port) {
  const password = decodeURIComponent(server.password);
  const login = `user=${decodeURIComponent(server.username)}${password ? ` password=${password}` : ''}`;
  return `[databases]
* = host=${server.hostname} port=${server.port || 5432} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 5
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
server_idle_timeout = 2
`;
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.end());
  });
}
