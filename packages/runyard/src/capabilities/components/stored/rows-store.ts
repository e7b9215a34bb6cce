import { storedJson, storedJsonOrNull } from '../../../platform/storage/text.js';
import type {
  ComponentChangesTable,
  ComponentConfigsTable,
  ComponentRevisionsTable,
  ComponentsTable,
} from '../tables.js';
import type { Change, StoredComponent, StoredVersion, VersionWithContent } from './stored-component.js';

export function componentFromRow(row: ComponentsTable): StoredComponent {
  return {
    id: row.component_id,
    kind: row.component_type,
    name: row.name,
    description: row.description,
    metadata: storedJsonOrNull(row.metadata),
    currentVersion: row.current_version,
    lastVersion: row.last_version,
    revision: row.revision,
    changes: row.changes,
    createdBy: row.created_by,
    updatedBy: row.updated_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
  };
}

export function versionFromRow(row: ComponentConfigsTable): StoredVersion {
  return {
    componentId: row.component_id,
    version: row.version,
    label: row.label,
    stage: row.stage,
    notes: row.notes,
    revision: row.revision,
    createdBy: row.created_by,
    updatedBy: row.updated_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export type ContentRow = ComponentConfigsTable & Pick<ComponentRevisionsTable, 'config' | 'links'>;

export function versionWithContent(row: ContentRow): VersionWithContent {
  return { ...versionFromRow(row), config: storedJson(row.config), links: storedJson(row.links) };
}

export function changeFromRow(row: ComponentChangesTable): Change {
  return {
    number: row.number,
    action: row.action,
    version: row.version,
    revision: row.revision,
    fields: storedJson(row.fields),
    changedBy: row.changed_by,
    changedAt: row.changed_at,
  };
}
