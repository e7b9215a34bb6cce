import { errors } from '../../../core/errors/errors.js';
import type { Json, JsonObject } from '../../../core/json.js';
import { isWhole } from '../../../core/options/faults.js';
import type { TokenSettings } from './settings.js';

/** What a token proved. It is shared between requests and frozen. */
export interface VerifiedToken {
  readonly claims: JsonObject;
  /** Who the caller is; null when the token does not say. */
  readonly subject: string | null;
  readonly scopes: readonly string[];
  /** From when on the token is refused, in milliseconds: its end and the leeway; null when it has no end. */
  readonly expiresAt: number | null;
}

type ClaimSettings = Pick<TokenSettings, 'jwtIssuer' | 'jwtLeewaySeconds' | 'userIdClaim' | 'scopesClaim'>;

/** Checks the times, the issuer, the audience and the subject, in this order. Throws the contract's texts. */
export function checkClaims(
  claims: JsonObject,
  settings: ClaimSettings,
  audiences: readonly string[],
  now: number,
): VerifiedToken {
  const expiresAt = checkTimes(claims, settings.jwtLeewaySeconds * 1000, now);
  if (settings.jwtIssuer !== undefined) checkIssuer(claims, settings.jwtIssuer);
  if (audiences.length > 0) checkAudience(claims, audiences);
  if (!isTextOrAbsent(claims, 'sub') || !isTextOrAbsent(claims, settings.userIdClaim))
    throw errors.invalidToken('Subject must be a string');
  return described(claims, settings, expiresAt);
}

/** The same without any check but that of the subject: for tokens that a gateway has checked. */
export function describeClaims(claims: JsonObject, settings: ClaimSettings): VerifiedToken {
  return described(claims, settings, null);
}

function described(
  claims: JsonObject,
  { userIdClaim, scopesClaim }: ClaimSettings,
  expiresAt: number | null,
): VerifiedToken {
  const subject = subjectOf(claim(claims, userIdClaim));
  const scopes = Object.freeze(scopesOf(claims, scopesClaim));
  return Object.freeze({ claims: frozen(claims), subject, scopes, expiresAt });
}

/** A claim, never something that every object has. */
function claim(claims: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

function isTextOrAbsent(claims: JsonObject, name: string): boolean {
  const value = claim(claims, name);
  return value === undefined || typeof value === 'string';
}

const integerTexts = {
  iat: 'Issued At claim (iat) must be an integer.',
  nbf: 'Not Before claim (nbf) must be an integer.',
  exp: 'Expiration Time claim (exp) must be an integer.',
} as const;

function checkTimes(claims: JsonObject, leewayMs: number, now: number): number | null {
  for (const name of ['iat', 'nbf'] as const) {
    const from = timeOf(claims, name);
    if (from !== null && from > now + leewayMs)
      throw errors.invalidToken(`The token is not yet valid (${name})`);
  }
  const end = timeOf(claims, 'exp');
  if (end === null) return null;
  if (end + leewayMs <= now) throw errors.tokenExpired();
  return end + leewayMs;
}

function timeOf(claims: JsonObject, name: keyof typeof integerTexts): number | null {
  const value = claim(claims, name);
  if (value === undefined) return null;
  if (!isWhole(value)) throw errors.invalidToken(integerTexts[name]);
  return value * 1000;
}

function checkIssuer(claims: JsonObject, issuer: string): void {
  const given = claim(claims, 'iss');
  if (given === undefined) throw errors.invalidToken('Token is missing the "iss" claim');
  if (given !== issuer) throw errors.invalidToken('Invalid issuer');
}

function checkAudience(claims: JsonObject, expected: readonly string[]): void {
  const given = claim(claims, 'aud');
  const named = Array.isArray(given) ? given : [given];
  if (given === null || given === '' || named.every((one) => one === undefined))
    throw errors.invalidToken(
      'Token is missing the "aud" claim. Audience verification requires this claim to be present in the token.',
    );
  if (!named.every((one) => typeof one === 'string'))
    throw errors.invalidToken('Invalid claim format in token');
  if (!named.some((one) => expected.includes(one))) throw errors.tokenAudience(expected, named);
}

/** As long as any id of a caller may be. */
const longestSubject = 255;

/**
 * Names of the service's own callers are refused, and so is what no database keeps as it is: two callers could
 * become one.
 */
function subjectOf(value: Json | undefined): string | null {
  if (typeof value !== 'string' || value === '') return null;
  const isReserved = value.startsWith('sa:') || value.startsWith('__oauth__:') || value === '__scheduler__';
  if (isReserved || value.length > longestSubject || /[\0\p{Surrogate}]/u.test(value))
    throw errors.tokenSubject();
  return value;
}

/** The scopes: a list of texts or one text, and the blank-separated texts of OAuth's `scope`. */
function scopesOf(claims: JsonObject, scopesClaim: string): string[] {
  const given = claim(claims, scopesClaim);
  const named = Array.isArray(given) ? given : [given];
  const oauth = claim(claims, 'scope');
  const separated = typeof oauth === 'string' ? oauth.split(' ') : [];
  const texts = [...named, ...separated].filter(
    (one): one is string => typeof one === 'string' && one !== '',
  );
  return [...new Set(texts)];
}

/** The token is kept for the next requests: agent code that writes into its claims must not change them. */
function frozen<Value extends Json>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) frozen(inner);
    Object.freeze(value);
  }
  return value;
}
