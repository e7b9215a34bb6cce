import { define } from './runyard-error.js';

/** Stored components and their versions. Texts that the wire contract has are as there. */
export const componentErrors = {
  remoteModel: define(
    'remote_model',
    409,
    (id: string) => `'${id}' is a component of another service: its model cannot be called from here.`,
  ),
  remoteNotConfig: define(
    'remote_component',
    422,
    (kind: string, id: string) =>
      `The ${kind} '${id}' is executed by another service: a configuration cannot hold its address and its token. Define it in code.`,
  ),
  remoteConversation: define(
    'remote_conversation',
    400,
    () =>
      "The conversation of this run is at another service: it continues at its end. Leave out continue_from, or give 'end' or 'last_user'.",
  ),
  storedComponentNotFound: define('component_not_found', 404, (id: string) => `Component ${id} not found`),
  /** The contract answers 400 where versions of an unknown component are written. */
  versionsOfUnknown: define('component_unknown', 400, (id: string) => `Component ${id} not found`),
  componentExists: define('component_exists', 400, (id: string) => `Component ${id} already exists`),
  componentOfCode: define(
    'component_of_code',
    409,
    (id: string, kind: string) =>
      `The id '${id}' belongs to the ${kind} '${id}' in the code of this service. Choose another component_id.`,
  ),
  invalidComponentId: define(
    'invalid_component_id',
    400,
    (id: string) =>
      `The id '${id}' cannot stand in a URL. Use at most 255 letters, digits, '-', '_', '.' or '~', and not dots alone.`,
  ),
  reservedComponentId: define(
    'reserved_component_id',
    400,
    (id: string) => `The id '${id}' is the name of a route. Choose another component_id.`,
  ),
  invalidStage: define('invalid_stage', 400, (stage: string) => `Invalid stage: ${stage}`),
  invalidComponentType: define(
    'invalid_component_type',
    400,
    (given: string) => `'${given}' is not a valid ComponentType`,
  ),
  componentTypeFixed: define(
    'component_type_fixed',
    409,
    (id: string, kind: string) =>
      `Component ${id} is of the type ${kind}, which never changes. Create a component with another id.`,
  ),
  /** `users` is a list in words. */
  componentInUse: define(
    'component_in_use',
    409,
    (id: string, users: string) =>
      `Component ${id} is used by ${users}. Change these first; GET /components/${id}/dependents lists the places.`,
  ),
  configNotFound: define(
    'config_not_found',
    404,
    (id: string, version: number) => `Config ${id} v${version} not found`,
  ),
  /** The contract answers 400 where a version that is not there is written. */
  writtenConfigNotFound: define(
    'config_unknown',
    400,
    (id: string, version: number) => `Config ${id} v${version} not found`,
  ),
  noCurrentConfig: define('no_current_config', 404, (id: string) => `No current config for ${id}`),
  currentConfigNotFound: define(
    'config_not_found',
    404,
    (id: string, version: number) => `Component ${id} or config version ${version} not found`,
  ),
  configPublished: define(
    'config_published',
    400,
    (id: string, version: number) => `Cannot update published config ${id} v${version}`,
  ),
  draftNotCurrent: define(
    'draft_not_current',
    400,
    (id: string, version: number) =>
      `Cannot set draft config ${id} v${version} as current. Only published configs can be current.`,
  ),
  currentConfigKept: define(
    'config_current',
    400,
    (id: string, version: number) => `Cannot delete current config ${id} v${version}`,
  ),
  publishedConfigKept: define(
    'config_published',
    400,
    (id: string, version: number) =>
      `Cannot delete published config ${id} v${version}. Published versions stay, so that you can set them as current again.`,
  ),
  configPinned: define(
    'config_pinned',
    409,
    (id: string, version: number, users: string) =>
      `Config ${id} v${version} is pinned by ${users}. Change their links first.`,
  ),
  labelTaken: define(
    'label_taken',
    400,
    (label: string, id: string) => `Label '${label}' already exists for ${id}`,
  ),
  versionUsed: define(
    'version_used',
    409,
    (id: string, given: number, next: number) =>
      `Component ${id} cannot get the version ${given}: numbers are not used twice. Send ${next} or more, or leave version out.`,
  ),
  tooManyVersions: define(
    'too_many_versions',
    409,
    (id: string, most: number) =>
      `Component ${id} has ${most} versions, which is the limit. Create another component.`,
  ),
  linkWithoutVersion: define(
    'link_without_version',
    400,
    (child: string) => `child_version is required for link to ${child}`,
  ),
  linkToDraft: define(
    'link_to_draft',
    400,
    (child: string, version: number) =>
      `Cannot publish a config that links to the draft ${child} v${version}. Publish that first, or link to a published version.`,
  ),
  membersUnresolved: define(
    'members_unresolved',
    400,
    (name: string, ids: readonly string[]) =>
      `Cannot create team '${name}': the following members could not be resolved: ${ids.join(', ')}. Create them first, or register them in code.`,
  ),
  staleRevision: define(
    'stale_revision',
    409,
    (what: string, given: number, revision: number) =>
      `${what} has the revision ${revision}, and not ${given}: another editor changed it. Read it again, and repeat your change.`,
  ),
  revisionGone: define(
    'config_revision_not_found',
    404,
    (id: string, version: number, revision: number) =>
      `Config ${id} v${version} has no revision ${revision}. The newest 100 are kept.`,
  ),
} as const;
