import { createServer } from 'node:net';
import { capture } from './setup.mjs';

/** Installs a package. Which package manager did it, or undefined if none could. */
export async function install({ brew, apt }) {
  if (process.platform === 'darwin') {
    return (await capture('brew', ['install', brew])).code === 0 ? 'brew' : undefined;
  }
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const [command, ...words] = [...asRoot, 'apt-get'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const get = (...more) => capture(command, [...words, ...more], { env });
  const wanted = ['install', '-y', '-q', '--no-install-recommends', apt];
  let installed = await get(...wanted);
  if (installed.code !== 0) {
    // The package lists are missing or stale. To update them takes seconds that are seldom needed.
    await get('update', '-q');
    installed = await get(...wanted);
  }
  return installed.code === 0 ? 'apt-get' : undefined;
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export function once(work) {
  let result;
  return () => {
    result ??= work();
    return result;
  };
}
