import { createPublicKey, createSecretKey, type KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { isJsonObject } from '../../../core/json.js';
import type { SignatureAlgorithm } from './settings.js';

type CryptoKey = webcrypto.CryptoKey;

/** Why a key cannot be used. The text never holds any of it. */
export class KeyFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'KeyFault';
  }
}

/**
 * One key that tokens are checked with. What it is decides which algorithms it may be used for, so that a public
 * key is never taken for a secret, however a token is headed.
 */
export class VerificationKey {
  readonly #imported = new Map<SignatureAlgorithm, Promise<CryptoKey>>();

  constructor(
    readonly algorithms: ReadonlySet<SignatureAlgorithm>,
    private readonly key: KeyObject,
    readonly keyId: string | null = null,
  ) {}

  /** In the form that checks signatures, kept: importing costs more than checking. */
  forAlgorithm(algorithm: SignatureAlgorithm): Promise<CryptoKey> {
    let imported = this.#imported.get(algorithm);
    if (imported === undefined) {
      imported = importKey(this.key, algorithm);
      this.#imported.set(algorithm, imported);
    }
    return imported;
  }
}

async function importKey(key: KeyObject, algorithm: SignatureAlgorithm): Promise<CryptoKey> {
  if (key.type === 'secret') {
    const hash = `SHA-${algorithm.slice(2)}`;
    return webcrypto.subtle.importKey('raw', key.export(), { name: 'HMAC', hash }, false, ['verify']);
  }
  const { importJWK } = await import('jose/key/import');
  // bytes would be made of a symmetric key, which is above
  return (await importJWK(key.export({ format: 'jwk' }), algorithm)) as CryptoKey;
}

/** A key as the settings hold it: a public key in PEM text, else a secret. */
export function readKeyText(text: string): KeyObject {
  const trimmed = text.trim();
  if (trimmed.includes('-----BEGIN')) return readPem(trimmed);
  if (isPublicKeyText(trimmed))
    throw new KeyFault(
      'is a public key without its first and last line. Used as a secret, it would let anyone sign tokens. Include the lines "-----BEGIN PUBLIC KEY-----" and "-----END PUBLIC KEY-----"',
    );
  if (isJsonKey(trimmed))
    throw new KeyFault('is a key in JSON. Put it into a file as {"keys": [ … ]} and name that in jwksFile');
  return createSecretKey(text, 'utf8');
}

function readPem(text: string): KeyObject {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY/.test(text))
    throw new KeyFault('is a private key. Give the public key, which verifies tokens');
  try {
    // variables often hold the line ends as two characters
    return createPublicKey(text.includes('\n') ? text : text.replaceAll('\\n', '\n'));
  } catch {
    throw new KeyFault('is a PEM text that cannot be read. Give the whole public key with its line ends');
  }
}

/** A public key that lost its armour, or one of another format: it is public, so it is no secret. */
function isPublicKeyText(text: string): boolean {
  if (/^(ssh-|ecdsa-sha2-)/.test(text)) return true;
  const bytes = Buffer.from(text.replace(/\s|\\n/g, ''), 'base64');
  const readers: readonly (() => unknown)[] = [
    () => createPublicKey({ key: bytes, format: 'der', type: 'spki' }),
    () => createPublicKey({ key: bytes, format: 'der', type: 'pkcs1' }),
    () => new X509Certificate(bytes),
  ];
  return readers.some((read) => {
    try {
      read();
      return true;
    } catch {
      return false;
    }
  });
}

function isJsonKey(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && ('kty' in value || 'keys' in value);
  } catch {
    return false;
  }
}

const weakestRsaBits = 2048;

const curveAlgorithms: Readonly<Record<string, SignatureAlgorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** Every algorithm that a key can be used for, the usual one first. */
export function algorithmsOf(key: KeyObject): readonly SignatureAlgorithm[] {
  if (key.type === 'secret') return algorithmsOfSecret(key.symmetricKeySize ?? 0);
  switch (key.asymmetricKeyType) {
    case 'rsa':
      checkRsaSize(key);
      return ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
    case 'ec': {
      const curve = key.asymmetricKeyDetails?.namedCurve ?? '';
      const algorithm = Object.hasOwn(curveAlgorithms, curve) ? curveAlgorithms[curve] : undefined;
      if (algorithm === undefined)
        throw new KeyFault('is on a curve that is not supported: use P-256, P-384 or P-521');
      return [algorithm];
    }
    case 'ed25519':
      return ['EdDSA', 'Ed25519'];
    default:
      throw new KeyFault('is of a kind that is not supported: use an RSA, EC or Ed25519 key');
  }
}

/** RFC 7518 asks for a secret that is as long as the hash: a shorter one can be guessed from one token. */
function algorithmsOfSecret(bytes: number): readonly SignatureAlgorithm[] {
  if (bytes < 32)
    throw new KeyFault(
      `is a secret of ${bytes} bytes, which can be guessed from one token. Give 32 bytes or more, such as the output of: openssl rand -hex 32`,
    );
  const fitting: SignatureAlgorithm[] = ['HS256'];
  if (bytes >= 48) fitting.push('HS384');
  if (bytes >= 64) fitting.push('HS512');
  return fitting;
}

function checkRsaSize(key: KeyObject): void {
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < weakestRsaBits)
    throw new KeyFault(`is an RSA key of ${bits} bits, which is too weak: use ${weakestRsaBits} or more`);
}
