import { errors } from '../../../core/errors/errors.js';
import type {
  CreateComponentBody,
  CreateConfigBody,
  GivenLink,
  UpdateComponentBody,
  UpdateConfigBody,
} from './schema.js';
import type { Link } from './stored-component.js';

export function givenComponent(body: CreateComponentBody) {
  return {
    kind: body.component_type,
    id: body.component_id ?? undefined,
    name: body.name,
    description: body.description ?? null,
    metadata: body.metadata ?? null,
    config: body.config ?? {},
    label: body.label ?? null,
    stage: body.stage,
    notes: body.notes ?? null,
    setsCurrent: body.set_current ?? true,
  };
}

/** Of what cannot be empty, null means as it is. */
export function componentUpdate(body: UpdateComponentBody) {
  return {
    name: body.name ?? undefined,
    description: body.description,
    metadata: body.metadata,
    type: body.component_type ?? undefined,
    currentVersion: body.current_version ?? undefined,
    expectedRevision: body.expected_revision ?? undefined,
  };
}

export function newVersion(body: CreateConfigBody) {
  return {
    config: body.config,
    version: body.version ?? undefined,
    label: body.label ?? null,
    stage: body.stage,
    notes: body.notes ?? null,
    links: (body.links ?? []).map(linkOf),
    setsCurrent: body.set_current ?? true,
    expectedRevision: body.expected_revision ?? undefined,
  };
}

export function versionUpdate(body: UpdateConfigBody) {
  return {
    config: body.config ?? undefined,
    label: body.label,
    stage: body.stage ?? undefined,
    notes: body.notes,
    links: body.links?.map(linkOf),
    expectedRevision: body.expected_revision ?? undefined,
  };
}

function linkOf(given: GivenLink, index: number): Link {
  const { child_component_id: childId, child_version: childVersion } = given;
  if (childVersion === undefined || childVersion === null) throw errors.linkWithoutVersion(childId);
  return {
    linkKind: given.link_kind,
    linkKey: given.link_key,
    childId,
    childVersion,
    position: given.position ?? index,
    meta: given.meta ?? null,
  };
}
