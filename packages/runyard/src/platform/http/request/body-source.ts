import type { BodyReading } from '../defences/bodies-in-flight.js';
import type { Exchange } from '../exchange.js';
import { type BodyLimit, ClientGone, tooLarge, tooManyBodies, tooSlow } from './body.js';

/** A pause of the reader that is longer than this says nothing about how fast the client sends. */
const ownPauseMs = 1_000;

/**
 * The bytes of a body, read piece by piece: the client sends no faster than they are taken. Bounded in size, and a
 * client that sends too slowly is given up, while one that waits for this side is not.
 */
export class BodySource {
  #total = 0;
  #ended = false;
  #failure: Error | undefined;
  #takenAt = performance.now();
  #wake: () => void = () => {};
  readonly #reading: BodyReading;

  constructor(
    private readonly exchange: Exchange,
    private readonly limit: BodyLimit,
  ) {
    const { request, response } = exchange;
    if (Number(request.headers['content-length'] ?? 0) > limit.bytes) throw tooLarge(limit);
    if (exchange.expectsContinue) response.writeContinue();
    this.#reading = {
      exchange,
      awaits: false,
      received: 0,
      looked: undefined,
      cut: (why) => this.#fail(why === 'slow' ? tooSlow(exchange) : tooManyBodies(exchange)),
    };
    // it may have left while a place for its file was found
    if (request.destroyed && !request.readableEnded) this.#failure = new ClientGone();
    exchange.bodies.add(this.#reading);
    request.on('readable', this.#onReadable).on('end', this.#onEnd);
    request.on('close', this.#onClose).on('error', this.#onClose);
  }

  /** The next bytes; undefined at the end of the body. */
  async next(): Promise<Buffer | undefined> {
    const { request } = this.exchange;
    if (performance.now() - this.#takenAt > ownPauseMs) this.#reading.looked = undefined;
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const piece: Buffer | null = request.read();
      if (piece !== null) return this.#taken(piece);
      if (this.#ended) return undefined;
      this.#reading.awaits = true;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#reading.awaits = false;
    }
  }

  /** Reads no further. */
  close(): void {
    const { request, bodies } = this.exchange;
    bodies.delete(this.#reading);
    request.off('readable', this.#onReadable).off('end', this.#onEnd);
    request.off('close', this.#onClose).off('error', this.#onClose);
  }

  #taken(piece: Buffer): Buffer {
    this.#total += piece.length;
    if (this.#total > this.limit.bytes) throw tooLarge(this.limit);
    this.#takenAt = performance.now();
    this.exchange.bodies.grow(this.#reading, piece.length);
    return piece;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  readonly #onReadable = (): void => this.#wake();

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#wake();
  };

  readonly #onClose = (): void => {
    if (!this.#ended) this.#fail(new ClientGone());
  };
}
