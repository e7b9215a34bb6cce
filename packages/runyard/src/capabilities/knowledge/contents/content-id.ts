import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../../core/json.js';

/** The id of a knowledge base: the same for the same name in the same table. */
export function knowledgeIdOf(databaseId: string, table: string, name: string): string {
  return inGroups(sha256(`${databaseId}:${table}:${name}`).slice(0, 32));
}

/** What the id of a content is made from. Clients compute ids too: the order and the form are part of the contract. */
export interface ContentIdentity {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly metadata?: JsonObject | null | undefined;
  /** `s3:<bucket>:<key>`. */
  readonly source?: string | undefined;
  /** The path, the URL, the file name, or `manual` for a text. */
  readonly origin: string;
  /** Of the bytes: given for a text that nothing else distinguishes from others. */
  readonly digest?: string | undefined;
}

export function contentIdOf(identity: ContentIdentity): string {
  const { name, description, metadata, source, origin, digest } = identity;
  const hasMetadata = metadata !== undefined && metadata !== null && Object.keys(metadata).length > 0;
  const parts = [name, description, hasMetadata ? sortedJson(metadata) : undefined, source, origin, digest];
  return uuid5(sha256(parts.filter(Boolean).join(':')));
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

const dnsNamespace = Buffer.from('6ba7b8109dad11d180b400c04fd430c8', 'hex');

function uuid5(name: string): string {
  const bytes = createHash('sha1').update(dnsNamespace).update(name).digest();
  bytes[6] = (bytes.readUInt8(6) & 0x0f) | 0x50;
  bytes[8] = (bytes.readUInt8(8) & 0x3f) | 0x80;
  return inGroups(bytes.toString('hex', 0, 16));
}

function inGroups(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** JSON as the contract hashes it: sorted keys, a space after each separator, only ASCII characters. */
function sortedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return ascii(JSON.stringify(value));
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${ascii(JSON.stringify(key))}: ${sortedJson(value[key] ?? null)}`);
  return `{${entries.join(', ')}}`;
}

function ascii(json: string): string {
  return json.replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
