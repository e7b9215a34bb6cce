import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const meter = new URL('./meter.mjs', import.meta.url).href;

/**
 * Starts a server that the bench did not write, and resolves when its health path answers. `usage` and `resident` are
 * those of all its processes together. `startMs`: from its start until then.
 */
export async function startMetered({ words, folder, env, port, healthPath }) {
  const meters = new Set();
  const listener = createServer((socket) => {
    const one = { socket, waiting: [] };
    meters.add(one);
    createInterface({ input: socket }).on('line', (line) => one.waiting.shift()?.(JSON.parse(line)));
    socket.on('error', () => {});
    socket.on('close', () => {
      meters.delete(one);
      for (const answer of one.waiting) answer({});
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const begun = performance.now();
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: {
      ...process.env,
      ...env,
      PORT: String(port),
      METER_PORT: String(listener.address().port),
      NODE_OPTIONS: `--import=${meter}`,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
    // a server may consist of several processes, which end with it
    detached: true,
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-2000);
  });
  const ended = once(child, 'exit');
  while (!(await answers(port, healthPath))) {
    if (child.exitCode !== null) throw new Error(`${words[0]} ended with code ${child.exitCode}:\n${said}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const startMs = performance.now() - begun;
  const all = () =>
    Promise.all(
      Array.from(meters, ({ socket, waiting }) => {
        socket.write('?');
        return new Promise((answer) => waiting.push(answer));
      }),
    );
  const sum = async (name) => (await all()).reduce((total, { [name]: value = 0 }) => total + value, 0);
  return {
    port,
    startMs,
    /** `usage`, as the servers of the bench answer it: CPU time in microseconds. */
    ask: () => sum('cpu'),
    resident: () => sum('rss'),
    async stop() {
      if (child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
      await ended;
      for (const { socket } of meters) socket.destroy();
      listener.close();
    },
  };
}

function answers(port, path) {
  return new Promise((resolve) => {
    const sent = get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.on('error', () => resolve(false));
  });
}
