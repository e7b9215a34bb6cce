import type { Migration } from '../database.js';
import { foundation } from './0001-foundation.js';
import { runLife } from './0004-run-life.js';
import { memory } from './0005-memory.js';
import { upkeep } from './0008-upkeep.js';
import { sessionOrder } from './0010-session-order.js';
import { fewerIndexes } from './0033-fewer-indexes.js';

/** Migrations that change tables of several capabilities. All others are in the folder of theirs. */
export const sharedMigrations: readonly Migration[] = [
  foundation,
  runLife,
  memory,
  upkeep,
  sessionOrder,
  fewerIndexes,
];
