import type { RunKind } from '../runs/run.js';
import type { ComponentConfig, ComponentReference } from './component-config.js';
import { readConfig } from './read-config.js';

/** The components that a configuration names. It leaves out a reference that is wrong in itself: `checkConfig` names it. */
export function componentReferences(kind: RunKind, config: ComponentConfig): ComponentReference[] {
  return readConfig(kind, config).references;
}
