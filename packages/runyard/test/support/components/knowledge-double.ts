import type { JsonObject } from '../../../src/core/json.js';
import { metadataFilter } from '../../../src/core/knowledge/claim-filters.js';
import { matches } from '../../../src/core/knowledge/filter-matches.js';
import { Knowledge } from '../../../src/core/knowledge/knowledge.js';
import type { KnowledgeSettings } from '../../../src/core/knowledge/knowledge-settings.js';
import type {
  GivenContent,
  KnowledgeContent,
  KnowledgeSpace,
  ReadSearch,
} from '../../../src/core/knowledge/knowledge-space.js';

export interface Page {
  readonly name: string;
  readonly content: string;
  readonly metadata?: JsonObject;
}

export interface KnowledgeDouble {
  readonly knowledge: Knowledge;
  readonly searches: { readonly text: string; readonly search: ReadSearch }[];
  readonly added: GivenContent[];
  /** What the next searches fail with. */
  fail(error: Error | undefined): void;
}

/** A knowledge base of these pages: a search finds those that the filter lets through, in their order. */
export function knowledgeDouble(
  pages: readonly Page[],
  settings: Partial<KnowledgeSettings> = {},
): KnowledgeDouble {
  const knowledge = new Knowledge({ name: 'pages', ...settings });
  const searches: KnowledgeDouble['searches'] = [];
  const added: GivenContent[] = [];
  const keys = new Set<string>();
  let failure: Error | undefined;
  const unused = () => Promise.reject(new Error('not used by runs'));
  const space: KnowledgeSpace = {
    async search(text, search) {
      searches.push({ text, search });
      if (failure !== undefined) throw failure;
      const { filter, limit = settings.maxResults ?? 10 } = search;
      return pages
        .filter(({ metadata = {} }) => filter === undefined || matches(filter, metadata))
        .slice(0, limit)
        .map(({ name, content, metadata = {} }) => ({
          ...{ id: name, contentId: name, name, content, metadata },
          ...{ usage: null, similarity: 1, rerankingScore: undefined },
        }));
    },
    async filterKeys(within = {}) {
      const filter = metadataFilter(within);
      const seen = pages.filter(({ metadata = {} }) => filter === undefined || matches(filter, metadata));
      return [...new Set(seen.flatMap(({ metadata = {} }) => Object.keys(metadata)))].sort();
    },
    async addOnce(key, content) {
      if (!keys.has(key)) await space.add(content);
      keys.add(key);
    },
    async add(content) {
      added.push(content);
      const { name = null, metadata = null } = content;
      const times = { createdAt: 0, updatedAt: 0 };
      const kept: KnowledgeContent = {
        ...{ id: `${added.length}`, name, description: null, type: null, size: 0, metadata },
        ...{ status: 'completed', statusMessage: '', ...times },
      };
      return kept;
    },
    get: unused,
    processed: unused,
    remove: unused,
  };
  knowledge.attach(async () => space);
  // a service that registers it leaves it as it is
  knowledge.attach = () => {};
  return {
    knowledge,
    searches,
    added,
    fail: (error) => {
      failure = error;
    },
  };
}
