import type { Redis } from 'ioredis';

/** It must not throw. */
type Listener = (message: string) => void;

/** The channels that one process listens on, over a connection that is used for nothing else. */
export class Channels {
  readonly #listeners = new Map<string, Set<Listener>>();
  #isComplete = false;

  constructor(private readonly connection: Redis) {
    connection.on('ready', () => void this.#listenAgain());
    connection.on('close', () => {
      this.#isComplete = false;
    });
    connection.on('message', (channel: string, message: string) => {
      for (const listener of [...(this.#listeners.get(channel) ?? [])]) listener(message);
    });
  }

  /** Whether messages of all channels arrive. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  listen(channel: string, listener: Listener): { begun: Promise<void>; end(): void } {
    const known = this.#listeners.get(channel);
    const listeners = known ?? new Set<Listener>();
    // one function may listen twice
    const own: Listener = (message) => listener(message);
    this.#listeners.set(channel, listeners.add(own));
    return {
      begun: this.#begin([channel]),
      end: () => {
        listeners.delete(own);
        if (listeners.size > 0 || this.#listeners.get(channel) !== listeners) return;
        this.#listeners.delete(channel);
        this.connection.unsubscribe(channel).catch(() => {});
      },
    };
  }

  async #listenAgain(): Promise<void> {
    await this.#begin([...this.#listeners.keys()]);
    this.#isComplete = this.connection.status === 'ready';
  }

  async #begin(channels: readonly string[]): Promise<void> {
    if (channels.length === 0 || this.connection.status !== 'ready') return;
    try {
      await this.connection.subscribe(...channels);
    } catch {
      // a connection without them is worse than none: the next one listens to all
      if (this.connection.status === 'ready') this.connection.disconnect(true);
    }
  }
}
