import { Worker } from 'node:worker_threads';
import { batchRunner } from './batch-runner.js';
import {
  type ThreadReply,
  type ThreadRequest,
  type WriterRequest,
  type WriterThreadData,
  writerThread,
} from './writer-thread.js';

export const writerEndedCode = 'SQLITE_WRITER_ENDED';

/** The writing thread ended. What it was writing is stored or it is not: which is unknown. */
export class WriterEnded extends Error {
  readonly code = writerEndedCode;

  constructor(cause?: unknown) {
    super('The thread that writes to the SQLite database has ended; it restarts with the next write.', {
      cause,
    });
    this.name = 'WriterEnded';
  }
}

/**
 * Threads that have closed their database and wait for the next one: to start one takes fifty milliseconds of CPU, which
 * programs that open and close services again and again (tests, above all) would spend each time.
 */
export const waitingThreads = new Set<Worker>();
const mostWaiting = 4;

function startThread(): Worker {
  const [waiting] = waitingThreads;
  if (waiting !== undefined) {
    waitingThreads.delete(waiting);
    return waiting;
  }
  const source = `(${writerThread.toString()})(require('node:worker_threads'), require, ${batchRunner.toString()})`;
  const worker = new Worker(source, {
    eval: true,
    // Hooks and profilers of the process are not for this thread.
    execArgv: [],
  });
  worker.on('exit', () => waitingThreads.delete(worker));
  // of a thread that waits: `exit` follows
  worker.on('error', () => {});
  return worker;
}

/** One life of the writing thread, and the one request at a time that is on its way to it. */
export class ThreadLink {
  readonly #worker: Worker;
  readonly startedAt = performance.now();
  /** How many statements it has the texts of. */
  knownStatements = 0;
  #answer: { resolve(reply: ThreadReply): void; reject(error: unknown): void } | undefined;
  #ended: WriterEnded | undefined;
  #fault: unknown;
  readonly #onMessage = (reply: ThreadReply) => this.#take()?.resolve(reply);
  readonly #onError = (error: unknown) => {
    this.#fault = error;
  };
  readonly #onExit = () => {
    this.#ended = new WriterEnded(this.#fault);
    this.onEnd(this, this.#fault);
    this.#take()?.reject(this.#ended);
  };

  constructor(
    data: WriterThreadData,
    private readonly onEnd: (link: ThreadLink, fault: unknown) => void,
  ) {
    this.#worker = startThread();
    this.#send({ kind: 'open', data });
    // Only a write in progress keeps the process alive.
    this.#worker.unref();
    this.#worker.on('message', this.#onMessage).on('error', this.#onError).on('exit', this.#onExit);
  }

  exchange(request: WriterRequest): Promise<ThreadReply> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      this.#answer = { resolve, reject };
      this.#worker.ref();
      this.#send(request);
    });
  }

  /** Closes the database. The thread waits for the next one. */
  async close(): Promise<void> {
    const reply = await this.exchange({ kind: 'close' });
    // it ends by itself then
    if (reply.kind !== 'closed') return;
    if (waitingThreads.size >= mostWaiting) return this.#send({ kind: 'end' });
    this.#worker.off('message', this.#onMessage).off('error', this.#onError).off('exit', this.#onExit);
    this.#ended = new WriterEnded();
    waitingThreads.add(this.#worker);
  }

  #send(request: ThreadRequest): void {
    this.#worker.postMessage(request);
  }

  #take() {
    const answer = this.#answer;
    this.#answer = undefined;
    this.#worker.unref();
    return answer;
  }
}
