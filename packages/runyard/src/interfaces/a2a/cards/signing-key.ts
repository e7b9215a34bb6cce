import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';

/** A private key: PEM text, or a JSON Web Key as an object or as JSON text. */
export type GivenKey = string | Readonly<Record<string, unknown>>;

/** A key that signs cards and notifications, and the part of it that verifies them. */
export interface SigningKey {
  readonly keyId: string;
  readonly algorithm: string;
  readonly privateKey: KeyObject;
  /** A JSON Web Key without anything private. */
  readonly publicKey: JsonObject;
}

const algorithms: Readonly<Record<string, string>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  Ed25519: 'EdDSA',
  RSA: 'RS256',
};

/** The fault of a key that cannot be used never holds any of it. */
export async function readSigningKey(given: GivenKey): Promise<SigningKey> {
  const { calculateJwkThumbprint } = await import('jose');
  const [privateKey, named] = privateKeyOf(given);
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  const algorithm = algorithms[jwk.crv ?? jwk.kty ?? ''];
  if (algorithm === undefined) throw unusable('it is of a type that cannot sign');
  // Node writes the same members as jose reads
  const keyId = named ?? (await calculateJwkThumbprint(jwk as Parameters<typeof calculateJwkThumbprint>[0]));
  // a public key consists of texts
  const publicKey = { ...jwk, kid: keyId, alg: algorithm, use: 'sig' } as JsonObject;
  return { keyId, algorithm, privateKey, publicKey };
}

function privateKeyOf(given: GivenKey): [KeyObject, string | undefined] {
  try {
    if (typeof given === 'string' && given.includes('-----BEGIN')) {
      // variables often hold the line ends as two characters
      const pem = given.includes('\n') ? given : given.replaceAll('\\n', '\n');
      return [createPrivateKey(pem), undefined];
    }
    const jwk = typeof given === 'string' ? JSON.parse(given) : given;
    // what is not a key is refused by Node
    const key = createPrivateKey({ key: jwk as JsonWebKey, format: 'jwk' });
    return [key, typeof jwk.kid === 'string' && jwk.kid !== '' ? jwk.kid : undefined];
  } catch {
    throw unusable('it cannot be read');
  }
}

function unusable(reason: string) {
  return errors.invalidConfig(
    `a2a(): signingKey is not usable: ${reason}. Give a private key (EC, Ed25519 or RSA) as PEM text or as a JSON Web Key.`,
  );
}

/** A new key for services whose application gives none. */
export function newSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return JSON.stringify(privateKey.export({ format: 'jwk' }));
}
