import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { type CountingThreadData, countingThread } from './counting-thread.js';

/** The tokenizer of gpt-4o and its successors. It is an optional package, some 30 MB on the disk, which the application installs. */
const gpt4o = 'gpt-tokenizer/cjs/encoding/o200k_base';

/** How long the thread is kept after its last count: another one often follows. */
const idleMs = 5_000;

/** By the path of the tokenizer. */
const links = new Map<string, ThreadLink>();

/** Counts tokens. */
export class TokenCounter {
  private readonly path: string | undefined;

  constructor(tokenizer = gpt4o) {
    this.path = pathOf(tokenizer);
  }

  /** How many tokens each of the texts is: as gpt-4o counts them, or estimated where the tokenizer cannot be used. */
  count(texts: readonly string[]): Promise<readonly number[]> {
    const { path } = this;
    if (path === undefined) return Promise.resolve(texts.map(estimate));
    const link = links.get(path) ?? new ThreadLink(path);
    links.set(path, link);
    return link.count(texts).catch(() => texts.map(estimate));
  }
}

function pathOf(tokenizer: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(tokenizer);
  } catch {
    return undefined;
  }
}

function estimate(text: string): number {
  return Math.floor(text.length / 4);
}

/**
 * The tokenizer takes a quarter of a second to load, during which a process does nothing else, and 70 MB of memory: it
 * lives in a thread of its own, one for all services of the process, and only as long as it is needed.
 */
class ThreadLink {
  private last: Promise<unknown> = Promise.resolve();
  private worker: Worker | undefined;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly path: string) {}

  /** One caller after the other. */
  count(texts: readonly string[]): Promise<readonly number[]> {
    const counted = this.last.then(() => this.ask(texts));
    this.last = counted.catch(() => {});
    return counted;
  }

  private ask(texts: readonly string[]): Promise<readonly number[]> {
    clearTimeout(this.idle);
    const worker = this.worker ?? this.start();
    this.worker = worker;
    worker.ref();
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => {
        this.end(worker);
        reject(error);
      };
      worker.once('message', (counts: readonly number[]) => {
        worker.removeAllListeners('error');
        worker.removeAllListeners('exit');
        this.rest(worker);
        resolve(counts);
      });
      worker.once('error', fail);
      worker.once('exit', () => fail(new Error('The thread that counts tokens has ended.')));
      worker.postMessage(texts);
    });
  }

  private start(): Worker {
    return new Worker(`(${countingThread.toString()})(require('node:worker_threads'), require)`, {
      eval: true,
      workerData: { path: this.path } satisfies CountingThreadData,
      execArgv: [],
    });
  }

  /** Keeps no process up that has nothing else to do. */
  private rest(worker: Worker): void {
    worker.unref();
    // an error here is one of a thread that nobody waits for
    for (const event of ['error', 'exit']) worker.once(event, () => this.end(worker));
    this.idle = setTimeout(() => this.end(worker), idleMs).unref();
  }

  private end(worker: Worker): void {
    if (this.worker === worker) this.worker = undefined;
    void worker.terminate();
  }
}
