import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { isJsonObject } from '../../core/json.js';

type Purpose = 'access token' | 'authorization request' | 'form' | 'stored hash' | 'key id';

/** One key for each purpose, from the one that the operator gives: what is made for one is worthless for another. */
export class OauthKeys {
  readonly #signingKey: string;
  /** In the header of our access tokens: distinguishes them from those of other issuers. */
  readonly keyId: string;

  constructor(signingKey: string) {
    this.#signingKey = signingKey;
    this.keyId = this.#mac('key id', '').toString('base64url').slice(0, 16);
  }

  key(purpose: Purpose): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#signingKey, '', `runyard mcp ${purpose}`, 32));
  }

  /** What is stored of a token. Without the key, a stolen database cannot even confirm a guess. */
  hash(kind: string, token: string): string {
    return this.#mac('stored hash', `${kind}:${token}`).toString('hex');
  }

  /** Ties a form to the browser that it was shown to. */
  formToken(cookie: string, transaction: string): string {
    return this.#mac('form', `${cookie}.${transaction}`).toString('base64url');
  }

  /** Whether a token says that it is one of our access tokens. */
  isOurs(token: string): boolean {
    const header = headerOf(token);
    return header?.kid === this.keyId && header.typ === accessTokenType;
  }

  #mac(purpose: Purpose, text: string): Buffer {
    return createHmac('sha256', this.key(purpose)).update(text).digest();
  }
}

export const accessTokenType = 'at+jwt';

const longestToken = 8192;

function headerOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const end = token.indexOf('.');
  if (end === -1 || token.length > longestToken) return undefined;
  try {
    const header: unknown = JSON.parse(Buffer.from(token.slice(0, end), 'base64url').toString());
    return isJsonObject(header) ? header : undefined;
  } catch {
    return undefined;
  }
}

/** A code or a refresh token: as random as a key. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The challenge of PKCE that a verifier belongs to. */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

/** How long it takes reveals neither how much of it is right nor how long the right one is. */
export function isSameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
