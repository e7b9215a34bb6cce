import { embedder } from '../embedders/resolve.js';
import { errors } from '../errors/errors.js';
import { model } from '../models/model-kind.js';
import { nearestName } from '../nearest-name.js';
import { fieldsOf } from '../objects.js';
import { checkOptions, ownerOf } from '../options/check-options.js';
import { check, isObject } from '../options/faults.js';
import type { Optional, Shape } from '../options/kind.js';
import {
  amount,
  callable,
  count,
  having,
  json,
  listOf,
  name,
  objectOf,
  recordOf,
  required,
  text,
  word,
} from '../options/kinds.js';
import { reranker } from '../rerankers/resolve.js';
import type { Chunker, ChunkerOptions } from './chunkers/chunker.js';
import { checkChunkerOptions, chunkers } from './chunkers/chunkers.js';
import { givenContent } from './given-content.js';
import type { KnowledgeSettings } from './knowledge-settings.js';
import type { Reader } from './readers/reader.js';
import type { ContentSource } from './sources/source.js';
import type { VectorStore } from './vector-store.js';

/** The most chunks that one search returns. */
export const mostResults = 1_000;

const reader = having<Omit<Reader, 'defaultChunker'>>(
  'a reader with id, name, description, types, chunkers and read',
  {
    id: required(name),
    name: required(text),
    description: required(text),
    types: required(listOf(text)),
    chunkers: required(listOf(text)),
    read: required(callable),
  },
);

const ownChunker = having<Chunker>('a chunker with key, name, description, defaults and chunk', {
  key: required(name),
  name: required(text),
  description: required(text),
  defaults: required(json),
  chunk: required(callable),
});

const chosenChunker = objectOf<ChunkerOptions & { readonly key: string }>({
  key: required(name),
  chunkSize: count(1),
  chunkOverlap: count(0),
});

const chunker: Optional = {
  allowed: "the key of a chunker such as 'SentenceChunker', { key, chunkSize, chunkOverlap }, or a chunker",
  takes: (value) => name.takes(value) || isObject(value) || ownChunker.takes(value),
  inside: (value, path, faults) => {
    // one of the application is known by its function: what else it lacks is said of a chunker
    if ('chunk' in fieldsOf(value)) check(ownChunker, value, path, faults);
    else if (typeof value !== 'string') check(chosenChunker, value, path, faults);
  },
};

const source = having<Pick<ContentSource, 'id' | 'list' | 'find'>>(
  'a content source, such as s3Source({ … })',
  { id: required(name), list: required(callable), find: required(callable) },
);

const vectorStore = having<Pick<VectorStore, 'id' | 'stage' | 'publish' | 'search'>>(
  'a vector store with stage, publish and search',
  { id: required(name), stage: required(callable), publish: required(callable), search: required(callable) },
);

const shape: Shape<KnowledgeSettings> = {
  name: required(name),
  description: text,
  database: name,
  embedder,
  search: word('vector', 'keyword', 'hybrid'),
  similarityThreshold: amount('a number from 0 to 1', (value) => value >= 0 && value <= 1),
  maxResults: count(1, mostResults),
  readers: listOf(reader),
  chunker,
  sources: listOf(source),
  contents: listOf(givenContent),
  reranker,
  model,
  vectorStore,
  claimFilters: recordOf(name),
};

const knowledgeOptions = objectOf<KnowledgeSettings>(shape);

/** What is said about a knowledge base, once it is found right. */
export function checkedKnowledgeSettings(given: KnowledgeSettings): KnowledgeSettings {
  const owner = ownerOf('Knowledge', given);
  checkOptions(owner, given, knowledgeOptions);
  const settings = knowledgeOptions.plain(given);
  checkChunkers(owner, settings);
  checkSourcesOfContents(owner, settings);
  refuseRepeated(owner, 'sources', settings.sources);
  refuseRepeated(owner, 'readers', settings.readers);
  return settings;
}

/** Refuses chunkers that do not exist, and sizes that they cannot have. */
function checkChunkers(owner: string, { chunker: given, readers = [] }: KnowledgeSettings): void {
  const isOwn = typeof given === 'object' && 'chunk' in given;
  const all = isOwn ? [given, ...chunkers] : chunkers;
  const known = (option: string, key: string) => {
    const found = all.find((one) => one.key === key);
    if (found !== undefined) return found;
    const keys = all.map((one) => one.key);
    const near = nearestName(key, keys);
    const advice = near === undefined ? `The chunkers are ${keys.join(', ')}.` : `Did you mean ${near}?`;
    throw errors.invalidConfig(`${owner}: ${option} is '${key}', which names no chunker. ${advice}`);
  };
  for (const { id, defaultChunker } of readers)
    if (defaultChunker !== undefined) known(`defaultChunker of the reader '${id}'`, defaultChunker);
  if (given === undefined || isOwn) return;
  const { key, ...sizes } = typeof given === 'string' ? { key: given } : given;
  const fault = checkChunkerOptions(known('chunker', key), sizes);
  if (fault !== undefined) throw errors.invalidConfig(`${owner}: chunker: ${inCode(fault)}.`);
}

/** Requests write the sizes in another way than code. */
function inCode(fault: string): string {
  return fault.replaceAll('chunk_size', 'chunkSize').replaceAll('chunk_overlap', 'chunkOverlap');
}

/** Refuses contents of sources that the knowledge base does not have. */
function checkSourcesOfContents(owner: string, { contents = [], sources = [] }: KnowledgeSettings): void {
  const ids = sources.map(({ id }) => id);
  for (const [position, { from }] of contents.entries())
    if ('source' in from && !ids.includes(from.source))
      throw errors.invalidConfig(
        `${owner}: contents[${position}].from.source is '${from.source}'. Its sources are: ${ids.join(', ') || 'none'}.`,
      );
}

function refuseRepeated(owner: string, option: string, values: readonly { readonly id: string }[] = []) {
  const ids = values.map(({ id }) => id);
  const repeated = ids.find((id, position) => ids.indexOf(id) !== position);
  if (repeated !== undefined)
    throw errors.invalidConfig(
      `${owner}: two of its ${option} have the id '${repeated}'. Give one another id.`,
    );
}
