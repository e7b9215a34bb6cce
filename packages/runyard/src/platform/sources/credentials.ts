import { isDeepStrictEqual } from 'node:util';
import type { Optional } from '../../core/options/kind.js';
import { kind } from '../../core/options/kinds.js';

/**
 * A secret, or where it is: in a variable of the environment, or what a function returns. Runyard reads it when it is
 * needed and shows it nowhere.
 */
export type Credential = string | { readonly env: string } | (() => string | Promise<string>);

export const credential: Optional = {
  ...kind("a text, { env: 'NAME' } or a function that returns a text", isCredential),
  secret: true,
};

function isCredential(value: unknown): boolean {
  if (typeof value === 'function') return true;
  if (typeof value === 'string') return value !== '';
  return (
    typeof value === 'object' &&
    value !== null &&
    'env' in value &&
    typeof value.env === 'string' &&
    value.env !== '' &&
    Object.keys(value).length === 1
  );
}

/** How long the function of a credential may take. */
const longestWaitMs = 30_000;

/** The secret. Throws a reason without it. */
export async function readCredential(given: Credential): Promise<string> {
  if (typeof given === 'string') return given;
  if (typeof given === 'object') {
    const value = process.env[given.env];
    if (value === undefined || value === '')
      throw new Error(`The environment variable ${given.env} is not set.`);
    return value;
  }
  const value: unknown = await withinTime(given);
  if (typeof value !== 'string' || value === '')
    throw new Error('The function of the credential returned no text.');
  return value;
}

function withinTime(given: () => string | Promise<string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`The function of the credential took longer than ${longestWaitMs} ms.`)),
      longestWaitMs,
    );
    // what the function throws may hold the secret, or a part of it
    const failed = () => reject(new Error('The function of the credential failed.'));
    const called = async () => given();
    called()
      .then(resolve, failed)
      .finally(() => clearTimeout(timer));
  });
}

/** A value with the time, in milliseconds since the epoch, until which it can be used. */
export interface Lent<T> {
  readonly value: T;
  readonly until: number;
}

/** A token or key that is loaded when it is needed, once for all who wait for it, and kept while it is valid. */
export class Remembered<T> {
  readonly #load: () => Promise<Lent<T>>;
  #current: Lent<T> | undefined;
  #pending: Promise<T> | undefined;

  constructor(load: () => Promise<Lent<T>>) {
    this.#load = load;
  }

  get(): Promise<T> {
    if (this.#current !== undefined && Date.now() < this.#current.until)
      return Promise.resolve(this.#current.value);
    this.#pending ??= this.#renewed().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** A value other than the refused one; undefined when there is none. */
  async instead(refused: T): Promise<T | undefined> {
    if (this.#current?.value === refused) this.#current = undefined;
    const value = await this.get();
    return isDeepStrictEqual(value, refused) ? undefined : value;
  }

  async #renewed(): Promise<T> {
    this.#current = await this.#load();
    return this.#current.value;
  }
}

/** Keys without an expiry are read anew from time to time, so that rotated ones are noticed. */
const keptKeysMs = 60_000;

export async function keptForAWhile<T>(load: () => Promise<T>): Promise<Lent<T>> {
  return { value: await load(), until: Date.now() + keptKeysMs };
}
