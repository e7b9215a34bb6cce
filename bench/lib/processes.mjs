import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const running = new Set();

/** Starts a script of the bench as a process of its own, and resolves when it answers commands. */
export async function startProcess(script, settings = {}, execArgv = []) {
  const path = fileURLToPath(new URL(`../${script}.mjs`, import.meta.url));
  const child = fork(path, [JSON.stringify(settings)], { execArgv, serialization: 'advanced' });
  const waiting = new Map();
  const ended = new Promise((resolve) => {
    child.on('exit', (code, signal) => {
      running.delete(stop);
      for (const { reject } of waiting.values()) {
        reject(new Error(`${script} ended unexpectedly (${signal ?? code})`));
      }
      resolve();
    });
  });
  const answerTo = (id) => new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  child.on('message', ({ id, result, failure }) => {
    const waiter = waiting.get(id);
    waiting.delete(id);
    if (failure === undefined) waiter.resolve(result);
    else waiter.reject(new Error(`${script}: ${failure}`));
  });
  let nextId = 0;
  const ask = (command, words) => {
    const answer = answerTo(nextId);
    child.send({ id: nextId, command, words });
    nextId += 1;
    return answer;
  };
  const stop = () => {
    if (child.connected) child.disconnect();
    return ended;
  };
  /** As `kill -9` does it: the process gets no notice. */
  const kill = () => {
    child.kill('SIGKILL');
    return ended;
  };
  running.add(stop);
  await answerTo('ready');
  return { ask, stop, kill };
}

export async function stopAllProcesses() {
  await Promise.all([...running].map((stop) => stop()));
}
