import { embedder, resolveEmbedder } from '../embedders/resolve.js';
import { errors } from '../errors/errors.js';
import { model } from '../models/model-kind.js';
import { checkOptions, ownerOf } from '../options/check-options.js';
import type { Shape } from '../options/kind.js';
import {
  amount,
  anyOf,
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
import { reranker, resolveReranker } from '../rerankers/resolve.js';
import type { Chunker, ChunkerOptions } from './chunkers/chunker.js';
import type { KnowledgeSettings } from './knowledge-settings.js';
import type { GivenContent } from './knowledge-space.js';
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

const chunker = having<Chunker>('a chunker with key, name, description, defaults and chunk', {
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

const source = having<Pick<ContentSource, 'id' | 'list' | 'find'>>(
  'a content source, such as s3Source({ … })',
  { id: required(name), list: required(callable), find: required(callable) },
);

const content = having<Pick<GivenContent, 'name' | 'from'>>('a content such as { name, from: { text } }', {
  name: text,
  from: required(json),
});

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
  chunker: anyOf(name, chunker, chosenChunker),
  sources: listOf(source),
  contents: listOf(content),
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
  // the names of these are read here, so that a typo fails where it was made
  if (settings.embedder !== undefined) resolveEmbedder(settings.embedder);
  if (settings.reranker !== undefined) resolveReranker(settings.reranker);
  refuseRepeated(owner, 'sources', settings.sources);
  refuseRepeated(owner, 'readers', settings.readers);
  return settings;
}

function refuseRepeated(owner: string, option: string, values: readonly { readonly id: string }[] = []) {
  const ids = values.map(({ id }) => id);
  const repeated = ids.find((id, position) => ids.indexOf(id) !== position);
  if (repeated !== undefined)
    throw errors.invalidConfig(
      `${owner}: two of its ${option} have the id '${repeated}'. Give one another id.`,
    );
}
