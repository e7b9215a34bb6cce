import type { JsonObject } from '../json.js';
import type { RunKind } from '../runs/run.js';
import type { ComponentConfig, ConfigFault } from './component-config.js';
import { boundFaults } from './config-bounds.js';
import { secretFaults } from './config-secrets.js';
import { readConfig } from './read-config.js';
import { storedDatabase } from './values/database-value.js';

/**
 * What is wrong with a configuration by itself: its size, secrets in it, keys that do not exist, values that a key
 * cannot have. Nothing is resolved. The faults of one that is too large or holds a secret say nothing else of it.
 */
export function checkConfig(kind: RunKind, config: ComponentConfig): ConfigFault[] {
  const bounds = boundFaults(config);
  if (bounds.length > 0) return bounds;
  const secrets = secretFaults(config);
  return secrets.length > 0 ? secrets : readConfig(kind, config).faults;
}

/** A configuration as it is stored: of its database only the id and the names of tables. */
export function storedConfig(config: ComponentConfig): ComponentConfig {
  if (config.db === undefined) return config;
  const { db, ...others } = config;
  const kept: JsonObject | undefined = storedDatabase(db);
  return kept === undefined ? others : { ...others, db: kept };
}
