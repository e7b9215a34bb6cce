import { generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWTPayload, SignJWT } from 'jose';
import { afterEach } from 'vitest';

/** A pair of keys of an issuer of tokens. */
export interface SigningKey {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  readonly pem: string;
  /** Its entry in a JWKS. */
  readonly jwk: Record<string, unknown>;
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
}

type Owner = 'issuer' | 'stranger';

const rsaPairs = new Map<Owner, KeyPairKeyObjectResult>();

/** Making one takes half a second: all tests of a process share those of the owners. */
function rsaPair(owner: Owner): KeyPairKeyObjectResult {
  const pair = rsaPairs.get(owner) ?? generateKeyPairSync('rsa', { modulusLength: 2048 });
  rsaPairs.set(owner, pair);
  return pair;
}

const kinds: Record<string, (owner: Owner) => KeyPairKeyObjectResult> = {
  RS: rsaPair,
  PS: rsaPair,
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  Ed: () => generateKeyPairSync('ed25519'),
};

/** Keys for an algorithm such as ES256; those of a stranger are others. */
export function signingKey(algorithm: string, keyId?: string, owner: Owner = 'issuer'): SigningKey {
  const kind = Object.entries(kinds).find(([prefix]) => algorithm.startsWith(prefix));
  if (kind === undefined) throw new Error(`no keys for ${algorithm}`);
  const { publicKey, privateKey } = kind[1](owner);
  return {
    algorithm,
    keyId,
    pem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    jwk: { ...publicKey.export({ format: 'jwk' }), ...(keyId !== undefined && { kid: keyId }) },
    sign: (claims, header) =>
      signed(claims, privateKey, { alg: algorithm, ...(keyId !== undefined && { kid: keyId }), ...header }),
  };
}

/** A token that is signed with a secret. */
export function signedWithSecret(secret: string, claims: JWTPayload, algorithm = 'HS256'): Promise<string> {
  return signed(claims, new TextEncoder().encode(secret), { alg: algorithm });
}

function signed(
  claims: JWTPayload,
  key: KeyObject | Uint8Array,
  header: { alg: string; [name: string]: unknown },
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader(header).sign(key);
}

/** A server that publishes a JWKS until the test is over. */
export interface Issuer {
  readonly url: string;
  /** How often it was asked. */
  readonly asked: () => number;
  /** What it answers with from now on. */
  publish(...keys: readonly SigningKey[]): void;
  answer(how: (response: ServerResponse) => void): void;
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

export async function startIssuer(...keys: readonly SigningKey[]): Promise<Issuer> {
  let asked = 0;
  let answer: (response: ServerResponse) => void = () => {};
  const issuer = {
    asked: () => asked,
    publish: (...published: readonly SigningKey[]) => {
      const body = JSON.stringify({ keys: published.map(({ jwk }) => jwk) });
      answer = (response) => response.setHeader('content-type', 'application/json').end(body);
    },
    answer: (how: (response: ServerResponse) => void) => {
      answer = how;
    },
  };
  issuer.publish(...keys);
  const server = createServer((_request, response) => {
    asked++;
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/jwks.json`, ...issuer };
}
