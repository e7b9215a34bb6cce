import type { RunKind } from '../../core/runs/run.js';
import type { ChangeAction, Stage } from './stored/stored-component.js';

declare module '../../platform/storage/schema.js' {
  interface Schema {
    components: ComponentsTable;
    component_configs: ComponentConfigsTable;
    component_revisions: ComponentRevisionsTable;
    component_links: ComponentLinksTable;
    component_changes: ComponentChangesTable;
  }
}

export interface ComponentsTable {
  component_id: string;
  component_type: RunKind;
  name: string;
  description: string | null;
  /** JSON. */
  metadata: string | null;
  current_version: number | null;
  last_version: number;
  revision: number;
  changes: number;
  created_by: string | null;
  updated_by: string | null;
  created_at: number;
  updated_at: number | null;
  deleted_at: number | null;
}

export interface ComponentConfigsTable {
  component_id: string;
  version: number;
  label: string | null;
  stage: Stage;
  notes: string | null;
  revision: number;
  created_by: string | null;
  updated_by: string | null;
  created_at: number;
  updated_at: number | null;
  deleted_at: number | null;
}

export interface ComponentRevisionsTable {
  component_id: string;
  version: number;
  revision: number;
  /** JSON. */
  config: string;
  links: string;
  saved_by: string | null;
  saved_at: number;
}

export interface ComponentLinksTable {
  component_id: string;
  version: number;
  position: number;
  link_kind: string;
  link_key: string;
  child_component_id: string;
  /** Null where the reference is not pinned. */
  child_version: number | null;
}

export interface ComponentChangesTable {
  component_id: string;
  number: number;
  action: ChangeAction;
  version: number | null;
  revision: number | null;
  /** JSON. */
  fields: string;
  changed_by: string | null;
  changed_at: number;
}
