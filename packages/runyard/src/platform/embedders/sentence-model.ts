import { Worker } from 'node:worker_threads';
import { untilAborted } from '../../core/async/abort.js';
import { Semaphore } from '../../core/async/concurrency.js';
import { ModelError } from '../../core/models/model-error.js';
import { ownEntry } from '../own-entry.js';
import { type SentencePackages, sentenceProvider } from './sentence-packages.js';
import type { FromThread, ToThread } from './sentence-thread.js';

/** Batches that wait for their turn. */
const mostWaiting = 256;

interface Thread {
  readonly worker: Worker;
  receive: (answer: FromThread) => void;
}

/**
 * The sentence model in a thread of its own, which starts with the first batch and ends when it has been idle. Only a
 * batch that is being computed keeps the process alive.
 */
export class SentenceModel {
  readonly #turns = new Semaphore(1);
  #thread: Thread | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly packages: () => SentencePackages,
    private readonly idleMs = 60_000,
  ) {}

  /** Whether its thread is there. */
  get isLoaded(): boolean {
    return this.#thread !== undefined;
  }

  /** An abort ends the waiting: the thread finishes the batch that it has begun. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    if (this.#turns.waiting >= mostWaiting)
      throw failure(`The sentence model has ${mostWaiting} batches of texts waiting already.`, {
        retryable: true,
      });
    await this.#turns.enter(signal);
    return untilAborted(this.#compute(texts), signal);
  }

  async #compute(texts: ToThread): Promise<readonly Float32Array[]> {
    try {
      const answer = await this.#ask(texts);
      if ('failed' in answer) throw failure(`The sentence model failed: ${answer.failed}`);
      return answer.vectors;
    } finally {
      this.#rest();
      this.#turns.leave();
    }
  }

  #ask(texts: ToThread): Promise<FromThread> {
    return new Promise((resolve) => {
      clearTimeout(this.#idle);
      this.#thread ??= this.#start();
      this.#thread.receive = resolve;
      this.#thread.worker.ref();
      this.#thread.worker.postMessage(texts);
    });
  }

  #start(): Thread {
    const { file, execArgv } = ownEntry(import.meta.url, 'platform/embedders/sentence-thread');
    // secrets of the service are not for a library that needs none
    const worker = new Worker(file, { workerData: this.packages(), execArgv: [...execArgv], env: {} });
    const thread: Thread = { worker, receive: () => {} };
    const end = (reason: string) => {
      if (this.#thread === thread) this.#thread = undefined;
      thread.receive({ failed: reason });
    };
    worker.on('message', (answer: FromThread) => thread.receive(answer));
    worker.once('error', (error) => end(error.message));
    worker.once('exit', (code) => end(`its thread ended with code ${code}`));
    return thread;
  }

  #rest(): void {
    const thread = this.#thread;
    if (thread === undefined) return;
    thread.worker.unref();
    this.#idle = setTimeout(() => {
      this.#thread = undefined;
      void thread.worker.terminate();
    }, this.idleMs).unref();
  }
}

function failure(message: string, { retryable = false } = {}): ModelError {
  return new ModelError(message, { provider: sentenceProvider, kind: 'refused', retryable });
}
