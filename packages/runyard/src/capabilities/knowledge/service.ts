import { errors, RunyardError } from '../../core/errors/errors.js';
import { reasonOf } from '../../core/errors/reason.js';
import type { Json, JsonObject } from '../../core/json.js';
import { shownDefaults } from '../../core/knowledge/chunkers/chunkers.js';
import { allOf, claimMetadata, metadataFilter } from '../../core/knowledge/claim-filters.js';
import { parseFilter } from '../../core/knowledge/filter-parse.js';
import { mostResults } from '../../core/knowledge/knowledge-options.js';
import type { FoundDocument, GivenFrom } from '../../core/knowledge/knowledge-space.js';
import { readersForType, readerWithId } from '../../core/knowledge/readers/choose-reader.js';
import type { ContentSource, ListRequest, SourceListing } from '../../core/knowledge/sources/source.js';
import type { EventReader } from '../../core/runs/events/event-reader.js';
import type { Caller } from '../../platform/auth/caller.js';
import { type ListPage, offsetOf } from '../../platform/http/request/pagination.js';
import type { Spaces } from '../capability.js';
import type { UploadedFrom } from './addition.js';
import { contentsTable } from './base-in-database.js';
import { type ContentScope, contentsWith, type StoredContent } from './contents/content.js';
import { knowledgeIdOf } from './contents/content-id.js';
import { withoutReserved } from './contents/metadata-values.js';
import {
  changedMetadataOf,
  metadataFilterOf,
  metadataOf,
  removedKeysOf,
  sourceParametersOf,
} from './given-fields.js';
import { embedderName } from './ingestion/cached-embedding.js';
import type { KnowledgeBase } from './knowledge-base.js';
import type {
  ChangeForm,
  KnowledgeAddress,
  ListQuery,
  RemoteForm,
  SearchBody,
  UploadForm,
} from './schema.js';
import type { UploadStore } from './uploads/upload-store.js';

/** A knowledge base that is registered, with the database that it is in. */
export interface RegisteredKnowledge {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly databaseId: string;
}

/** So many contents are removed before the next ones are looked for. */
const removedAtOnce = 100;

/** A search as its caller asked for it. */
export interface SearchOutcome {
  readonly documents: readonly FoundDocument[];
  readonly page: number;
  readonly limit: number;
}

/** The knowledge bases of the service, as callers use them. */
export class KnowledgeService {
  constructor(
    readonly registered: readonly RegisteredKnowledge[],
    private readonly spaces: Pick<Spaces, 'get'>,
  ) {}

  async list(caller: Caller, query: ListQuery): Promise<ListPage<StoredContent>> {
    const base = await this.addressed(query);
    const { status, type, search } = query;
    const filter = { status, type, search, metadata: metadataFilterOf(query.metadata) };
    const order = { by: query.sort_by, direction: query.sort_order };
    const range = { limit: query.limit, offset: offsetOf(query) };
    return base.parts.contents.lists.list(base.id, scopeOf(caller, base), filter, order, range);
  }

  async get(caller: Caller, address: KnowledgeAddress, contentId: string): Promise<StoredContent> {
    return (await this.found(caller, address, contentId)).content;
  }

  /** Undefined for a content that the caller does not see. */
  async status(
    caller: Caller,
    address: KnowledgeAddress,
    contentId: string,
  ): Promise<StoredContent | undefined> {
    const base = await this.addressed(address);
    return base.get(contentId, scopeOf(caller, base));
  }

  /** Where the files of a form are stored while they arrive. */
  async uploads(address: KnowledgeAddress): Promise<UploadStore> {
    return (await this.addressed(address)).parts.uploads;
  }

  async add(
    caller: Caller,
    address: KnowledgeAddress,
    from: GivenFrom | UploadedFrom,
    form: Omit<UploadForm, 'file' | 'text_content' | 'url'>,
  ): Promise<StoredContent> {
    const base = await this.addressed(address);
    return base.add({ from, ...describedBy(form) }, scopeOf(caller, base));
  }

  async addRemote(caller: Caller, address: KnowledgeAddress, form: RemoteForm): Promise<StoredContent> {
    const base = await this.addressed(address);
    const scope = scopeOf(caller, base);
    const source = sourcesFor(base, scope).find(({ id }) => id === form.config_id);
    if (source === undefined) throw errors.unknownSource(form.config_id);
    const parameters = sourceParametersOf(source, form.source_params);
    return base.add(
      { from: { source: source.id, path: form.path, parameters }, ...describedBy(form) },
      scope,
    );
  }

