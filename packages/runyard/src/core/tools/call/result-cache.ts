import type { JsonObject } from '../../json.js';
import type { Tool } from '../tool.js';
import type { ToolContext } from '../tool-context.js';
import { ToolResult } from '../tool-result.js';
import { canonicalJson } from './canonical-json.js';

interface CachedResult {
  readonly isText: boolean;
  /** The text itself, or JSON. */
  readonly text: string;
  readonly media: ToolResult['media'] | undefined;
  readonly expiresAt: number;
}

const defaultTtlMs = 300_000;
const defaultEntries = 500;
/** For each tool, in characters of its results. */
const largestCache = 5_000_000;

const caches = new WeakMap<Tool, ResultCache>();

/** The memory of a tool with `cacheResults`; undefined for the others. */
export function resultCacheOf(tool: Tool): ResultCache | undefined {
  if (tool.cacheResults === undefined) return undefined;
  let cache = caches.get(tool);
  if (cache === undefined) {
    cache = new ResultCache(tool.cacheResults);
    caches.set(tool, cache);
  }
  return cache;
}

/** Results by call, the least recently used first. Bounded in number, size and age. */
export class ResultCache {
  readonly #entries = new Map<string, CachedResult>();
  readonly #options: NonNullable<Tool['cacheResults']>;
  #size = 0;

  constructor(options: NonNullable<Tool['cacheResults']>) {
    this.#options = options;
  }

  key({ userId, sessionId }: ToolContext, args: JsonObject): string {
    const call = canonicalJson(args);
    return this.#options.scope === 'process' ? call : JSON.stringify([userId, sessionId, call]);
  }

  get(key: string, now: number): { readonly result: unknown } | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#remove(key, entry);
    if (entry.expiresAt <= now) return undefined;
    this.#add(key, entry);
    // Parsed for each caller, because callers may change the value.
    const content: unknown = entry.isText ? entry.text : JSON.parse(entry.text);
    return { result: entry.media === undefined ? content : new ToolResult(content, entry.media) };
  }

  set(key: string, result: unknown, now: number): void {
    const { content, media } = result instanceof ToolResult ? result : { content: result, media: undefined };
    const isText = typeof content === 'string';
    const text = isText ? content : jsonOf(content);
    // Bytes of media are too large to be kept here, and nothing cannot be read back.
    if (text === undefined || text.length > largestCache / 10 || media?.some((one) => 'bytes' in one)) return;
    const old = this.#entries.get(key);
    if (old !== undefined) this.#remove(key, old);
    this.#add(key, { isText, text, media, expiresAt: now + (this.#options.ttlMs ?? defaultTtlMs) });
    const limit = this.#options.maximumEntries ?? defaultEntries;
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= limit && this.#size <= largestCache) break;
      this.#remove(oldest, entry);
    }
  }

  #add(key: string, entry: CachedResult): void {
    this.#entries.set(key, entry);
    this.#size += key.length + entry.text.length;
  }

  #remove(key: string, entry: CachedResult): void {
    this.#entries.delete(key);
    this.#size -= key.length + entry.text.length;
  }
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
