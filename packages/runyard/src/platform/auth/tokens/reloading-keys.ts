import type { Log } from '../../../core/log.js';
import type { KeySet } from './key-set.js';

/** Reads the keys again; undefined when they have not changed. */
export type LoadKeys = () => Promise<KeySet | undefined>;

export interface ReloadingKeysOptions {
  readonly load: LoadKeys;
  /** How a log names the place they come from. */
  readonly label: string;
  readonly log: Log;
  readonly now: () => number;
  /** After how long the keys are read again behind the back of requests, so that a withdrawn key goes. */
  readonly maximumAgeMs: number;
  /** How much time lies between two attempts, however many unknown keys tokens name. */
  readonly restMs: number;
  /** Called when there are other keys than before. */
  readonly onChange: () => void;
}

/** An issuer that starts together with the service is asked again soon. */
const restWithoutKeysMs = 1000;
/** Keys that were not checked for so many times their age are read before they are used. */
const staleAges = 2;

/**
 * Keys that change while the service runs. They are read when first needed, again when a token names a key that is
 * not there, and from time to time. While they cannot be read, the last ones stay valid: an unavailable issuer
 * must not shut out all users.
 */
export class ReloadingKeys {
  #keys: KeySet | undefined;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  /** When the last attempt was over, with any result. */
  #lookedAfterAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;

  constructor(private readonly options: ReloadingKeysOptions) {}

  /** Reads them now and fails if that is not possible. */
  async open(): Promise<void> {
    this.#attemptedAt = this.options.now();
    this.#keys = await this.options.load();
    this.#lookedAfterAt = this.options.now();
  }

  /** The keys to look for this one in; undefined while there have never been any. */
  async holding(keyId: string | null): Promise<KeySet | undefined> {
    const { restMs, maximumAgeMs } = this.options;
    if (this.#keys === undefined) await this.#reload(Math.min(restMs, restWithoutKeysMs));
    else if (keyId !== null && !this.#keys.has(keyId)) await this.#reload(restMs);
    else if (this.#isStale()) await this.#reload(maximumAgeMs);
    else void this.#reload(maximumAgeMs);
    return this.#keys;
  }

  /** Nothing is read between calls: a key that was withdrawn then must not be accepted for the next one. */
  #isStale(): boolean {
    return this.options.now() - this.#lookedAfterAt > staleAges * this.options.maximumAgeMs;
  }

  /** One attempt at a time, and none before the last one is so old. Never fails. */
  async #reload(afterMs: number): Promise<void> {
    if (this.#loading === undefined && this.options.now() - this.#attemptedAt < afterMs) return;
    this.#loading ??= this.#attempt().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  async #attempt(): Promise<void> {
    const { load, label, log, now, onChange } = this.options;
    this.#attemptedAt = now();
    try {
      const loaded = await load();
      if (loaded === undefined) return;
      this.#keys = loaded;
      onChange();
      log.debug({ leftOut: loaded.leftOut }, `${label}: keys were read`);
    } catch (error) {
      const consequence =
        this.#keys === undefined
          ? 'no token can be verified until they can'
          : 'the previous keys stay in use';
      log.warn({ error }, `${label}: keys could not be read; ${consequence}`);
    } finally {
      this.#lookedAfterAt = now();
    }
  }
}