  async change(
    caller: Caller,
    address: KnowledgeAddress,
    contentId: string,
    form: ChangeForm,
  ): Promise<StoredContent> {
    const base = await this.addressed(address);
    const { name, description, reader_id: reader } = form;
    if (reader !== undefined && readerWithId(base.readers, reader) === undefined)
      throw errors.invalidReader(reader);
    const given = changedMetadataOf(form.metadata);
    const removed = removedKeysOf(form.remove_metadata);
    const scope = scopeOf(caller, base);
    const metadata = changesOf(given, removed, scope);
    const isSeen = (await base.get(contentId, scope)) !== undefined;
    const changed = isSeen ? await base.update(contentId, { name, description, metadata }) : undefined;
    if (changed === undefined) throw errors.contentNotFound(contentId);
    return changed;
  }

  async remove(caller: Caller, address: KnowledgeAddress, contentId: string): Promise<void> {
    const base = await this.addressed(address);
    if ((await base.get(contentId, scopeOf(caller, base))) !== undefined) await base.remove(contentId);
  }

  async removeAll(caller: Caller, address: KnowledgeAddress): Promise<void> {
    const base = await this.addressed(address);
    const scope = scopeOf(caller, base);
    for (;;) {
      const ids = await base.parts.contents.lists.someIds(base.id, scope, removedAtOnce);
      for (const id of ids) await base.remove(id);
      if (ids.length < removedAtOnce) return;
    }
  }

  /** The events of the job that indexes, or indexed, a content. */
  async events(
    caller: Caller,
    address: KnowledgeAddress,
    contentId: string,
    after: number,
  ): Promise<EventReader | undefined> {
    const { base, content } = await this.found(caller, address, contentId);
    const { jobs, job } = base.parts;
    const state = await jobs.find(job, content.jobId);
    return state === undefined ? undefined : jobs.events(content.jobId, Math.max(after + 1, 0));
  }

  async search(caller: Caller, body: SearchBody, signal: AbortSignal): Promise<SearchOutcome> {
    const { db_id: databaseId, knowledge_id: knowledgeId, vector_db_ids: storeIds } = body;
    const base = await this.addressed({
      ...(databaseId && { db_id: databaseId }),
      ...(knowledgeId && { knowledge_id: knowledgeId }),
    });
    const { id: storeId } = base.vectorStore;
    if (storeIds && storeIds.length > 0 && !storeIds.includes(storeId))
      throw errors.vectorStoreUnknown(storeIds, storeId);
    const given = body.filters ? parseFilter(body.filters, ['body', 'filters']) : undefined;
    const { page, limit } = body.meta ?? { page: 1, limit: 20 };
    const scope = scopeOf(caller, base);
    if (scope.kind === 'none') return { documents: [], page, limit };
    const bound = scope.kind === 'bound' ? metadataFilter(scope.values) : undefined;
    const { maxResults = 10 } = base.settings;
    // a page that was asked for is fetched, up to what a search returns at the most
    const needed = body.meta ? Math.min(page * limit, mostResults) : 0;
    const documents = await base.search(body.query, {
      ...(body.search_type && { type: body.search_type }),
      limit: body.max_results ?? Math.max(maxResults, needed),
      filter: allOf([bound, given]),
      signal,
    });
    return { documents, page, limit };
  }

  async config(caller: Caller, address: KnowledgeAddress) {
    const base = await this.addressed(address);
    const scope = scopeOf(caller, base);
    const sources = sourcesFor(base, scope);
    const { id, name, description, searchTypes } = base.vectorStore;
    return {
      readers: Object.fromEntries(base.readers.map((reader) => [reader.id, readerBody(reader)])),
      readersForType: readersForType(base.readers),
      chunkers: Object.fromEntries(base.chunkers.map((chunker) => [chunker.key, chunkerBody(chunker)])),
      filters: await base.parts.contents.lists.keys(base.id, scope),
      vector_dbs: [{ id, name, description, search_types: [...searchTypes] }],
      sources,
      embedder: { name: embedderName(base.embedder), changed: await base.otherEmbedders() },
    };
  }

  async sources(caller: Caller, knowledgeId: string): Promise<readonly ContentSource[]> {
    const base = await this.addressed({ knowledge_id: knowledgeId });
    return sourcesFor(base, scopeOf(caller, base));
  }

