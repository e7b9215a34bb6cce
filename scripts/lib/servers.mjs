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
  // A stale package list is no reason to give up: the install says whether it works.
  await capture(command, [...words, 'update', '-q'], { env });
  const installed = await capture(
    command,
    [...words, 'install', '-y', '-q', '--no-install-recommends', apt],
    { env },
  );
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
