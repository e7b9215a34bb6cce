import { errors } from '../../../core/errors/errors.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { JsonFault, parseUntrustedJson } from '../../http/request/json-text.js';

/** Longer than any real token: what is longer is not checked. */
const longestToken = 16_384;

/** The parts of a token that decide how it is checked. Nothing in it is to be believed yet. */
export interface TokenHeader {
  readonly algorithm: string;
  readonly keyId: string | null;
}

export function checkLength(token: string): void {
  if (token.length > longestToken)
    throw errors.invalidToken(`Token is longer than ${longestToken} characters`);
}

/** Reads the header of a token and makes sure that the rest has the right form. Throws the contract's texts. */
export function readHeader(token: string): TokenHeader {
  const segments = token.split('.');
  if (segments.length < 3) throw errors.invalidToken('Not enough segments');
  if (segments.length > 3) throw errors.invalidToken('Too many segments');
  const [header = '', payload = '', signature = ''] = segments;
  const content = objectOf(bytesOf(header, 'header'), 'header');
  if (!isBase64Url(payload)) throw errors.invalidToken('Invalid payload padding');
  if (!isBase64Url(signature)) throw errors.invalidToken('Invalid crypto padding');
  return checkedHeader(content);
}

/** What a token claims, from the bytes of its payload. */
export function readClaims(payload: Uint8Array): JsonObject {
  return objectOf(payload, 'payload');
}

/** The payload of a token whose signature is not checked. */
export function unverifiedPayload(token: string): Uint8Array {
  return bytesOf(token.split('.')[1] ?? '', 'payload');
}

function checkedHeader(header: JsonObject): TokenHeader {
  const { alg, kid } = header;
  // extensions that must be understood: we understand none
  if (Object.hasOwn(header, 'crit')) throw errors.invalidToken('Unsupported critical extension');
  if (!Object.hasOwn(header, 'alg')) throw errors.invalidToken('Algorithm not specified');
  if (typeof alg !== 'string') throw errors.invalidToken('The specified alg value is not allowed');
  if (kid !== undefined && typeof kid !== 'string')
    throw errors.invalidToken('Key ID header parameter must be a string');
  return { algorithm: alg, keyId: kid ?? null };
}

/** One remainder of the length stands for no bytes at all. */
function isBase64Url(text: string): boolean {
  return text.length % 4 !== 1 && /^[A-Za-z0-9_-]*$/.test(text);
}

function bytesOf(segment: string, part: 'header' | 'payload'): Uint8Array {
  if (!isBase64Url(segment)) throw errors.invalidToken(`Invalid ${part} padding`);
  return Buffer.from(segment, 'base64url');
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function objectOf(bytes: Uint8Array, part: 'header' | 'payload'): JsonObject {
  const content = jsonOf(bytes, part);
  if (!isJsonObject(content)) throw errors.invalidToken(`Invalid ${part} string: must be a json object`);
  return content;
}

function jsonOf(bytes: Uint8Array, part: 'header' | 'payload') {
  try {
    return parseUntrustedJson(utf8.decode(bytes));
  } catch (error) {
    // the parser's own text quotes the token
    const reason = error instanceof JsonFault ? 'it is not JSON that is read here' : 'it is not UTF-8';
    throw errors.invalidToken(`Invalid ${part} string: ${reason}`);
  }
}
