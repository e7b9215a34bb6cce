import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort, install, once } from './servers.mjs';

/**
 * A Redis for the tests: a given URL, a running server that lets us in, local binaries, the system's package manager, in
 * that order. Answers { url, description, stop }; stop may be called more than once. The tests share it with others:
 * their names have a prefix.
 */
export async function provideRedis(signal) {
  const given = process.env.RUNYARD_TEST_REDIS_URL;
  if (given) return { url: given, description: 'RUNYARD_TEST_REDIS_URL', stop: async () => {} };
  return (await onRunningServer()) ?? (await onLocalBinary(signal)) ?? (await onInstalledBinary(signal));
}

async function onRunningServer() {
  if (!(await answers(6379))) return undefined;
  return { url: 'redis://127.0.0.1:6379', description: 'the server at 127.0.0.1:6379', stop: async () => {} };
}

async function onLocalBinary(signal) {
  const binary = findBinary();
  if (!binary) return undefined;
  const port = await freePort();
  const stop = once(await start(binary, port, signal));
  return {
    url: `redis://127.0.0.1:${port}`,
    description: `private server on port ${port} from ${binary}`,
    stop,
  };
}

async function onInstalledBinary(signal) {
  const used = await install({ brew: 'redis', apt: 'redis-server' });
  const provided = used ? await onLocalBinary(signal) : undefined;
  if (provided) return { ...provided, description: `${provided.description}, installed with ${used}` };
  throw new Error(
    'The tests need Redis and none was found. Set RUNYARD_TEST_REDIS_URL=redis://user:password@host:6379/0, or install Redis.',
  );
}

function findBinary() {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/opt/homebrew/bin',
    '/usr/local/bin',
    '/usr/bin',
  ];
  return folders
    .filter(Boolean)
    .flatMap((folder) => [join(folder, 'redis-server'), join(folder, 'valkey-server')])
    .find((path) => existsSync(path));
}

/** Starts a server on loopback that keeps nothing. Answers how to stop it. */
async function start(binary, port, signal) {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-redis-'));
  const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no', daemonize: 'no' };
  const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  // A group of its own: Ctrl-C in the terminal must reach it through stop(), after its clients have gone.
  const child = spawn(binary, words, { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    if (output.length < 10_000) output += chunk;
  });
  const ended = new Promise((resolve) => child.on('exit', resolve).on('error', resolve));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + 30_000;
  while (!(await answers(port))) {
    const fault =
      (signal.aborted && 'Interrupted.') ||
      (child.exitCode !== null && `Redis did not start: ${output.trim()}`) ||
      (Date.now() > deadline && 'Redis did not get ready.');
    if (fault) {
      await stop();
      throw new Error(fault);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return stop;
}

/** Whether a server there answers without a password. */
function answers(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 1000 });
    const end = (outcome) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.on('connect', () => socket.write('PING\r\n'));
    socket.on('data', (data) => end(data.toString().startsWith('+PONG')));
    socket.on('timeout', () => end(false));
    socket.on('error', () => end(false));
  });
}
