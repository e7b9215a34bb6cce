import type { Json } from '../../../core/json.js';

/** How deep JSON from outside may nest. Deeper data serves no one and endangers whatever walks it. */
const maxJsonDepth = 64;

/** How many values it may hold in all: each costs far more memory, and far more time, than its characters. */
const maxJsonValues = 100_000;

/** JSON text that could not be read: what is wrong, and at which character. */
export class JsonFault extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
    this.name = 'JsonFault';
  }
}

/** Parses JSON from outside, bounded in depth and in the number of values. Throws a `JsonFault`. */
export function parseUntrustedJson(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const offset = faultOffset(text);
    const reason = error instanceof Error ? error.message : String(error);
    throw new JsonFault(reason, offset);
  }
  const infinite = infiniteOffset(text);
  if (infinite !== undefined) throw new JsonFault('a number that is too large', infinite);
  // Each level takes two characters at least, so a short text need not be walked.
  if (text.length <= 2 * maxJsonDepth) return value;
  const left = valuesLeft(value, maxJsonDepth, maxJsonValues);
  if (left === tooDeep) throw new JsonFault(`nested deeper than ${maxJsonDepth} levels`, depthOffset(text));
  if (left < 0) throw new JsonFault(`more than ${maxJsonValues} values`, text.length);
  return value;
}

/** Has an exponent of three figures, or as many figures as no number has that can be held. A row is counted once. */
const mayBeInfinite = /\d[eE]\+?\d{3}|(?<!\d)\d{309}/;

/** Where a number stands that would be read as infinite, which is no JSON: it could be neither stored nor sent. */
function infiniteOffset(text: string): number | undefined {
  if (!mayBeInfinite.test(text)) return undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === '-' || (character >= '0' && character <= '9')) {
      number.lastIndex = at;
      number.test(text);
      if (!Number.isFinite(Number(text.slice(at, number.lastIndex)))) return at;
      at = number.lastIndex - 1;
    }
  }
  return undefined;
}

const number = /-?\d[\d.eE+-]*/y;

/** Behind the quote that ends a string of well-formed JSON. A loop: an expression cannot hold a string of any length. */
function endOfString(text: string, start: number): number {
  let end = start;
  let escapes: number;
  do {
    end = text.indexOf('"', end + 1);
    escapes = end - 1;
    while (text[escapes] === '\\') escapes--;
  } while ((end - escapes) % 2 === 0);
  return end + 1;
}

const tooDeep = Number.NEGATIVE_INFINITY;

/** How many values may still come after this one and all inside; below zero when it was too many. */
function valuesLeft(value: Json | undefined, levels: number, before: number): number {
  if (typeof value !== 'object' || value === null) return before - 1;
  if (levels === 0) return tooDeep;
  let left = before - 1;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = valuesLeft(item, levels - 1, left);
      if (left < 0) return left;
    }
    return left;
  }
  for (const key in value) {
    left = valuesLeft(value[key], levels - 1, left);
    if (left < 0) return left;
  }
  return left;
}

function depthOffset(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const mark = text.charAt(at);
    if (mark === '"') at = endOfString(text, at) - 1;
    else if (mark === '[' || mark === '{') depth++;
    else if (mark === ']' || mark === '}') depth--;
    if (depth > maxJsonDepth) return at;
  }
  return text.length;
}

/** From the blank on, all characters but the quote and the backslash; or an escape. */
const characters = /[ !#-[\]-\uffff]*/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const blank = /[ \t\n\r]*/y;

/**
 * Where malformed JSON stops making sense. The engine's own message names the place only sometimes, so the
 * text is read once more, by its grammar: what may come next, with the open brackets on a stack.
 */
function faultOffset(text: string): number {
  const open: string[] = [];
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const takeMark = (mark: string): boolean => {
    if (text[at] !== mark) return false;
    at++;
    return true;
  };
  const takeString = (): boolean => {
    const start = at;
    if (!takeMark('"')) return false;
    do take(characters);
    while (take(escaped));
    if (takeMark('"')) return true;
    at = start;
    return false;
  };
  let expect: 'value' | 'first value' | 'first key' | 'key' | 'colon' | 'end' = 'value';
  for (;;) {
    // too deep to be taken anyway: where else it is wrong is not worth the time
    if (open.length > maxJsonDepth) return at;
    take(blank);
    if (expect === 'end') {
      const bracket = open.at(-1);
      if (bracket === undefined) return at;
      if (takeMark(bracket === '[' ? ']' : '}')) open.pop();
      else if (takeMark(',')) expect = bracket === '[' ? 'value' : 'key';
      else return at;
    } else if (expect === 'colon') {
      if (!takeMark(':')) return at;
      expect = 'value';
    } else if (expect === 'key' || expect === 'first key') {
      if (takeString()) expect = 'colon';
      else if (expect === 'first key' && takeMark('}')) {
        open.pop();
        expect = 'end';
      } else return at;
    } else if (takeMark('[')) {
      open.push('[');
      expect = 'first value';
    } else if (takeMark('{')) {
      open.push('{');
      expect = 'first key';
    } else if (takeString() || take(scalar)) expect = 'end';
    else if (expect === 'first value' && takeMark(']')) {
      open.pop();
      expect = 'end';
    } else return at;
  }
}
