import { Worker } from 'node:worker_threads';
import {
  type ThreadReply,
  type ThreadRequest,
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

/** One life of the writing thread, and the one request at a time that is on its way to it. */
export class ThreadLink {
  readonly #worker: Worker;
  readonly startedAt = performance.now();
  /** How many statements it has the texts of. */
  knownStatements = 0;
  #answer: { resolve(reply: ThreadReply): void; reject(error: unknown): void } | undefined;
  #ended: WriterEnded | undefined;
  #fault: unknown;

  constructor(data: WriterThreadData, onEnd: (link: ThreadLink, fault: unknown) => void) {
    this.#worker = new Worker(`(${writerThread.toString()})(require('node:worker_threads'), require)`, {
      eval: true,
      workerData: data,
      // Hooks and profilers of the process are not for this thread.
      execArgv: [],
    });
    // Only a write in progress keeps the process alive.
    this.#worker.unref();
    this.#worker.on('message', (reply: ThreadReply) => this.#take()?.resolve(reply));
    this.#worker.on('error', (error) => {
      this.#fault = error;
    });
    this.#worker.on('exit', () => {
      this.#ended = new WriterEnded(this.#fault);
      onEnd(this, this.#fault);
      this.#take()?.reject(this.#ended);
    });
  }

  exchange(request: ThreadRequest): Promise<ThreadReply> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      this.#answer = { resolve, reject };
      this.#worker.ref();
      this.#worker.postMessage(request);
    });
  }

  #take() {
    const answer = this.#answer;
    this.#answer = undefined;
    this.#worker.unref();
    return answer;
  }
}
