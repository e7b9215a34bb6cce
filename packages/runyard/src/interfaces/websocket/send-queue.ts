import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/**
 * Sends the frames of a connection. A large sender waits for room first, so that what a client does not take
 * stays where it is and not in this process's memory.
 */
export class SendQueue {
  #waiting: (() => void)[] = [];
  /** What was to be sent while a message in pieces was being sent: nothing may come between them. */
  #heldBack: string[] | undefined;

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
  async room(): Promise<void> {
    while (this.#isOpen && (this.isFull || this.#heldBack !== undefined)) await this.#woken();
  }

  /** Frames that go out together are one write. */
  send(texts: readonly string[]): void {
    if (!this.#isOpen) return;
    if (this.#heldBack !== undefined) {
      this.#heldBack.push(...texts);
      return;
    }
    this.stream.cork();
    for (const text of texts) this.socket.send(text);
    this.stream.uncork();
  }

  /** One message in pieces, no faster than the client takes them. Breaks the connection off when they fail. */
  async sendPieces(pieces: AsyncIterable<string>): Promise<void> {
    while (this.#heldBack !== undefined) await this.#woken();
    this.#heldBack = [];
    try {
      for await (const piece of pieces) {
        if (this.isFull) await this.#woken();
        if (!this.#isOpen) return;
        this.socket.send(piece, { fin: false });
      }
      this.socket.send('', { fin: true });
    } catch (error) {
      this.socket.terminate();
      throw error;
    } finally {
      const heldBack = this.#heldBack;
      this.#heldBack = undefined;
      this.send(heldBack);
      if (!this.isFull) this.#wake();
    }
  }

  get #isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  #woken(): Promise<void> {
    if (!this.#isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}
