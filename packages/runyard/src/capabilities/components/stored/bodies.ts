import { withoutUndefined } from '../../../core/objects.js';
import type { NamingSchedule } from '../../schedules/service.js';
import type {
  Change,
  Dependent,
  StoredComponent,
  StoredVersion,
  VersionWithContent,
} from './stored-component.js';
import type { Comparison } from './versions-service.js';

/** A component in the form of the wire: what is null is left out. `degraded`: why it cannot run. */
export function componentBodyOf(component: StoredComponent, degraded?: string) {
  return withoutNull({
    component_id: component.id,
    component_type: component.kind,
    name: component.name,
    description: component.description,
    current_version: component.currentVersion,
    metadata: component.metadata,
    created_at: seconds(component.createdAt),
    updated_at: seconds(component.updatedAt),
    deleted_at: seconds(component.deletedAt),
    revision: component.revision,
    created_by: component.createdBy,
    updated_by: component.updatedBy,
    degraded: degraded ?? null,
  });
}

/** A version without what it holds. */
export function bareConfigBodyOf(version: StoredVersion) {
  return withoutNull({
    component_id: version.componentId,
    version: version.version,
    label: version.label,
    stage: version.stage,
    notes: version.notes,
    created_at: seconds(version.createdAt),
    updated_at: seconds(version.updatedAt),
    revision: version.revision,
    created_by: version.createdBy,
    updated_by: version.updatedBy,
  });
}

export function configBodyOf(version: VersionWithContent, degraded?: string) {
  return {
    ...bareConfigBodyOf(version),
    config: version.config,
    ...(degraded !== undefined && { degraded }),
  };
}

/** What a version pins, in the form in which a client sends it. */
export function linksBodyOf({ componentId, version, revision, links }: VersionWithContent) {
  return {
    component_id: componentId,
    version,
    revision,
    links: links.map(({ linkKind, linkKey, childId, childVersion, position, meta }) =>
      withoutNull({
        link_kind: linkKind,
        link_key: linkKey,
        child_component_id: childId,
        child_version: childVersion,
        position,
        meta,
      }),
    ),
  };
}

/** The list of versions as text, in pieces. */
export async function* configList(versions: AsyncIterable<VersionWithContent>): AsyncGenerator<string> {
  let before = '[';
  for await (const version of versions) {
    yield before + JSON.stringify(configBodyOf(version));
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

export function dependentBodyOf(dependent: Dependent) {
  return withoutNull({
    component_id: dependent.componentId,
    component_type: dependent.kind,
    name: dependent.name,
    version: dependent.version,
    stage: dependent.stage,
    is_current: dependent.isCurrent,
    link_kind: dependent.linkKind,
    link_key: dependent.linkKey,
    child_version: dependent.childVersion,
  });
}

export function dependentScheduleOf({ schedule, version }: NamingSchedule) {
  const { id, name, endpoint, enabled } = schedule;
  return withoutNull({ id, name, endpoint, enabled, child_version: version });
}

export function changeBodyOf(change: Change) {
  return withoutNull({
    number: change.number,
    action: change.action,
    version: change.version,
    revision: change.revision,
    fields: change.fields,
    changed_by: change.changedBy,
    changed_at: seconds(change.changedAt),
  });
}

export function diffBodyOf(id: string, { from, to, differences, isTruncated }: Comparison) {
  const side = ({ version, revision, stage, label }: VersionWithContent) =>
    withoutNull({ version, revision, stage, label });
  return {
    component_id: id,
    from: side(from),
    to: side(to),
    changes: differences.map((difference) => withoutUndefined(difference)),
    truncated: isTruncated,
  };
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}

function withoutNull(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
