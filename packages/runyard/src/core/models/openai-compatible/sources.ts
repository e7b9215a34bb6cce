import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { CitationList, type Citations, type CitedFields } from '../citations.js';
import { unitsIn } from '../provider/answer/unit-positions.js';

/** What an answer cites, in the forms that servers have for it. It is kept as it comes and read once, at the end. */
export class Sources {
  /** Addresses and search results: some servers repeat them with every chunk, and the last list of a name counts. */
  readonly #lists = new Map<string, readonly Json[]>();
  readonly #annotations: Json[] = [];
  readonly #documents = new Set<number>();

  list(name: string, sources: Json | undefined): void {
    if (Array.isArray(sources)) this.#lists.set(name, sources);
  }

  annotate(annotation: Json): void {
    this.#annotations.push(annotation);
  }

  /** A part of Mistral's content: the documents that the text before it is taken from. */
  refer({ reference_ids: ids }: JsonObject): void {
    for (const id of Array.isArray(ids) ? ids : []) this.#documents.add(Number(id));
  }

  /** A part of a `ModelResponse`. */
  part(content: string): { citations?: Citations } {
    const citations = new CitationList();
    const listed = [...this.#lists.values()].flat();
    const described = listed.filter(isJsonObject);
    for (const source of described) citations.add(citationOf(source));
    const urls = new Set(described.map(({ url }) => url));
    for (const url of listed) if (typeof url === 'string' && !urls.has(url)) citations.add({ url });
    for (const index of this.#documents) if (index >= 0) citations.add({ documentIndex: index });
    if (this.#annotations.length === 0) return citations.part;
    const unitAt = unitsIn(content);
    for (const annotation of this.#annotations) {
      const source = isJsonObject(annotation) ? annotation.url_citation : undefined;
      if (isJsonObject(source)) citations.add({ ...citationOf(source), ...rangeOf(source, unitAt) });
    }
    return citations.part;
  }
}

function citationOf({ url, title, snippet, content, filepath }: JsonObject): CitedFields {
  return { url, title, citedText: snippet ?? content, filename: filepath };
}

/** OpenRouter says 0 and 0 where the place is not known. */
function rangeOf({ start_index: from, end_index: to }: JsonObject, unitAt: (position: number) => number) {
  if (typeof from !== 'number' || typeof to !== 'number' || from >= to) return {};
  return { start: unitAt(from), end: unitAt(to) };
}
