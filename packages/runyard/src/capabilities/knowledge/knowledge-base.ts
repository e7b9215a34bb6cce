import { idFrom, newId } from '../../core/ids.js';
import type { Json, JsonObject } from '../../core/json.js';
import type {
  FoundDocument,
  KnowledgeContent,
  KnowledgeSpace,
  ReadSearch,
} from '../../core/knowledge/knowledge-space.js';
import { type Addition, additionOf, invalidField } from './addition.js';
import { BaseInDatabase } from './base-in-database.js';
import {
  type ContentScope,
  contentsWith,
  type EmbeddedWith,
  everyContent,
  type StoredContent,
} from './contents/content.js';
import { metadataFault } from './contents/metadata-values.js';
import { embedderName } from './ingestion/cached-embedding.js';
import { finishRemoval, removeContent } from './removal.js';
import { searchKnowledge } from './search.js';

/** So many contents are in the hands of jobs at a time when everything is embedded anew. */
const reembeddedAtOnce = 100;

/** One knowledge base in its database. */
export class KnowledgeBase extends BaseInDatabase implements KnowledgeSpace {
  search(text: string, search: ReadSearch): Promise<readonly FoundDocument[]> {
    return searchKnowledge(this, text, search);
  }

  filterKeys(within: JsonObject = {}): Promise<readonly string[]> {
    return this.parts.contents.lists.keys(this.id, contentsWith(within));
  }

  async addOnce(key: string, given: Addition): Promise<void> {
    const { jobs, job } = this.parts;
    const jobId = idFrom(`${this.id}:${key}`);
    if ((await jobs.find(job, jobId)) !== undefined) return;
    // the job is what is found the next time: also where nothing is left for it to do
    await this.startJob({ ...(await this.add(given, everyContent, jobId)), jobId });
  }

  /** `jobId`: of the job that indexes it. */
  async add(given: Addition, scope: ContentScope = everyContent, jobId = newId()): Promise<StoredContent> {
    const { contents, uploads } = this.parts;
    const { content, isUnchanged } = await additionOf(this, given, scope, jobId).catch(
      async (error: unknown) => {
        // nothing refers to the bytes: the content is stored below
        if ('upload' in given.from) await uploads.remove(given.from.upload);
        throw error;
      },
    );
    if (isUnchanged) {
      // a database that failed after it stored the content may have no job for it
      if (content.status === 'processing' && content.parentId === null) await this.startJob(content);
      return content;
    }
    const replaced = await contents.findAny(this.id, content.id);
    // its removal is not to reach what is added now
    if (replaced !== undefined && replaced.deletedAt !== null) await finishRemoval(this, replaced);
    // an earlier job for this content publishes nothing any longer: the row names another one from here on
    await contents.put(content);
    if (replaced?.status === 'processing' && replaced.parentId === null) {
      await this.cancel(replaced.jobId, 'The content was added anew');
      const { from } = replaced.request;
      if (from.kind === 'upload') await uploads.remove(from);
    }
    await this.startJob(content);
    return content;
  }

  async processed(contentId: string, signal?: AbortSignal): Promise<KnowledgeContent | undefined> {
    for (;;) {
      const content = await this.get(contentId);
      if (content?.status !== 'processing') return content;
      const { jobs, job } = this.parts;
      const state = await jobs.ended(job, content.jobId, signal);
      const now = await this.get(contentId);
      if (now?.status !== 'processing' || now.jobId !== content.jobId) continue;
      // the job ended without a word about this content: its process was stopped too often
      const message = state.error?.message ?? 'The content was not indexed';
      await this.settled(now, { status: 'failed', message });
    }
  }

  remove(contentId: string): Promise<void> {
    return removeContent(this, contentId);
  }

  /** Changes what is said about a content. Chunks show the metadata to filters at once. */
  async update(
    contentId: string,
    changed: {
      readonly name?: string | undefined;
      readonly description?: string | undefined;
      /** `undefined` values remove keys. */
      readonly metadata: Readonly<Record<string, Json | undefined>>;
    },
  ): Promise<StoredContent | undefined> {
    const { metadata: changes } = changed;
    const content = await this.parts.contents.update(this.id, contentId, (stored) => {
      const { name = stored.name, description = stored.description } = changed;
      const metadata = merged(stored.metadata, changes);
      const fault = metadata === null ? undefined : metadataFault(metadata);
      if (fault !== undefined) throw invalidField('metadata', fault);
      return { name, description, metadata };
    });
    if (content !== undefined && Object.keys(changes).length > 0) {
      await this.vectorStore.updateMetadata(this.id, contentId, changes);
      await this.showChangedMetadata(content);
    }
    return content;
  }

  /** What contents were embedded with that the embedder of now did not do: their vectors cannot be compared. */
  async otherEmbedders(): Promise<readonly (EmbeddedWith & { readonly contents: number })[]> {
    const { dimensions } = this.embedder;
    const stored = await this.parts.contents.embedders(this.id);
    return stored.filter(
      (one) =>
        one.embedder !== embedderName(this.embedder) ||
        (dimensions !== undefined && one.dimensions !== dimensions),
    );
  }

  /** Embeds everything anew that another embedder has embedded, a page of contents at a time. */
  async *reembedAll(): AsyncGenerator<KnowledgeContent> {
    const { dimensions = null } = this.embedder;
    const name = embedderName(this.embedder);
    for (let after = ''; ; ) {
      const { contents } = this.parts;
      const found = await contents.embeddedOtherwise(this.id, name, dimensions, after, reembeddedAtOnce);
      const begun: string[] = [];
      for (const content of found) if (await this.reembed(content)) begun.push(content.id);
      const ended: KnowledgeContent[] = [];
      for (const contentId of begun) {
        const content = await this.processed(contentId);
        if (content !== undefined) ended.push(content);
      }
      const left = await contents.embeddedOtherwise(this.id, name, dimensions, after, reembeddedAtOnce);
      const leftIds = new Set(left.map(({ id }) => id));
      for (const content of ended)
        yield content.status === 'completed' && leftIds.has(content.id) ? otherwise(content) : content;
      const last = found.at(-1);
      if (last === undefined || found.length < reembeddedAtOnce) return;
      after = last.id;
    }
  }

  /** Embeds the chunks of a content anew. False: something else happens to it already. */
  async reembed(content: StoredContent): Promise<boolean> {
    const jobId = newId();
    if (!(await this.parts.contents.reassign(content, jobId))) return false;
    await this.startJob({ ...content, jobId }, true);
    return true;
  }
}

/** A process with older code took the job, and embedded it as that code says. */
function otherwise(content: KnowledgeContent): KnowledgeContent {
  const statusMessage = 'Another process embedded it with another embedder: stop those with older code';
  return { ...content, status: 'failed', statusMessage };
}

function merged(
  metadata: JsonObject | null,
  changes: Readonly<Record<string, Json | undefined>>,
): JsonObject | null {
  const entries = Object.entries({ ...metadata, ...changes });
  const kept = entries.filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return kept.length === 0 && metadata === null ? null : Object.fromEntries(kept);
}
