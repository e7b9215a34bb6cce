import type { ChainableCommander } from 'ioredis';
import type { EventRelay, Wake } from '../../../core/runs/events/event-relay.js';
import type { EventBlock } from '../../../core/runs/journal/ports.js';
import type { RedisSpace } from './space.js';

/** What is kept of a run: so many blocks, for so long after the last one. */
const keptBlocks = 128;
const keptMs = 60_000;

/** What is said on the channel of a run. */
const words = { relay: 'r', store: 's' } as const;

/** Redis refuses what does not come after the last block: it is there already, or another process continues the run. */
const isThere = /equal or smaller/;

/**
 * Events by Redis Streams. Each run that is followed elsewhere has a stream of blocks, whose ids are the indices of their
 * last events, and a channel on which readers are woken. All that is sent in one turn of the event loop shares a pipeline.
 */
export class RedisRelay implements EventRelay {
  #pipeline: ChainableCommander | undefined;
  #sent: Promise<[error: Error | null, result: unknown][] | null> = Promise.resolve(null);

  constructor(
    private readonly space: RedisSpace,
    private readonly notifications: { readonly reachesAll: boolean },
  ) {}

  get isOpen(): boolean {
    return this.space.connection.isReachable;
  }

  get reachesAll(): boolean {
    return this.notifications.reachesAll;
  }

  async send(runId: string, { firstIndex, count, payload }: EventBlock): Promise<number> {
    const key = this.space.name('events', runId);
    // the second part is not 0: there is no id 0-0
    const id = `${firstIndex + count - 1}-1`;
    const [added, , published] = await this.#inPipeline(3, (pipeline) =>
      pipeline
        .xadd(key, 'MAXLEN', keptBlocks, id, 'n', count, 'b', payload)
        .pexpire(key, keptMs)
        .publish(key, words.relay),
    );
    if (added?.[0] && !isThere.test(added[0].message)) throw added[0];
    if (published?.[0]) throw published[0];
    return Number(published?.[1] ?? 0);
  }

  wake(runId: string): void {
    if (!this.isOpen) return;
    const key = this.space.name('events', runId);
    this.#inPipeline(1, (pipeline) => pipeline.publish(key, words.store)).catch(() => {});
  }

  async blocks(runId: string, index: number, limit: number): Promise<readonly EventBlock[]> {
    if (!this.isOpen) return [];
    const key = this.space.name('events', runId);
    const { client } = this.space.connection;
    const entries = await client.xrange(key, String(index), '+', 'COUNT', limit);
    return entries.map(([id, [, count, , payload = '']]) => ({
      firstIndex: Number.parseInt(id, 10) - Number(count) + 1,
      count: Number(count),
      payload,
    }));
  }

  follow(runId: string, wake: Wake): { readonly begun: Promise<void>; end(): void } {
    const key = this.space.name('events', runId);
    return this.space.connection.listen(key, (message) => wake(message === words.relay ? 'relay' : 'store'));
  }

  onChange(listener: () => void): () => void {
    return this.space.connection.onChange(listener);
  }

  /** The answers to the commands that `add` adds. */
  async #inPipeline(
    commands: number,
    add: (pipeline: ChainableCommander) => ChainableCommander,
  ): Promise<[error: Error | null, result: unknown][]> {
    if (this.#pipeline === undefined) {
      const pipeline = this.space.connection.client.pipeline();
      this.#pipeline = pipeline;
      this.#sent = new Promise((resolve, reject) => {
        setImmediate(() => {
          this.#pipeline = undefined;
          pipeline.exec().then(resolve, reject);
        });
      });
    }
    const begin = this.#pipeline.length;
    add(this.#pipeline);
    return (await this.#sent)?.slice(begin, begin + commands) ?? [];
  }
}
