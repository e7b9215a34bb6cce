import { foundation } from './0001-foundation.js';
import { media } from './0002-media.js';
import { sessionSummaries } from './0003-session-summaries.js';
import { runLife } from './0004-run-life.js';
import { memory } from './0005-memory.js';
import { traces } from './0006-traces.js';
import { usage } from './0007-usage.js';
import { upkeep } from './0008-upkeep.js';
import { serviceAccounts } from './0009-service-accounts.js';
import { sessionOrder } from './0010-session-order.js';
import { pausedComponents } from './0011-paused-components.js';
import { runTexts } from './0012-run-texts.js';
import { definitions } from './0013-definitions.js';
import { askers } from './0014-askers.js';
import type { Migration } from './migration.js';

/** All migrations, in the order of their versions. */
export const migrations: readonly Migration[] = [
  foundation,
  media,
  sessionSummaries,
  runLife,
  memory,
  traces,
  usage,
  upkeep,
  serviceAccounts,
  sessionOrder,
  pausedComponents,
  runTexts,
  definitions,
  askers,
];
