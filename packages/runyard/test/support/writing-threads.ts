import type { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import { waitingThreads } from '../../src/platform/storage/sqlite/thread-link.js';
import { until } from './until.js';

/** The threads that this process starts during a test, so that the test can end them as a crash would. */
export class WritingThreads {
  readonly started: Worker[] = [];

  constructor() {
    // a thread that waits for a database would not be started now
    for (const thread of waitingThreads) thread.postMessage({ kind: 'end' });
    waitingThreads.clear();
    const note = (worker: Worker) => void this.started.push(worker);
    process.on('worker', note);
    onTestFinished(() => void process.off('worker', note));
  }

  /**
   * Ends the newest thread with an exception, between two of its requests. (To terminate it inside native code
   * would end the whole process.)
   */
  async endNewest(): Promise<void> {
    await until('a thread has started', () => this.started.length > 0);
    const thread = this.started.at(-1)!;
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    thread.postMessage({ kind: 'nonsense' });
    await ended;
  }
}
