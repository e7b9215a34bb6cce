import type { Duplex } from 'node:stream';
import type { SocketLimits } from './limits.js';

/** Ends a connection that went beyond what it may. */
type Refuse = (code: number, reason: string) => void;

/** Connections without an authenticated caller. When there are too many, the one that waits longest is closed. */
export class UnauthenticatedConnections {
  readonly #waiting = new Set<AuthenticationPeriod>();

  constructor(private readonly places: number) {}

  enter(authenticationPeriod: AuthenticationPeriod): void {
    this.#waiting.add(authenticationPeriod);
    if (this.#waiting.size <= this.places) return;
    const [longest] = this.#waiting;
    longest?.refuse(1013, 'Too many connections wait for a token');
  }

  leave(authenticationPeriod: AuthenticationPeriod): void {
    this.#waiting.delete(authenticationPeriod);
  }
}

/** The little that a client gets before it has proved who it is: some time, some bytes, some attempts. */
export class AuthenticationPeriod {
  #attempts = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly stream: Duplex,
    private readonly room: UnauthenticatedConnections,
    private readonly limits: SocketLimits,
    private readonly end: Refuse,
  ) {}

  get isOn(): boolean {
    return this.#timer !== undefined;
  }

  begin(): void {
    if (this.isOn) return;
    this.#bytes = 0;
    this.#timer = setTimeout(
      () => this.refuse(1008, 'Authentication required'),
      this.limits.unprovenMs,
    ).unref();
    // as it comes, because a frame that is never complete is held in memory all the same
    this.stream.on('data', this.#count);
    this.room.enter(this);
  }

  /** The client has proved who it is, or is gone. */
  pass(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#attempts = 0;
    this.stream.off('data', this.#count);
    this.room.leave(this);
  }

  /** One more token was refused. */
  attemptFailed(): void {
    this.#attempts++;
    if (this.#attempts >= this.limits.failedAttempts)
      this.refuse(1008, 'Too many failed authentication attempts');
  }

  refuse(code: number, reason: string): void {
    this.pass();
    this.end(code, reason);
  }

  readonly #count = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    if (this.#bytes > this.limits.unprovenBytes) this.refuse(1009, 'Too much was sent before authentication');
  };
}
