import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/**
 * The way out of a connection. Whoever has much to send waits for room first, so that what a client does not take
 * stays where it is and not in this process's memory.
 */
export class Outlet {
  #waiting: (() => void)[] = [];

  constructor(
    private readonly socket: WebSocket,
    readonly stream: Duplex,
  ) {
    stream.on('drain', () => this.#wake());
    socket.on('close', () => this.#wake());
  }

  /** Calls the listener whenever the client has taken what was waiting for it. */
  onDrain(listener: () => void): void {
    this.stream.on('drain', listener);
  }

  get isFull(): boolean {
    return this.stream.writableNeedDrain;
  }

  /** Settles when there is room, or when the connection is closed. */
  room(): Promise<void> {
    if (!this.isFull || this.socket.readyState !== this.socket.OPEN) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Frames that go out together are one write. */
  send(texts: readonly string[]): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.stream.cork();
    for (const text of texts) this.socket.send(text);
    this.stream.uncork();
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}
