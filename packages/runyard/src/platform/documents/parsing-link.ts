import type { ChildProcess } from 'node:child_process';
import { untilAborted } from '../../core/async/abort.js';
import type { Chunk, Document } from '../../core/knowledge/document.js';
import {
  ContentUnreadable,
  type ReadableContent,
  type ReadOptions,
} from '../../core/knowledge/readers/reader.js';
import type { DocumentLimits } from './limits.js';
import type { FromProcess, ParseJob, SplitJob, ToProcess } from './protocol.js';
import { startParsingProcess } from './start-process.js';

/** One parsing process and the one content at a time that it works on. */
export class ParsingLink {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #ended = false;
  #endedBy: unknown;
  #receive: ((message: FromProcess | undefined) => void) | undefined;

  constructor(private readonly limits: DocumentLimits) {
    this.#child = startParsingProcess(limits.heapMib);
    this.#child.on('message', (message: FromProcess) => this.#take(message));
    this.#exited = new Promise((resolve) => {
      const onEnd = (reason: unknown) => {
        this.#ended = true;
        this.#endedBy ??= reason;
        this.#take(undefined);
        resolve();
      };
      // one that cannot be started has no exit
      this.#child.once('error', onEnd);
      this.#child.once('exit', (code, signal) => onEnd(signal ?? code));
    });
    this.#rest();
  }

  get healthy(): boolean {
    return !this.#ended;
  }

  async end(): Promise<void> {
    this.#ended = true;
    // the end of an idle process would not be noticed when nothing else is left to wait for
    this.#child.ref();
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** Reads a content. Afterwards the process is idle again, or it has ended. */
  parse(reader: string, content: ReadableContent, options: ReadOptions): AsyncIterable<Document> {
    const { name, mediaType, size, url } = content;
    const head = { name, mediaType, size, url };
    return this.#work({ kind: 'parse', reader, content: head, limits: this.limits }, options, content);
  }

  /** Splits a document. */
  split(job: SplitJob, signal: AbortSignal): AsyncIterable<Chunk> {
    return this.#work(job, { signal });
  }

  async *#work(
    job: ParseJob | SplitJob,
    { signal, onProgress }: ReadOptions,
    content?: ReadableContent,
  ): AsyncIterable<Document> {
    const input = new Input(content);
    const clock = new WorkClock(this.limits);
    const onAbort = () => void this.end();
    signal.addEventListener('abort', onAbort, { once: true });
    this.#child.ref();
    this.#child.channel?.ref();
    let whole = false;
    try {
      signal.throwIfAborted();
      let next: ToProcess = job;
      for (;;) {
        const message: FromProcess = await this.#exchange(next, clock, signal);
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
      // The process is in the middle of something that has no reader left.
      if (!whole) await this.end();
      this.#rest();
      input.close();
    }
  }

  /** Sends a message and waits for the answer of the process. */
  async #exchange(message: ToProcess, clock: WorkClock, signal: AbortSignal): Promise<FromProcess> {
    const answer = new Promise<FromProcess | undefined>((resolve) => {
      if (this.#ended) resolve(undefined);
      else this.#receive = resolve;
    });
    if (!this.#ended) this.#child.send(message, () => undefined);
    const received = await clock.limited(answer, () => void this.end());
    if (received !== undefined) return received;
    signal.throwIfAborted();
    if (clock.exceeded !== undefined) throw new ContentUnreadable(clock.exceeded);
    throw this.#failure();
  }

  #failure(): Error {
    if (this.#endedBy instanceof Error) return this.#endedBy;
    // Node aborts when the heap is full, and nothing else in it does
    if (this.#endedBy === 'SIGABRT' || this.#endedBy === 134)
      return new ContentUnreadable(
        `The content needs more than ${this.limits.heapMib} MiB of memory to be read`,
      );
    return new ContentUnreadable(undefined, {
      cause: new Error(`The parsing process ended: ${this.#endedBy}`),
    });
  }

  /** Only a content that is being read keeps the service alive. */
  #rest(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  #take(message: FromProcess | undefined): void {
    const receive = this.#receive;
    this.#receive = undefined;
    receive?.(message);
  }
}

/** The bytes of a content, as the process asks for them. */
class Input {
  #bytes: AsyncIterator<Uint8Array> | undefined;

  /** A job that is not about a content asks for none. */
  constructor(private readonly content: ReadableContent | undefined) {}

  async next(fresh: boolean): Promise<Uint8Array | undefined> {
    if (fresh) {
      this.close();
      this.#bytes = this.content?.open()[Symbol.asyncIterator]();
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

/** Measures only the time in which the process works: not the wait for bytes, nor for what becomes of its documents. */
class WorkClock {
  /** Why the process was ended. */
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
