import type { Migration } from './migration.js';

/** Which components have paused runs can be told without reading the runs. */
export const pausedComponents: Migration = {
  version: 11,
  name: 'paused-components',

  up: () => ["CREATE INDEX runs_paused ON runs (kind, component_id) WHERE status = 'paused'"],

  down: () => ['DROP INDEX runs_paused'],
};
