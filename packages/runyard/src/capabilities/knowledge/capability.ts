import type { Caller } from '../../platform/auth/caller.js';
import { openDocuments } from '../../platform/documents/documents.js';
import { systemTimers } from '../../platform/engine/local/timers.js';
import { configSection } from '../../platform/settings/shown-settings.js';
import type { Capability, ServiceSite } from '../capability.js';
import { contentsTable, type KnowledgeParts } from './base-in-database.js';
import { builtInVectorStore } from './chunks/built-in-vector-store.js';
import { ContentStore } from './contents/store.js';
import { DatabaseKnowledge } from './database-knowledge.js';
import { EmbeddingStore } from './ingestion/embeddings-store.js';
import { ingestionJob } from './ingestion/ingestion-job.js';

import { knowledgeContents } from './migrations/0016-knowledge.js';
import { knowledgeSearch } from './migrations/0017-knowledge-search.js';
import { type KnowledgeServices, knowledgeRoutes } from './routes.js';
import { KnowledgeService, type RegisteredKnowledge, registeredKnowledge } from './service.js';
import { UploadStore } from './uploads/upload-store.js';

declare module '../capability.js' {
  interface Services extends KnowledgeServices {}
  interface RunSpace {
    readonly knowledge: DatabaseKnowledge;
  }
}

const section = { name: 'knowledge', table: contentsTable } as const;

/** The knowledge bases that are registered, and those of registered agents and teams: callers manage them alike. */
export const knowledge: Capability = {
  name: 'knowledge',
  migrations: [knowledgeContents, knowledgeSearch],
  routes: knowledgeRoutes,
  section,
  async open(site) {
    const { settings, databases, spaces, log } = site;
    const { knowledge = [] } = site;
    // a service has at least its own
    const defaultDatabase = databases[0]!.id;
    const registered = registeredKnowledge(knowledge, defaultDatabase);
    const documents = openDocuments();
    return {
      services: { knowledge: new KnowledgeService(registered, spaces) },
      config: (caller) => ({ knowledge: knowledgeSection(site, registered, caller) }),
      inDatabase(database, space) {
        const job = ingestionJob((id) => space.knowledge.base(id));
        const parts: KnowledgeParts = {
          databaseId: database.id,
          contents: new ContentStore(database),
          uploads: new UploadStore(database),
          embeddings: new EmbeddingStore(database),
          vectorStore: builtInVectorStore(database, log),
          documents,
          // the space has them when everything is built
          get jobs() {
            return space.jobs;
          },
          job,
          web: { allowedHosts: settings.fetchAllowedHosts },
          log,
        };
        const own = knowledge.filter((one) => (one.settings.database ?? defaultDatabase) === database.id);
        const inDatabase = new DatabaseKnowledge(own, parts, systemTimers);
        return {
          parts: { knowledge: inDatabase },
          jobs: own.length === 0 ? [] : [job],
          start: () => inDatabase.start(),
          stop: () => inDatabase.stop(),
        };
      },
      close: () => documents.close(),
    };
  },
};

/** The section of `/config`. A caller who may not read contents does not learn which knowledge bases there are. */
function knowledgeSection(
  { databases, settings }: ServiceSite,
  registered: readonly RegisteredKnowledge[],
  { rights }: Caller,
) {
  const shown = rights.may('knowledge:read') ? registered : [];
  return {
    ...configSection(section, databases, settings),
    knowledge_instances: shown.map(({ id, name, description, databaseId }) => ({
      id,
      name,
      description,
      db_id: databaseId,
      table: contentsTable,
    })),
  };
}
