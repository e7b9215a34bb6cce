import { errors, RunyardError } from '../errors/errors.js';
import { reasonOf } from '../errors/reason.js';
import { checkOptions, checkValue } from '../options/check-options.js';
import { anyOf, count, json, listOf, objectOf, required, signal, text, word } from '../options/kinds.js';
import { parseFilterOfCode } from './filter-parse.js';
import { mostResults } from './knowledge-options.js';
import type { KnowledgeSearch, ReadSearch } from './knowledge-space.js';

const searchOptions = objectOf<KnowledgeSearch>({
  type: word('vector', 'keyword', 'hybrid'),
  limit: count(1, mostResults),
  filter: anyOf(json, listOf(json)),
  signal,
});

/** A search that code asks for, once it is found right: with a filter that cannot be read, more would be found. */
export function checkedSearch(query: string, search: KnowledgeSearch): ReadSearch {
  checkValue('search()', 'the query', query, required(text));
  checkOptions('search()', search, searchOptions);
  const { filter, ...others } = search;
  return filter === undefined ? others : { ...others, filter: readFilter(filter) };
}

function readFilter(filter: NonNullable<KnowledgeSearch['filter']>) {
  try {
    return parseFilterOfCode(filter, ['filter']);
  } catch (error) {
    throw errors.invalidConfig(`search(): ${filterFault(error)}`);
  }
}

/** What is wrong with a filter, with its place: `knowledgeFilters.op is no operator`. */
export function filterFault(error: unknown): string {
  const [fault] = error instanceof RunyardError ? (error.options.items ?? []) : [];
  return fault === undefined ? reasonOf(error) : `${fault.loc.join('.')} ${fault.msg}`;
}
