import { Semaphore } from '../../core/async/concurrency.js';
import type { Chunk, Document } from '../../core/knowledge/document.js';
import type { ReadableContent, ReadOptions } from '../../core/knowledge/readers/reader.js';
import type { DocumentLimits } from './limits.js';
import { ParsingLink } from './parsing-link.js';
import type { SplitJob } from './protocol.js';

/** The processes that parse contents: started when they are needed, reused, ended when they are idle. */
export class ParsingProcesses {
  readonly #idle: { readonly link: ParsingLink; readonly timer: NodeJS.Timeout }[] = [];
  readonly #busy = new Set<ParsingLink>();
  readonly #places: Semaphore;
  /** A content that is being read has a place already: what splits it must not wait for a place of the same kind. */
  readonly #splitting: Semaphore;
  #closed = false;

  constructor(private readonly limits: DocumentLimits) {
    this.#places = new Semaphore(limits.processes);
    this.#splitting = new Semaphore(limits.processes);
  }

  parse(reader: string, content: ReadableContent, options: ReadOptions): AsyncIterable<Document> {
    return this.#with(this.#places, options.signal, (link) => link.parse(reader, content, options));
  }

  split(job: SplitJob, signal: AbortSignal): AsyncIterable<Chunk> {
    return this.#with(this.#splitting, signal, (link) => link.split(job, signal));
  }

  async *#with<T>(
    places: Semaphore,
    signal: AbortSignal,
    work: (link: ParsingLink) => AsyncIterable<T>,
  ): AsyncIterable<T> {
    await places.enter(signal);
    try {
      const link = this.#link();
      this.#busy.add(link);
      try {
        yield* work(link);
      } finally {
        this.#busy.delete(link);
        this.#keep(link);
      }
    } finally {
      places.leave();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const idle = this.#idle.splice(0);
    for (const { timer } of idle) clearTimeout(timer);
    await Promise.all([...idle.map(({ link }) => link), ...this.#busy].map((link) => link.end()));
  }

  #link(): ParsingLink {
    if (this.#closed) throw new Error('The service has stopped.');
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      clearTimeout(kept.timer);
      if (kept.link.healthy) return kept.link;
    }
    return new ParsingLink(this.limits);
  }

  #keep(link: ParsingLink): void {
    if (!link.healthy) return;
    if (this.#closed) {
      void link.end();
      return;
    }
    const timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(kept), 1);
      void link.end();
    }, this.limits.idleMs);
    timer.unref();
    const kept = { link, timer };
    this.#idle.push(kept);
  }
}
