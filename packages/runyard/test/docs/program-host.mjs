import { register } from 'node:module';
import { pathToFileURL } from 'node:url';

/*
 * Runs the programs of the pages one after the other, so that what they import is loaded once for all of them. Each
 * runs as in a process of its own: it ends when nothing is left to wait for, and one that fails ends this process.
 */
const [distribution, endMark] = process.argv.slice(2);
await import(new URL('index.js', distribution).href);
// Programs are TypeScript; Node 20 needs the hooks of the command for that.
register(new URL('cli/typescript-hooks.js', distribution));

let running = false;

process.on('message', async ({ folder, file }) => {
  running = true;
  process.chdir(folder);
  process.channel.unref();
  await import(pathToFileURL(file).href);
  running = false;
});

process.on('beforeExit', () => {
  // Node's own code for a program whose top-level await never returns.
  if (running) process.exit(13);
  if (process.exitCode) return;
  for (const stream of [process.stdout, process.stderr]) stream.write(endMark);
  process.channel.ref();
});
