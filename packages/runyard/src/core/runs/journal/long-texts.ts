import type { Json } from '../../json.js';
import { fieldsOf } from '../../objects.js';

/** From here on a text is stored once, in parts of its own, and everything that holds it refers to it. */
export const longTextLength = 65_536;
/** How much of a long text is handled at once. */
const partLength = 65_536;

/** Where the long texts of packed JSON are read. */
export interface TextSource {
  /** The JSON of a text without its quotes, in parts that follow each other. */
  parts(id: string): Iterable<string> | AsyncIterable<string>;
}

/** A long text that is to be stored. */
export interface NewText {
  readonly id: string;
  readonly text: string;
  /** False for one that only events refer to: it is removed with them. */
  readonly kept: boolean;
}

/*
 * Packed JSON is JSON with a reference in place of each long text. A space before it distinguishes it from JSON that holds
 * its texts itself: `JSON.stringify` never begins with one. A reference is a string that begins with the mark; a
 * string that begins with it anyway has it twice.
 */
const mark = '\u0001';
export const packedSign = ' ';
const reference = /(?<!\\)"\\u0001(?:(\d+-\d+)"(?!:)|\\u0001(?=(?:[^"\\]|\\.)*"(?!:)))/g;

export function isPacked(json: string): boolean {
  return json.startsWith(packedSign);
}

/** JSON in which each long text is replaced by the id that `idOf` gives it. */
export function packed(value: unknown, idOf: (text: string) => string): string {
  const withReferences = (_key: string, member: unknown): unknown => {
    if (typeof member !== 'string') return member;
    if (member.length >= longTextLength) return mark + idOf(member);
    return member.startsWith(mark) ? mark + member : member;
  };
  return packedSign + JSON.stringify(value, withReferences);
}

/** The value that was packed. */
export function unpacked(json: string, textOf: (id: string) => string): Json {
  return JSON.parse(json, (_key, member: Json) => {
    if (typeof member !== 'string' || !member.startsWith(mark)) return member;
    return member[1] === mark ? member.slice(1) : textOf(member.slice(1));
  });
}

/** The JSON that was packed, in pieces of bounded length as long as what stands between its long texts is short. */
export async function* unpackedPieces(json: string, source: TextSource): AsyncGenerator<string> {
  let from = packedSign.length;
  for (const match of json.matchAll(reference)) {
    const [whole, id] = match;
    yield `${json.slice(from, match.index)}"`;
    if (id === undefined) yield '\\u0001';
    else {
      yield* source.parts(id);
      yield '"';
    }
    from = match.index + whole.length;
  }
  yield json.slice(from);
}

/** The ids of the long texts that packed JSON refers to. */
export function referencedTexts(json: string): string[] {
  return Array.from(json.matchAll(reference), ([, id]) => id ?? []).flat();
}

/** The JSON of a text without its quotes, made part by part. */
export function* partsOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const to = endOfPart(text, from + partLength);
    yield escapeLineSeparators(JSON.stringify(text.slice(from, to)).slice(1, -1));
    from = to;
  }
}

/** The text whose parts these are. */
export function joinedParts(parts: readonly string[]): string {
  return JSON.parse(`"${parts.join('')}"`);
}

/** U+2028 and U+2029 count as line ends to some clients. */
export function escapeLineSeparators(json: string): string {
  // almost no text has one, and a regular expression takes ten times longer to find that out
  if (!json.includes('\u2028') && !json.includes('\u2029')) return json;
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** A pair of surrogates is one character: it is not divided. */
function endOfPart(text: string, wanted: number): number {
  if (wanted >= text.length) return text.length;
  const last = text.charCodeAt(wanted - 1);
  return last >= 0xd800 && last <= 0xdbff ? wanted - 1 : wanted;
}

/** What a value that is no text counts for. */
const plainWeight = 8;

/** No JSON text can be as long as that. */
const tooHeavy = 2 ** 29;
/** Stands on the stack above a value whose members have been looked at. */
const leave = Symbol('leave');

/** Values that are nested deeper are weighed in another way, which finds those that are inside themselves. */
const mostDepth = 64;

/**
 * About how many bytes a value takes, a character counted as one; each long text in it is handed to `found`, perhaps more
 * than once. Throws for what application code may hand over and JSON cannot hold: a value that is inside itself, or a BigInt.
 */
export function weigh(value: unknown, found?: (text: string) => void): number {
  const weight = weighFlat(value, 0, found);
  return Number.isNaN(weight) ? weighDeep(value, found) : weight;
}

/** By calls within calls, which costs much less than a stack of its own; NaN for a value that is nested too deep. */
function weighFlat(value: unknown, depth: number, found: ((text: string) => void) | undefined): number {
  if (typeof value === 'string') {
    if (value.length >= longTextLength) found?.(value);
    return value.length;
  }
  if (typeof value === 'bigint') throw notJson('a BigInt');
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === mostDepth) return Number.NaN;
  let weight = 0;
  if (Array.isArray(value)) {
    for (const member of value) {
      weight += plainWeight + weighFlat(member, depth + 1, found);
      if (!(weight <= tooHeavy)) return tooHeavyOr(weight);
    }
    return weight;
  }
  for (const key in value) {
    weight += plainWeight + weighFlat(fieldsOf(value)[key], depth + 1, found);
    if (!(weight <= tooHeavy)) return tooHeavyOr(weight);
  }
  return weight;
}

