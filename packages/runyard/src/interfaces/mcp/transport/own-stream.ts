import type { EventReader, StreamEvent } from '../../../platform/http/response/event-reader.js';

/** Messages that a client has not taken; further ones are dropped. */
const mostWaiting = 1_000;

/** The stream of messages that belong to no request. They are not stored: an absent client misses them. */
export class OwnStream implements EventReader {
  #messages: StreamEvent[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  constructor(private readonly onClosed: () => void) {}

  send(data: string): void {
    if (this.#ended || this.#messages.length >= mostWaiting) return;
    this.#messages.push({ index: null, name: 'message', data });
    this.#wake?.();
  }

  async next(): Promise<readonly StreamEvent[] | null> {
    while (!this.#ended) {
      const messages = this.#messages;
      this.#messages = [];
      if (messages.length > 0) return messages;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return null;
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
    this.onClosed();
  }

  close(): void {
    this.end();
  }
}
