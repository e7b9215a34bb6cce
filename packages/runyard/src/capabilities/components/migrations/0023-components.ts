import type { Migration } from '../../../platform/storage/database.js';

/** Agents, teams and workflows as data: their versions, every save of them, what they refer to, and who changed what. */
export const componentTables: Migration = {
  version: 23,
  name: 'components',

  up: () => [
    // `metadata` is JSON. `last_version` never goes back, so that no number is used for two contents.
    // `revision` counts the changes that an editor of the component must know of, `changes` all of them.
    `CREATE TABLE components (
      component_id text NOT NULL PRIMARY KEY,
      component_type text NOT NULL,
      name text NOT NULL,
      description text,
      metadata text,
      current_version bigint,
      last_version bigint NOT NULL,
      revision bigint NOT NULL,
      changes bigint NOT NULL,
      created_by text,
      updated_by text,
      created_at bigint NOT NULL,
      updated_at bigint,
      deleted_at bigint
    )`,
    'CREATE INDEX components_by_creation ON components (created_at DESC, component_id)',
    'CREATE INDEX components_by_type ON components (component_type, created_at DESC, component_id)',
    // A version. A deleted draft stays for the runs that began with it.
    `CREATE TABLE component_configs (
      component_id text NOT NULL REFERENCES components (component_id) ON DELETE CASCADE,
      version bigint NOT NULL,
      label text,
      stage text NOT NULL,
      notes text,
      revision bigint NOT NULL,
      created_by text,
      updated_by text,
      created_at bigint NOT NULL,
      updated_at bigint,
      deleted_at bigint,
      PRIMARY KEY (component_id, version)
    )`,
    // Of two who give a label at once, one gets it.
    'CREATE UNIQUE INDEX component_configs_by_label ON component_configs (component_id, label)',
    // One state of a version, which never changes. `config` and `links` are JSON.
    `CREATE TABLE component_revisions (
      component_id text NOT NULL,
      version bigint NOT NULL,
      revision bigint NOT NULL,
      config text NOT NULL,
      links text NOT NULL,
      saved_by text,
      saved_at bigint NOT NULL,
      PRIMARY KEY (component_id, version, revision),
      FOREIGN KEY (component_id, version) REFERENCES component_configs (component_id, version) ON DELETE CASCADE
    )`,
    // What the newest revision of a version refers to: with a version of the child where it is pinned.
    `CREATE TABLE component_links (
      component_id text NOT NULL,
      version bigint NOT NULL,
      position integer NOT NULL,
      link_kind text NOT NULL,
      link_key text NOT NULL,
      child_component_id text NOT NULL,
      child_version bigint,
      PRIMARY KEY (component_id, version, position),
      FOREIGN KEY (component_id, version) REFERENCES component_configs (component_id, version) ON DELETE CASCADE
    )`,
    'CREATE INDEX component_links_by_child ON component_links (child_component_id, component_id, version, position)',
    // Who changed what. `fields` is JSON.
    `CREATE TABLE component_changes (
      component_id text NOT NULL REFERENCES components (component_id) ON DELETE CASCADE,
      number bigint NOT NULL,
      action text NOT NULL,
      version bigint,
      revision bigint,
      fields text NOT NULL,
      changed_by text,
      changed_at bigint NOT NULL,
      PRIMARY KEY (component_id, number)
    )`,
  ],

  down: () => [
    'DROP TABLE component_changes',
    'DROP TABLE component_links',
    'DROP TABLE component_revisions',
    'DROP TABLE component_configs',
    'DROP TABLE components',
  ],
};
