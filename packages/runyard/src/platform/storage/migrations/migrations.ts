import { foundation } from './0001-foundation.js';
import { media } from './0002-media.js';
import { sessionSummaries } from './0003-session-summaries.js';
import { runLife } from './0004-run-life.js';
import type { Migration } from './migration.js';

/** All migrations, in the order of their versions. */
export const migrations: readonly Migration[] = [foundation, media, sessionSummaries, runLife];
