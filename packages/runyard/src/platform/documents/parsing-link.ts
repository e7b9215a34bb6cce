import type { Worker } from 'node:worker_threads';
import { untilAborted } from '../../core/abort.js';
import type { Document } from '../../core/knowledge/document.js';
import {
  ContentUnreadable,
  type ReadableContent,
  type ReadOptions,
} from '../../core/knowledge/readers/reader.js';
import type { DocumentLimits } from './limits.js';
import type { FromThread, ToThread } from './protocol.js';
import { startParsingThread } from './thread-file.js';

/** One parsing thread and the one content at a time that it works on. */
export class ParsingLink {
  readonly #worker: Worker;
  #ended = false;
  #fault: unknown;
  #receive: ((message: FromThread | undefined) => void) | undefined;

  constructor(private readonly limits: DocumentLimits) {
    this.#worker = startParsingThread({
      // Hooks, profilers and secrets of the process are not for a thread that reads what strangers wrote.
      execArgv: [],
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: limits.heapMib,
        maxYoungGenerationSizeMb: 64,
        stackSizeMb: 4,
      },
    });
    // Only a content that is being read keeps the process alive.
    this.#worker.unref();
    this.#worker.on('message', (message: FromThread) => this.#take(message));
    this.#worker.on('error', (error) => {
      this.#fault = error;
    });
    this.#worker.on('exit', () => {
      this.#ended = true;
      this.#take(undefined);
    });
  }

  get healthy(): boolean {
    return !this.#ended;
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#worker.terminate();
  }

  /** Reads a content. Afterwards the thread is idle again, or it has ended. */
  async *parse(
    reader: string,
    content: ReadableContent,
    { signal, onProgress }: ReadOptions,
  ): AsyncIterable<Document> {
    const input = new Input(content);
    const clock = new WorkClock(this.limits);
    const onAbort = () => void this.end();
    signal.addEventListener('abort', onAbort, { once: true });
    this.#worker.ref();
    let whole = false;
    try {
      signal.throwIfAborted();
      const { name, mediaType, size, url } = content;
      let next: ToThread = {
        kind: 'parse',
        reader,
        content: { name, mediaType, size, url },
        limits: this.limits,
      };
      for (;;) {
        const message: FromThread = await this.#exchange(next, clock, signal);
        switch (message.kind) {
          case 'pull':
            next = { kind: 'bytes', bytes: await untilAborted(input.next(message.fresh), signal) };
            break;
          case 'documents':
            yield* message.documents;
            signal.throwIfAborted();
            onProgress?.(message.done, message.total);
            next = { kind: 'taken' };
            break;
          case 'done':
            whole = true;
            return;
          case 'failed':
            whole = true;
            throw message.unreadable
              ? new ContentUnreadable(message.message)
              : new ContentUnreadable(undefined, { cause: new Error(message.message) });
        }
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      // The thread is in the middle of something that has no reader left.
      if (!whole) await this.end();
      this.#worker.unref();
      input.close();
    }
  }

  /** Sends a message and waits for the answer of the thread. */
  async #exchange(message: ToThread, clock: WorkClock, signal: AbortSignal): Promise<FromThread> {
    const answer = new Promise<FromThread | undefined>((resolve) => {
      if (this.#ended) resolve(undefined);
      else this.#receive = resolve;
    });
    this.#worker.postMessage(message);
    const received = await clock.limited(answer, () => void this.end());
    if (received !== undefined) return received;
    signal.throwIfAborted();
    if (clock.exceeded !== undefined) throw new ContentUnreadable(clock.exceeded);
    throw this.#endedBy();
  }

  #endedBy(): Error {
    if (errorCode(this.#fault) === 'ERR_WORKER_OUT_OF_MEMORY')
      return new ContentUnreadable(
        `The content needs more than ${this.limits.heapMib} MiB of memory to be read`,
      );
    return new ContentUnreadable(undefined, { cause: this.#fault });
  }

  #take(message: FromThread | undefined): void {
    const receive = this.#receive;
    this.#receive = undefined;
    receive?.(message);
  }
}

function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** The bytes of a content, as the thread asks for them. */
class Input {
  #bytes: AsyncIterator<Uint8Array> | undefined;

  constructor(private readonly content: ReadableContent) {}

  async next(fresh: boolean): Promise<Uint8Array | undefined> {
    if (fresh) {
      this.close();
      this.#bytes = this.content.open()[Symbol.asyncIterator]();
    }
    const result = await this.#bytes?.next();
    return result === undefined || result.done === true ? undefined : result.value;
  }

  /** Does not wait: a source that is stuck would be waited for without end. */
  close(): void {
    const bytes = this.#bytes;
    this.#bytes = undefined;
    bytes?.return?.().then(undefined, () => undefined);
  }
}

/** Measures only the time in which the thread works: not the wait for bytes, nor for what becomes of its documents. */
class WorkClock {
  /** Why the thread was ended. */
  exceeded: string | undefined;
  #workedMs = 0;

  constructor(private readonly limits: DocumentLimits) {}

  async limited<T>(answer: Promise<T>, stop: () => void): Promise<T> {
    const { silenceMs, workMs } = this.limits;
    const began = performance.now();
    const left = workMs - this.#workedMs;
    const timer = setTimeout(
      () => {
        const limit = left < silenceMs ? workMs : silenceMs;
        this.exceeded = `The content takes more than ${limit / 1000} seconds to read`;
        stop();
      },
      Math.max(0, Math.min(silenceMs, left)),
    );
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      this.#workedMs += performance.now() - began;
    }
  }
}
