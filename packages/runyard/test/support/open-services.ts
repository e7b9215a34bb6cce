import { onTestFinished } from 'vitest';
import { capabilities } from '../../src/capabilities/capabilities.js';
import { ComponentsService, type RegisteredComponents } from '../../src/capabilities/components/service.js';
import { Readiness } from '../../src/capabilities/system/readiness.js';
import { silentLog } from '../../src/core/log.js';
import { openCapabilities } from '../../src/open-capabilities.js';
import { loadSettings } from '../../src/platform/settings/config.js';
import type { Database } from '../../src/platform/storage/database.js';

/** What capabilities are opened with. */
export function partsOver(database: Database, registered: RegisteredComponents = {}) {
  return {
    settings: loadSettings().settings,
    components: new ComponentsService(registered),
    databases: [database],
    prices: {},
    startedAt: new Date(),
    readiness: new Readiness(silentLog),
    log: silentLog,
  };
}

/** The capabilities of a service without HTTP, for callers whom a token names. */
export async function openOver(database: Database, registered?: RegisteredComponents) {
  const opened = await openCapabilities(capabilities, partsOver(database, registered));
  await opened.start();
  onTestFinished(() => opened.stop(0));
  return opened;
}
