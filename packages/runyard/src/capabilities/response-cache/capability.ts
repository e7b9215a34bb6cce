import type { Capability } from '../capability.js';
import { responseCacheTable } from './migrations/0028-response-cache.js';
import { CachedResponseStore } from './store.js';
import './tables.js';

/** Answers of models that agents with `cacheResponses` use again. */
export const responseCache: Capability = {
  name: 'response-cache',
  migrations: [responseCacheTable],
  open: () => ({
    inDatabase: (database) => ({ ports: { responses: new CachedResponseStore(database) } }),
  }),
};
