import type { RunKind } from '../runs/run.js';
import type { ComponentConfig, ConfigSite } from './component-config.js';
import { readForm } from './config-keys.js';
import { languageOf } from './languages.js';
import { type Found, Reading } from './reading.js';

export interface ReadConfig extends Found {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly reading: Reading;
}

/** One pass over a configuration. Without a site nothing is looked up. */
export function readConfig(kind: RunKind, config: ComponentConfig, site?: ConfigSite): ReadConfig {
  const found: Found = { faults: [], references: [], steps: 0, ...(site !== undefined && { site }) };
  const reading = new Reading(found);
  const settings = readForm(languageOf(kind).form, config, reading) ?? {};
  return { ...found, settings, reading };
}
