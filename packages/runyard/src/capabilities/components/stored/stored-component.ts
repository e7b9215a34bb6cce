import type { ComponentConfig } from '../../../core/configs/component-config.js';
import type { Json, JsonObject } from '../../../core/json.js';
import type { RunKind } from '../../../core/runs/run.js';

export type Stage = 'draft' | 'published';

/** A stored component without its versions. Times are milliseconds since the epoch, in whole seconds. */
export interface StoredComponent {
  readonly id: string;
  readonly kind: RunKind;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: JsonObject | null;
  readonly currentVersion: number | null;
  /** The highest number that a version ever had. */
  readonly lastVersion: number;
  /** Counts the changes of its fields, of the list of its versions, and of which one is current. */
  readonly revision: number;
  /** Counts all changes, those of drafts included. */
  readonly changes: number;
  readonly createdBy: string | null;
  readonly updatedBy: string | null;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly deletedAt: number | null;
}

/** A version of a component, as its newest revision is. */
export interface StoredVersion {
  readonly componentId: string;
  readonly version: number;
  readonly label: string | null;
  readonly stage: Stage;
  readonly notes: string | null;
  /** Counts its saves. */
  readonly revision: number;
  readonly createdBy: string | null;
  readonly updatedBy: string | null;
  readonly createdAt: number;
  readonly updatedAt: number | null;
}

/** A version of another component that a version pins. */
export interface Link {
  readonly linkKind: string;
  readonly linkKey: string;
  readonly childId: string;
  readonly childVersion: number;
  readonly position: number;
  readonly meta: JsonObject | null;
}

/** What a version refers to: `childVersion` is null where it takes the one that is current. */
export interface LinkRow {
  readonly linkKind: string;
  readonly linkKey: string;
  readonly childId: string;
  readonly childVersion: number | null;
}

/** What a revision holds. */
export interface Content {
  readonly config: ComponentConfig;
  readonly links: readonly Link[];
}

export interface VersionWithContent extends StoredVersion, Content {}

export type ChangeAction =
  | 'created'
  | 'changed'
  | 'deleted'
  | 'restored'
  | 'version_created'
  | 'version_saved'
  | 'version_published'
  | 'version_deleted'
  | 'current_set';

/** A field that a change concerns. Long values are left out: a comparison of versions shows them. */
export interface ChangedField {
  readonly field: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** What a change is noted as. */
export interface NotedChange {
  readonly action: ChangeAction;
  readonly version?: number;
  readonly revision?: number;
  readonly fields?: readonly ChangedField[];
}

/** An entry of the history of a component. */
export interface Change {
  readonly number: number;
  readonly action: ChangeAction;
  readonly version: number | null;
  readonly revision: number | null;
  readonly fields: readonly ChangedField[];
  readonly changedBy: string | null;
  readonly changedAt: number;
}

/** A version of another component that refers to a component. */
export interface Dependent {
  readonly componentId: string;
  readonly kind: RunKind;
  readonly name: string;
  readonly version: number;
  readonly stage: Stage;
  readonly isCurrent: boolean;
  readonly linkKind: string;
  readonly linkKey: string;
  /** Null where it takes the version that is current. */
  readonly childVersion: number | null;
}

/** Who changes something, and when. */
export interface Editing {
  readonly by: string | null;
  readonly at: number;
}
