import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { type Citation, CitationList, type Citations } from '../citations.js';
import { type AnswerPiece, textGap } from '../provider/answer/answer-pieces.js';

type Range = Required<Pick<Citation, 'start' | 'end'>>;

/** What Google says about the sources of an answer. It is kept as it comes and read once, at the end. */
export class Grounding {
  readonly #grounding: JsonObject[] = [];
  readonly #recited: JsonObject[] = [];
  readonly #fetched: JsonObject[] = [];

  accept({ groundingMetadata, citationMetadata, urlContextMetadata }: JsonObject): void {
    if (groundingMetadata !== undefined) keep(this.#grounding, groundingMetadata);
    if (citationMetadata !== undefined) keep(this.#recited, citationMetadata);
    if (urlContextMetadata !== undefined) keep(this.#fetched, urlContextMetadata);
  }

  /** A part of a `ModelResponse`. */
  part(pieces: readonly AnswerPiece[]): { citations?: Citations } {
    const all = [this.#grounding, this.#recited, this.#fetched];
    if (all.every((metadata) => metadata.length === 0)) return {};
    const positions = new BytePositions(pieces);
    const list = new CitationList();
    this.#addGrounding(list, positions);
    for (const source of entries(this.#recited, 'citationSources', 'citations')) {
      const { uri, title } = source;
      list.add({ url: uri, title, ...positions.range(source) });
    }
    for (const { retrievedUrl, urlRetrievalStatus } of entries(this.#fetched, 'urlMetadata')) {
      if (/_SUCCESS$/.test(String(urlRetrievalStatus))) list.add({ url: retrievedUrl });
    }
    return list.part;
  }

  #addGrounding(list: CitationList, positions: BytePositions): void {
    const ranges = new Map<string, Range[]>();
    const sources = entries(this.#grounding, 'groundingChunks').map((chunk) => {
      const key = JSON.stringify(sourceOf(chunk));
      if (key !== '{}') ranges.set(key, []);
      return key;
    });
    // In a stream the indices count the chunks of all its events.
    for (const { segment, groundingChunkIndices } of entries(this.#grounding, 'groundingSupports')) {
      const range = isJsonObject(segment) ? positions.range(segment) : undefined;
      if (range === undefined || !Array.isArray(groundingChunkIndices)) continue;
      for (const index of groundingChunkIndices) ranges.get(sources[Number(index)] ?? '')?.push(range);
    }
    for (const [key, supported] of ranges) {
      const { citedText, ...source }: Citation = JSON.parse(key);
      const [first, ...more] = supported;
      list.add({ ...source, ...(citedText !== undefined && { citedText }), ...first });
      // The words of a source can be long: they stand with its first range only.
      for (const range of more) list.add({ ...source, ...range });
    }
    for (const metadata of this.#grounding) {
      for (const queries of [
        metadata.webSearchQueries,
        metadata.retrievalQueries,
        metadata.imageSearchQueries,
      ]) {
        for (const query of Array.isArray(queries) ? queries : []) list.addQuery(String(query));
      }
    }
  }
}

/** Events repeat what earlier ones said and add to it, or say only what is new. */
function keep(all: JsonObject[], next: Json): void {
  if (!isJsonObject(next)) return;
  const last = all.at(-1);
  if (last !== undefined && extend(last, next)) all[all.length - 1] = next;
  else all.push(next);
}

/** Whether each list of the first is the beginning of that list in the second, by the look of its two ends. */
function extend(first: JsonObject, second: JsonObject): boolean {
  return Object.entries(first).every(([name, list]) => {
    const longer = second[name];
    if (!Array.isArray(list) || list.length === 0) return true;
    return (
      Array.isArray(longer) &&
      [0, list.length - 1].every((at) => JSON.stringify(list[at]) === JSON.stringify(longer[at]))
    );
  });
}

function entries(all: readonly JsonObject[], ...names: readonly string[]): JsonObject[] {
  return all.flatMap((metadata) =>
    names.flatMap((name) => {
      const list = metadata[name];
      return Array.isArray(list) ? list.map((entry) => (isJsonObject(entry) ? entry : {})) : [];
    }),
  );
}

function sourceOf({ web, retrievedContext, maps, image }: JsonObject): Citation {
  const source = [web, retrievedContext, maps, image].find(isJsonObject) ?? {};
  const { uri, sourceUri, title, text, ragChunk, documentName } = source;
  const words = isJsonObject(ragChunk) ? ragChunk.text : undefined;
  const fields = { url: uri ?? sourceUri, title, citedText: text ?? words, fileId: documentName };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'string'));
}

/** Google counts the bytes of the text; the content is counted in UTF-16 units, with the gaps in it. */
class BytePositions {
  readonly #bytes: Buffer;
  /** For each byte, where its character begins. */
  readonly #starts: Uint32Array;
  /** For each byte, where the character before it ends. */
  readonly #ends: Uint32Array;
  /** The byte at which each piece begins. */
  readonly #pieces: number[] = [];

  constructor(pieces: readonly AnswerPiece[]) {
    this.#bytes = Buffer.from(pieces.map((piece) => (piece.type === 'text' ? piece.text : '')).join(''));
    this.#starts = new Uint32Array(this.#bytes.length + 1);
    this.#ends = new Uint32Array(this.#bytes.length + 1);
    let byte = 0;
    let unit = 0;
    for (const piece of pieces) {
      this.#pieces.push(byte);
      if (piece.type !== 'text') continue;
      if (piece.gap) unit += textGap.length;
      for (const character of piece.text) {
        const size = utf8Size(character.codePointAt(0) ?? 0);
        this.#starts.fill(unit, byte, byte + size);
        unit += character.length;
        this.#ends.fill(unit, byte + 1, byte + size + 1);
        byte += size;
      }
    }
  }

  /** Where a segment is in the content; undefined if its text is not there. */
  range({ partIndex, startIndex = 0, endIndex, text }: JsonObject): Range | undefined {
    const words = typeof text === 'string' ? Buffer.from(text) : undefined;
    // The positions count from the part, or in a stream from the beginning of the text.
    for (const base of [this.#pieces[Number(partIndex)] ?? 0, 0]) {
      const [from, to] = [base + Number(startIndex), base + Number(endIndex)];
      const isThere = from >= 0 && from < to && to <= this.#bytes.length;
      if (isThere && (words?.equals(this.#bytes.subarray(from, to)) ?? true)) {
        return { start: this.#starts[from] ?? 0, end: this.#ends[to] ?? 0 };
      }
    }
    return undefined;
  }
}

function utf8Size(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
