import { newId } from '../../../core/ids.js';
import { InProcessNotifications } from '../../../core/runs/notifications/in-process-notifications.js';
import type { RunHint, RunNotifications } from '../../../core/runs/notifications/run-notifications.js';
import type { RedisSpace } from './space.js';

/** How often a process without Redis says so, and how long that is believed. */
const announceMs = 2_000;
const believedMs = 5_000;

/**
 * Hints by publish and subscribe. `other` is the way that works without Redis: hints take it while this process cannot
 * use Redis, and also while another one says that it cannot. Every process listens on both ways at all times, so that
 * the usual hint is sent once, and none is lost for long because one process has lost Redis.
 */
export class RedisNotifications implements RunNotifications {
  readonly #local = new InProcessNotifications();
  readonly #channel: string;
  readonly #own = newId();
  readonly #unsent = new Set<string>();
  #othersMissUntil = Number.NEGATIVE_INFINITY;
  #endings: (() => void)[] = [];

  constructor(
    private readonly space: RedisSpace,
    private readonly other: RunNotifications,
  ) {
    this.#channel = space.name('hints');
  }

  /** Whether every process is reached through Redis, as far as is known. */
  get reachesAll(): boolean {
    return this.space.connection.isReachable && performance.now() > this.#othersMissUntil;
  }

  publish(hint: RunHint): void {
    if (!this.reachesAll) this.other.publish(hint);
    if (!this.space.connection.isReachable) return;
    if (this.#unsent.size === 0) setImmediate(() => void this.#send());
    this.#unsent.add(JSON.stringify(hint));
  }

  subscribe(listener: (hint: RunHint) => void): () => void {
    if (this.#endings.length === 0) this.#listen();
    return this.#local.subscribe(listener);
  }

  close(): void {
    for (const end of this.#endings) end();
  }

  /** Those of one turn of the event loop go together. */
  async #send(): Promise<void> {
    const hints = [...this.#unsent];
    this.#unsent.clear();
    try {
      await this.space.connection.client.publish(this.#channel, `[${hints.join(',')}]`);
    } catch {
      for (const hint of hints) this.other.publish(JSON.parse(hint));
    }
  }

  #listen(): void {
    const { connection } = this.space;
    const announce = () => {
      if (!connection.isReachable) this.other.publish({ kind: 'hears_only_here', runId: this.#own });
    };
    const announcing = setInterval(announce, announceMs);
    announcing.unref();
    this.#endings = [
      connection.listen(this.#channel, (message) => this.#receive(message)).end,
      connection.onChange(announce),
      () => clearInterval(announcing),
      this.other.subscribe((hint) => {
        if (hint.kind !== 'hears_only_here') this.#local.publish(hint);
        else if (hint.runId !== this.#own) this.#othersMissUntil = performance.now() + believedMs;
      }),
    ];
    announce();
  }

  #receive(message: string): void {
    try {
      const hints: RunHint[] = JSON.parse(message);
      for (const hint of hints) this.#local.publish(hint);
    } catch {
      // every client of Redis can send on the channel
    }
  }
}
