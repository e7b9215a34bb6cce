import { inNeutralContext } from '../../../core/async/neutral-context.js';
import { TransientMap } from '../../../core/collections/transient-map.js';
import type { HttpSettings } from '../settings.js';

/** Whose a body is. */
export interface BodyOwner {
  readonly key: string;
  /** A credential proved it; else it is only an address, which many may share. */
  readonly isKnown: boolean;
}

/** A body that is being read. */
export interface BodyReading {
  readonly exchange: { readonly bodyOwner: BodyOwner };
  /** The owner whose bytes they count as; undefined until some are counted. */
  owner?: BodyOwner;
  /** Set for a body whose bytes are stored as they arrive: whether this side waits for the client. */
  awaits?: boolean;
  /** How many bytes have come. */
  received: number;
  /** How many had come at the last check; undefined before the first. */
  looked: number | undefined;
  /** Gives it up. */
  cut(why: 'slow' | 'crowded'): void;
}

/** What a body has to bring in each span, unless it ends. */
export const leastBytes = 16_384;

/** What a body takes of memory that is stored as it arrives: what was read, and the piece that is being written. */
const storedBytes = 4_194_304;

/** What all bodies may hold when the settings do not say. */
const usualMost = 67_108_864;

type Settings = Pick<HttpSettings, 'slowClientMs' | 'maxUploadBytes' | 'maxBodiesBytes'>;

/**
 * All bodies that are being read. One timer finds those that come so slowly that they only hold a place, and what they
 * hold together is bounded: when it is too much, the caller who holds most loses the largest body. So a few who send
 * large bodies, or never finish them, do not keep others out.
 */
export class BodiesInFlight {
  readonly spanMs: number;
  /** How many bytes all of them may hold. */
  readonly most: number;
  /** How many those of one known caller may. */
  readonly #mostOfOne: number;
  /** What a body counts for that is stored as it arrives, whatever its size. */
  readonly #storedBytes: number;
  readonly #reading = new TransientMap<BodyReading, true>();
  readonly #heldBy = new Map<string, number>();
  #held = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ slowClientMs, maxUploadBytes, maxBodiesBytes }: Settings) {
    this.spanMs = slowClientMs;
    // one body has room, however large it may be
    this.most = Math.max(maxBodiesBytes ?? Math.max(usualMost, 2 * maxUploadBytes), maxUploadBytes);
    this.#mostOfOne = Math.max(this.most / 2, maxUploadBytes);
    this.#storedBytes = Math.min(storedBytes, this.#mostOfOne);
  }

  add(reading: BodyReading): void {
    this.#reading.set(reading, true);
    this.#timer ??= inNeutralContext(() => setInterval(() => this.#look(), this.spanMs).unref());
    if (reading.awaits !== undefined) this.#hold(reading, this.#storedBytes);
  }

  /** Counts what has come. It may be the body itself that is given up for it. */
  grow(reading: BodyReading, bytes: number): void {
    reading.received += bytes;
    if (reading.awaits === undefined) this.#hold(reading, bytes);
  }

  #hold(reading: BodyReading, bytes: number): void {
    reading.owner ??= reading.exchange.bodyOwner;
    const { key, isKnown } = reading.owner;
    const held = this.#count(key, bytes);
    if (isKnown && held > this.#mostOfOne) this.#cutLargestOf(key);
    while (this.#held > this.most) this.#cutLargestOf(this.#heaviest());
  }

  delete(reading: BodyReading): void {
    const { owner } = reading;
    if (this.#reading.delete(reading) && owner !== undefined) this.#count(owner.key, -this.#bytesOf(reading));
  }

  #count(key: string, bytes: number): number {
    this.#held += bytes;
    const held = (this.#heldBy.get(key) ?? 0) + bytes;
    if (held === 0) this.#heldBy.delete(key);
    else this.#heldBy.set(key, held);
    return held;
  }

  #bytesOf({ awaits, received }: BodyReading): number {
    return awaits === undefined ? received : this.#storedBytes;
  }

  #heaviest(): string {
    let heaviest = '';
    let most = -1;
    for (const [key, held] of this.#heldBy) if (held > most) [heaviest, most] = [key, held];
    return heaviest;
  }

  #cutLargestOf(key: string): void {
    let largest: BodyReading | undefined;
    for (const reading of this.#reading.keys()) {
      // of two alike the later one, which has got less far
      const isLarger = largest === undefined || this.#bytesOf(reading) >= this.#bytesOf(largest);
      if (reading.owner?.key === key && isLarger) largest = reading;
    }
    if (largest === undefined) return;
    this.delete(largest);
    largest.cut('crowded');
  }

  #look(): void {
    if (this.#reading.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const reading of this.#reading.keys()) {
      const { looked, received, awaits = true } = reading;
      // it is this side that takes its time
      if (!awaits) {
        reading.looked = undefined;
        continue;
      }
      reading.looked = received;
      if (looked !== undefined && received - looked < leastBytes) reading.cut('slow');
    }
  }
}
