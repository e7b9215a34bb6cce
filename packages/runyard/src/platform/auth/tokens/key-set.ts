import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { JsonFault, parseUntrustedJson } from '../../http/request/json-text.js';
import { algorithmsOf, KeyFault, VerificationKey } from './keys.js';
import type { SignatureAlgorithm } from './settings.js';

export interface KeySetOptions {
  readonly algorithms: ReadonlySet<SignatureAlgorithm>;
  /** Whether it may hold secrets. A published set may not: anyone could sign. */
  readonly secrets: boolean;
}

/** How large a JWKS may be, and how many keys it may hold: real ones have a few. */
export const largestKeySet = 1_048_576;
const mostKeys = 1000;

/** The keys of a JWKS that tokens can be checked with. */
export class KeySet {
  readonly #byId = new Map<string, VerificationKey[]>();
  readonly #withoutId: VerificationKey[] = [];

  private constructor(
    keys: readonly VerificationKey[],
    /** Why other entries were left out, one text each. */
    readonly leftOut: readonly string[],
  ) {
    for (const key of keys) {
      if (key.keyId === null) this.#withoutId.push(key);
      else this.#byId.set(key.keyId, [...(this.#byId.get(key.keyId) ?? []), key]);
    }
  }

  /** Reads a JWKS. An entry that cannot be used is left out, as issuers add new kinds at any time. */
  static parse(text: string, options: KeySetOptions): KeySet {
    const keys: VerificationKey[] = [];
    const leftOut: string[] = [];
    for (const [index, entry] of entriesOf(text).entries()) {
      try {
        keys.push(readEntry(entry, options));
      } catch (error) {
        if (!(error instanceof KeyFault)) throw error;
        leftOut.push(`entry ${index + 1} ${error.message}`);
      }
    }
    if (keys.length === 0) {
      const reasons = leftOut.length > 0 ? `: ${leftOut.slice(0, 5).join('; ')}` : '';
      throw new KeyFault(`holds no key that can verify tokens${reasons}`);
    }
    return new KeySet(keys, leftOut);
  }

  has(keyId: string): boolean {
    return this.#byId.has(keyId);
  }

  /** The keys of this id; else those without an id, which stand in for every other. */
  find(keyId: string | null): readonly VerificationKey[] {
    return (keyId === null ? undefined : this.#byId.get(keyId)) ?? this.#withoutId;
  }
}

function entriesOf(text: string): readonly unknown[] {
  const shape = 'is not a JWKS: a JSON object with a list "keys"';
  let content: unknown;
  try {
    content = parseUntrustedJson(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof JsonFault) throw new KeyFault(shape);
    throw error;
  }
  if (!isJsonObject(content) || !Array.isArray(content.keys)) throw new KeyFault(shape);
  if (content.keys.length > mostKeys) throw new KeyFault(`holds more than ${mostKeys} keys`);
  return content.keys;
}

function readEntry(entry: unknown, { algorithms, secrets }: KeySetOptions): VerificationKey {
  if (!isJsonObject(entry)) throw new KeyFault('is not an object');
  if (entry.use !== undefined && entry.use !== 'sig') throw new KeyFault('is not for signatures (use)');
  if (Array.isArray(entry.key_ops) && !entry.key_ops.includes('verify'))
    throw new KeyFault('is not for verifying signatures (key_ops)');
  if (entry.d !== undefined) throw new KeyFault('is a private key, which does not belong here');
  if (entry.kty === 'oct' && !secrets) throw new KeyFault('is a secret, which cannot be published');
  const key = importEntry(entry);
  const used = algorithmsOf(key).filter(
    (algorithm) => algorithms.has(algorithm) && isMeantFor(entry.alg, algorithm),
  );
  if (used.length === 0) throw new KeyFault(`fits none of ${[...algorithms].join(', ')}`);
  return new VerificationKey(new Set(used), key, typeof entry.kid === 'string' ? entry.kid : null);
}

/** An entry may say the one algorithm that it is for. Ed25519 has two names. */
function isMeantFor(named: unknown, algorithm: SignatureAlgorithm): boolean {
  if (named === undefined) return true;
  const plain = (name: unknown) => (name === 'Ed25519' ? 'EdDSA' : name);
  return plain(named) === plain(algorithm);
}

function importEntry(entry: JsonObject): KeyObject {
  try {
    if (entry.kty === 'oct') return createSecretKey(String(entry.k), 'base64url');
    return createPublicKey({ key: entry, format: 'jwk' });
  } catch {
    throw new KeyFault('cannot be read as a key');
  }
}
