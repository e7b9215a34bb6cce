import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { countingThread } from './counting-thread.js';

/** The tokenizer of gpt-4o and its successors. It is an optional dependency: some 30 MB on the disk. */
const gpt4o = 'gpt-tokenizer/cjs/encoding/o200k_base';

/**
 * Counts tokens. The tokenizer takes a quarter of a second to load, during which a process does nothing else, and 70 MB
 * of memory: it lives in a thread of its own, for as long as it is needed, and one at a time.
 */
export class TokenCounter {
  private last: Promise<unknown> = Promise.resolve();
  private readonly path: string | undefined;

  constructor(tokenizer = gpt4o) {
    this.path = pathOf(tokenizer);
  }

  /** How many tokens each of the texts is: as gpt-4o counts them, or estimated where the tokenizer cannot be used. */
  count(texts: readonly string[]): Promise<readonly number[]> {
    const { path } = this;
    if (path === undefined) return Promise.resolve(texts.map(estimate));
    const counted = this.last.then(() => countInThread(path, texts)).catch(() => texts.map(estimate));
    this.last = counted;
    return counted;
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

function countInThread(path: string, texts: readonly string[]): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(`(${countingThread.toString()})(require('node:worker_threads'), require)`, {
      eval: true,
      workerData: { path, texts },
      execArgv: [],
    });
    worker.once('message', (counts: readonly number[]) => {
      resolve(counts);
      void worker.terminate();
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('The thread that counts tokens has ended.')));
  });
}
