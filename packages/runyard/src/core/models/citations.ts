import { isWhole } from '../options/faults.js';
/** A source that an answer cites, in one shape for all providers. */
export interface Citation {
  readonly url?: string;
  /** The title of the page or the document. */
  readonly title?: string;
  /** The words of the source that support the answer. */
  readonly citedText?: string;
  /** The provider's id of the file. */
  readonly fileId?: string;
  readonly filename?: string;
  /** Which of the documents in the request it is, from 0. */
  readonly documentIndex?: number;
  /** The part of the content that the source supports: UTF-16 units from 0, the end excluded. */
  readonly start?: number;
  readonly end?: number;
}

export interface Citations {
  readonly sources: readonly Citation[];
  /** What the provider searched for. */
  readonly searchQueries?: readonly string[];
}

export const citedNumbers: readonly (keyof Citation)[] = ['documentIndex', 'start', 'end'];
export const citedTexts: readonly (keyof Citation)[] = ['url', 'title', 'citedText', 'fileId', 'filename'];

/** A citation as a provider sends it: a field that holds something else is left out. */
export type CitedFields = { readonly [Name in keyof Citation]?: unknown };

/** Whether the value is a place, or the number of a document. */
export function isPlace(value: unknown): value is number {
  return isWhole(value) && value >= 0;
}

/** Collects the citations of an answer. A source that a provider repeats is kept once. */
export class CitationList {
  readonly #sources = new Map<string, Citation>();
  readonly #queries = new Set<string>();

  add(cited: CitedFields): void {
    const texts = citedTexts.filter((name) => typeof cited[name] === 'string' && cited[name] !== '');
    const numbers = citedNumbers.filter((name) => isPlace(cited[name]));
    const known = [...texts, ...numbers].map((name) => [name, cited[name]]);
    if (known.length > 0) this.#sources.set(JSON.stringify(known), Object.fromEntries(known));
  }

  addQuery(query: string): void {
    if (query !== '') this.#queries.add(query);
  }

  /** A part of a `ModelResponse`: nothing when there are no citations. */
  get part(): { citations?: Citations } {
    const sources = [...this.#sources.values()];
    const searchQueries = [...this.#queries];
    if (sources.length === 0 && searchQueries.length === 0) return {};
    return { citations: { sources, ...(searchQueries.length > 0 && { searchQueries }) } };
  }
}
