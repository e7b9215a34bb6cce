import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Profiler } from './profiler.mjs';

/** Answers the commands that the bench sends to this process, and ends with the bench. */
export function serveCommands(commands, stop = async () => {}) {
  const known = { usage, memory, handles, watchMemory, mostMemory, startProfile, stopProfile, ...commands };
  process.on('message', async ({ id, command, words }) => {
    try {
      process.send({ id, result: await known[command](words) });
    } catch (error) {
      process.send({ id, failure: error instanceof Error ? error.message : String(error) });
    }
  });
  process.on('disconnect', () => stop().finally(() => process.exit(0)));
  // Ctrl-C reaches the whole group: the bench has to end first, in its own order.
  process.on('SIGINT', () => {});
  process.send({ id: 'ready' });
}

/** CPU time of all threads of this process so far, in microseconds. */
function usage() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** What is in use after everything that can be collected is gone. */
export async function memory() {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  // Several times, because what finalizers let go of is free only in the next round.
  for (let round = 0; round < 4; round += 1) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed, external };
}

/** What keeps the process alive: sockets, timers and the like. */
function handles() {
  return process.getActiveResourcesInfo().length;
}

let watching;
let most = 0;

/** Begins to note the resident memory, until `mostMemory` asks what the most was. */
function watchMemory() {
  most = process.memoryUsage.rss();
  watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
}

function mostMemory() {
  clearInterval(watching);
  return Math.max(most, process.memoryUsage.rss());
}

let profiler;

async function startProfile() {
  profiler = new Profiler();
  await profiler.start();
}

function stopProfile() {
  return profiler.stop();
}