  async sourceFiles(
    caller: Caller,
    knowledgeId: string,
    sourceId: string,
    request: ListRequest,
  ): Promise<{ readonly source: ContentSource; readonly listing: SourceListing }> {
    const source = (await this.sources(caller, knowledgeId)).find(({ id }) => id === sourceId);
    if (source === undefined) throw errors.sourceNotFound(sourceId);
    try {
      return { source, listing: await source.list(request) };
    } catch (error) {
      request.signal.throwIfAborted();
      throw error instanceof RunyardError ? error : errors.sourceFailed('list files', reasonOf(error));
    }
  }

  private async found(caller: Caller, address: KnowledgeAddress, contentId: string) {
    const base = await this.addressed(address);
    const content = await base.get(contentId, scopeOf(caller, base));
    if (content === undefined) throw errors.contentNotFound(contentId);
    return { base, content };
  }

  /** The knowledge base that a request means. */
  private async addressed(address: KnowledgeAddress): Promise<KnowledgeBase> {
    const { id, databaseId } = this.place(address);
    const base = (await this.spaces.get(databaseId)).knowledge.base(id);
    if (base === undefined) throw errors.knowledgeNotFound(id);
    return base;
  }

  private place({ db_id: databaseId, knowledge_id: id }: KnowledgeAddress): RegisteredKnowledge {
    const { registered } = this;
    if (id !== undefined) {
      const named = registered.find((one) => one.id === id);
      if (named === undefined) throw errors.knowledgeNotFound(id);
      return named;
    }
    const candidates =
      databaseId === undefined ? registered : registered.filter((one) => one.databaseId === databaseId);
    const [only, ...others] = candidates;
    const ids = candidates.map((one) => one.id);
    if (databaseId === undefined) {
      if (only === undefined || others.length > 0) throw errors.knowledgeRequired(ids);
      return only;
    }
    if (only === undefined) throw errors.knowledgeDatabaseNotFound(databaseId);
    if (others.length > 0) throw errors.severalKnowledgeBases(databaseId, ids);
    return only;
  }
}

/** Where knowledge bases are, by what they are registered with. */
export function registeredKnowledge(
  knowledge: readonly {
    readonly name: string;
    readonly settings: { description?: string; database?: string };
  }[],
  defaultDatabase: string,
): RegisteredKnowledge[] {
  return knowledge.map(({ name, settings }) => {
    const { description, database: databaseId = defaultDatabase } = settings;
    return { id: knowledgeIdOf(databaseId, contentsTable, name), name, description, databaseId };
  });
}

/** Which contents a caller sees. One who is isolated is bound to the claims that the operator names. */
function scopeOf({ scope, claims }: Caller, { settings }: KnowledgeBase): ContentScope {
  const bound = claimMetadata(settings, scope.kind === 'all' ? undefined : (claims ?? {}));
  return bound === null ? { kind: 'none' } : contentsWith(bound);
}

/** Files of a source belong to no tenant: a caller who is bound to one does not see them. */
function sourcesFor({ settings }: KnowledgeBase, scope: ContentScope): readonly ContentSource[] {
  return scope.kind === 'all' ? (settings.sources ?? []) : [];
}

function describedBy(form: Omit<UploadForm, 'file' | 'text_content' | 'url'>) {
  return {
    name: form.name,
    description: form.description,
    metadata: metadataOf(form.metadata),
    reader: form.reader_id,
    chunker: form.chunker,
    chunkSize: form.chunk_size,
    chunkOverlap: form.chunk_overlap,
  };
}

/** What of the metadata changes: never what is Runyard's to say, or what a claim decides. */
function changesOf(
  given: JsonObject = {},
  removed: readonly string[],
  scope: ContentScope,
): Record<string, Json | undefined> {
  const removals = Object.fromEntries(removed.map((key): [string, undefined] => [key, undefined]));
  const changes = withoutReserved<Json | undefined>({ ...given, ...removals });
  if (scope.kind === 'bound') for (const key of Object.keys(scope.values)) delete changes[key];
  return changes;
}

function readerBody({ id, name, description, chunkers }: KnowledgeBase['readers'][number]) {
  return { id, name, description, chunkers: [...chunkers] };
}

function chunkerBody(chunker: KnowledgeBase['chunkers'][number]) {
  const { key, name, description } = chunker;
  return { key, name, description, metadata: shownDefaults(chunker) };
}
