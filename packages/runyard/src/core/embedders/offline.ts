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

/** How much the parts of words count against whole words, and words without a meaning of their own against others. */
const partWeight = 0.7;
const smallWeight = 0.1;

/** Each feature of a text is added to, or subtracted from, the place that its hash says. */
function hashed(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const [feature, weight] of features(text)) {
    const hash = hashOf(feature);
    vector[(hash >>> 1) % dimensions]! += hash & 1 ? weight : -weight;
  }
  // two features of a short text may have taken each other's place
  if (!vector.some((value) => value !== 0)) vector[0] = 1;
  return vector;
}

function features(text: string): Map<string, number> {
  const found = new Map<string, number>();
  const add = (feature: string, weight: number) => found.set(feature, (found.get(feature) ?? 0) + weight);
  const plain = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
  for (const word of words(plain)) {
    if (withoutSpaces.test(word)) {
      for (const pair of runs(word, 2)) add(pair, 1);
      continue;
    }
    const form = keyword(word);
    const weight = form === undefined ? smallWeight : 1;
    add(form ?? word, weight);
    const parts = runs(`^${word}$`, 3);
    for (const part of parts) add(`~${part}`, (partWeight * weight) / Math.sqrt(parts.length));
  }
  if (found.size === 0) for (const character of plain) add(character, 1);
  // the tenth time says less than the first
  for (const [feature, weight] of found) found.set(feature, weight / Math.sqrt(Math.max(1, weight)));
  return found;
}

/** Scripts that do not part their words: pairs of characters stand for them. */
const withoutSpaces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

function runs(word: string, length: number): string[] {
  const last = Math.max(0, word.length - length);
  return Array.from({ length: last + 1 }, (_, start) => word.slice(start, start + length));
}

/** FNV-1a, and a last mixing so that all bits depend on all characters. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
