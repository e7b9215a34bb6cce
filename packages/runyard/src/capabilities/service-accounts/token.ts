import { createHash, randomBytes } from 'node:crypto';
import { accountTokenPrefix } from '../../platform/auth/identity.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 32;
/** As many characters as the largest number of 32 bytes takes. */
const digits = 43;
const form = new RegExp(`^${accountTokenPrefix}[0-9A-Za-z]{${digits}}$`);
const shownLength = 16;

export interface NewToken {
  /** Shown once, to the caller who requested it; nothing stores it. */
  readonly token: string;
  readonly hash: string;
  /** What people recognise it by. */
  readonly prefix: string;
}

export function newAccountToken(): NewToken {
  const token = accountTokenPrefix + base62(randomBytes(randomLength));
  return { token, hash: hashOfToken(token), prefix: token.slice(0, shownLength) };
}

/** Whether the text can be a token at all. */
export function isAccountToken(text: string): boolean {
  return form.test(text);
}

/** What is stored of a token. It is as random as a key, so a fast hash without salt gives nothing away. */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function base62(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (let position = 0; position < digits; position++) {
    text = alphabet[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text;
}
