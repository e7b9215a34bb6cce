import { setImmediate as nextTurn } from 'node:timers/promises';
import { keyword, words } from '../models/offline/words.js';
import { checkOptions } from '../options/check-options.js';
import { count, objectOf } from '../options/kinds.js';
import { BatchedEmbedder } from './batched-embedder.js';
import type { Embedder } from './embedder.js';

export interface OfflineEmbedderOptions {
  /** The length of the vectors. Default 512. */
  readonly dimensions?: number;
}

const offlineEmbedderOptions = objectOf<OfflineEmbedderOptions>({ dimensions: count(16, 65_536) });

/**
 * The embedder that works without a key and without a network. Texts are near each other that share words, forms of
 * words or parts of words; what words mean it does not know.
 */
export function offlineEmbedder(options: OfflineEmbedderOptions = {}): Embedder {
  checkOptions('offlineEmbedder()', options, offlineEmbedderOptions);
  const { dimensions = 512 } = options;
  const identity = { id: 'offline', provider: 'Runyard' };
  // others have their turn between two batches
  const batches = { dimensions, maxBatch: 32, maxParallel: 1 };
  return new BatchedEmbedder(identity, batches, async (texts, _, signal) => {
    await nextTurn();
    signal.throwIfAborted();
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    return { vectors: texts.map((text) => hashed(text, dimensions)), tokens: Math.ceil(length / 4) };
  });
}

/** How much words such as `the` count against others. */
const smallWeight = 0.1;

/** Each feature of a text is added to, or subtracted from, the place that its hash says. */
function hashed(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const [hash, weight] of features(text)) {
    // the tenth time says less than the first
    const value = weight > 1 ? Math.sqrt(weight) : weight;
    const place = (hash >>> 1) % dimensions;
    vector[place] = (vector[place] ?? 0) + (hash & 1 ? value : -value);
  }
  // two features of a short text may have taken each other's place
  if (!vector.some((value) => value !== 0)) vector[0] = 1;
  return vector;
}

/** The hash of each feature, with its weight. */
function features(text: string): Map<number, number> {
  const found = new Map<number, number>();
  const add = (hash: number, weight: number) => found.set(hash, (found.get(hash) ?? 0) + weight);
  const plain = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
  for (const word of words(plain)) {
    if (withoutSpaces.test(word)) {
      for (let end = Math.min(2, word.length); end <= word.length; end++) add(hashOf(word, end - 2, end), 1);
      continue;
    }
    const form = keyword(word);
    const weight = form === undefined ? smallWeight : 1;
    add(hashOf(form ?? word), weight);
    // its parts of three letters, ends included, weigh as much as the word
    const part = weight / Math.sqrt(word.length);
    const whole = `^${word}$`;
    for (let end = 3; end <= whole.length; end++) add(~hashOf(whole, end - 3, end), part);
  }
  if (found.size === 0) for (const character of plain) add(hashOf(character), 1);
  return found;
}

/** For scripts that do not separate words: pairs of characters serve as words. */
const withoutSpaces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** FNV-1a, and a last mixing so that all bits depend on all characters. */
function hashOf(text: string, start = 0, end = text.length): number {
  let hash = 0x811c9dc5;
  for (let at = Math.max(0, start); at < end; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
