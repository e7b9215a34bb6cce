import type { Capability } from '../capability.js';
import { recallVectors } from './migrations/0029-recall.js';
import { RecallStore } from './store.js';
import './tables.js';

/** What agents with `semanticRecall` find earlier exchanges by. It has no routes: its rows come and go with runs. */
export const recall: Capability = {
  name: 'recall',
  migrations: [recallVectors],
  open: () => ({
    inDatabase: (database) => ({ ports: { recall: new RecallStore(database) } }),
  }),
};