function tooHeavyOr(weight: number): number {
  if (Number.isNaN(weight)) return weight;
  throw new RangeError('It is too large to be written as JSON.');
}

function notJson(what: string): TypeError {
  return new TypeError(`It contains ${what}, which is not valid JSON.`);
}

function weighDeep(value: unknown, found?: (text: string) => void): number {
  let weight = 0;
  // a stack of its own: a value may be nested deeper than calls can be
  const open: unknown[] = [value];
  const around = new Set<unknown>();
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one === 'string') {
      weight += one.length;
      if (one.length >= longTextLength) found?.(one);
    } else if (one === leave) around.delete(open.pop());
    else if (typeof one === 'object' && one !== null) {
      if (around.has(one)) throw notJson('a circular reference');
      around.add(one);
      open.push(one, leave);
      weight += openMembers(one, open);
      if (weight > tooHeavy) tooHeavyOr(weight);
    } else if (typeof one === 'bigint') throw notJson('a BigInt');
  }
  return weight;
}

/** Puts the members of a value on the stack, and answers with what they count for besides their texts. */
function openMembers(value: object, open: unknown[]): number {
  if (Array.isArray(value)) {
    for (const member of value) open.push(member);
    return plainWeight * value.length;
  }
  let weight = 0;
  for (const key in value) {
    weight += plainWeight;
    open.push(fieldsOf(value)[key]);
  }
  return weight;
}

export function holdsLongText(value: unknown): boolean {
  // a text is at most as long as what it is in weighs
  if (weigh(value) < longTextLength) return false;
  let found = false;
  weigh(value, () => {
    found = true;
  });
  return found;
}

interface KnownTexts {
  readonly ids: Map<string, string>;
  readonly texts: Map<string, string>;
  readonly kept: Set<string>;
  readonly unstored: string[];
}

/** Gives each long text an id. */
export interface TextIds {
  idOf(text: string): string;
}

/** The long texts of one execution of a run: each has an id, under which it is stored once. */
export class LongTexts implements TextSource, TextIds {
  /** Made when there is a text: most runs have none. */
  private known: KnownTexts | null = null;
  private count = 0;

  /** Two executions of a run give out different ids. */
  constructor(private readonly attempt: number) {}

  get size(): number {
    return this.known?.ids.size ?? 0;
  }

  /** The text is a part of the journal: it is remembered for whatever refers to it later. */
  keep(text: string): void {
    this.all.kept.add(this.idOf(text));
  }

  idOf(text: string): string {
    const { ids, texts, unstored } = this.all;
    let id = ids.get(text);
    if (id === undefined) {
      id = `${this.attempt}-${this.count++}`;
      ids.set(text, id);
      texts.set(id, text);
      unstored.push(id);
    }
    return id;
  }

  parts(id: string): Iterable<string> {
    return partsOf(this.known?.texts.get(id) ?? '');
  }

  /** What has to be stored before anything refers to it. What only events refer to is forgotten then. */
  takeNew(): NewText[] {
    if (this.known === null) return [];
    const { ids, texts, kept: keptIds, unstored } = this.known;
    const taken = unstored.splice(0).map((id) => ({ id, text: texts.get(id) ?? '', kept: keptIds.has(id) }));
    for (const { id, text, kept } of taken) {
      if (kept) continue;
      ids.delete(text);
      texts.delete(id);
    }
    return taken;
  }

  private get all(): KnownTexts {
    this.known ??= { ids: new Map(), texts: new Map(), kept: new Set(), unstored: [] };
    return this.known;
  }
}
