import type { RunKind } from '../../../core/runs/run.js';
import type { ListPage } from '../../../platform/http/request/pagination.js';
import { type Database, statement } from '../../../platform/storage/database.js';
import type { ComponentChangesTable, ComponentConfigsTable, ComponentsTable } from '../tables.js';
import {
  type ContentRow,
  changeFromRow,
  componentFromRow,
  versionFromRow,
  versionWithContent,
} from './rows-store.js';
import type {
  Change,
  Content,
  Dependent,
  StoredComponent,
  StoredVersion,
  VersionWithContent,
} from './stored-component.js';

export interface Range {
  readonly limit: number;
  readonly offset: number;
}

export interface ComponentFilter {
  readonly kind?: RunKind | undefined;
  readonly includeDeleted: boolean;
  /** The ids of the code, which hide stored components of the same kind. */
  readonly hidden: Readonly<Record<RunKind, readonly string[]>>;
}

const readComponent = statement('read_component', 'SELECT * FROM components WHERE component_id = ?');

const withContent = `SELECT v.*, r.config, r.links FROM component_configs v
  JOIN component_revisions r ON r.component_id = v.component_id AND r.version = v.version AND r.revision = v.revision`;

const readVersion = statement(
  'read_component_version',
  `${withContent} WHERE v.component_id = ? AND v.version = ? AND v.deleted_at IS NULL`,
);

const readVersions = statement(
  'read_component_versions',
  `${withContent} WHERE v.component_id = ? AND v.version < ? AND v.deleted_at IS NULL
   ORDER BY v.version DESC LIMIT ? OFFSET ?`,
);

const readBareVersions = statement(
  'read_component_version_list',
  `SELECT * FROM component_configs WHERE component_id = ? AND deleted_at IS NULL
   ORDER BY version DESC LIMIT ? OFFSET ?`,
);

const readRevision = statement(
  'read_component_revision',
  'SELECT config, links FROM component_revisions WHERE component_id = ? AND version = ? AND revision = ?',
);

const readNewestDraft = statement(
  'read_newest_draft',
  `SELECT version FROM component_configs WHERE component_id = ? AND stage = 'draft' AND deleted_at IS NULL
   ORDER BY version DESC LIMIT 1`,
);

const dependentRows = `FROM component_links l
  JOIN components c ON c.component_id = l.component_id AND c.deleted_at IS NULL
  JOIN component_configs v ON v.component_id = l.component_id AND v.version = l.version AND v.deleted_at IS NULL
  WHERE l.child_component_id = ? AND l.component_id <> l.child_component_id`;

const readDependents = statement(
  'read_component_dependents',
  `SELECT l.*, c.component_type, c.name, c.current_version, v.stage ${dependentRows}
   ORDER BY l.component_id, l.version, l.position LIMIT ? OFFSET ?`,
);

const countDependents = statement('count_component_dependents', `SELECT count(*) AS total ${dependentRows}`);

const readHistory = statement(
  'read_component_history',
  'SELECT * FROM component_changes WHERE component_id = ? ORDER BY number DESC LIMIT ? OFFSET ?',
);

const countHistory = statement(
  'count_component_history',
  'SELECT count(*) AS total FROM component_changes WHERE component_id = ?',
);

/** How many versions are read at once: each may hold a megabyte. */
const versionsAtOnce = 10;

interface DependentRow {
  readonly component_id: string;
  readonly component_type: RunKind;
  readonly name: string;
  readonly version: number;
  readonly stage: Dependent['stage'];
  readonly current_version: number | null;
  readonly link_kind: string;
  readonly link_key: string;
  readonly child_version: number | null;
}

/** What callers read of stored components. They belong to the service, and not to users. */
export class ComponentStore {
  constructor(private readonly database: Database) {}

  /** Newest first, and by their ids within a second. */
  async list(filter: ComponentFilter, { limit, offset }: Range): Promise<ListPage<StoredComponent>> {
    const { total } = await this.#shown(filter)
      .select((select) => select.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    if (offset >= Number(total)) return { items: [], total: Number(total) };
    const rows = await this.#shown(filter)
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('component_id')
      .limit(limit)
      .offset(offset)
      .execute();
    return { items: rows.map(componentFromRow), total: Number(total) };
  }

  /** Deleted ones as well. */
  async find(id: string): Promise<StoredComponent | undefined> {
    const [row] = await this.database.read<ComponentsTable>(readComponent, [id]);
    return row && componentFromRow(row);
  }

  async version(id: string, version: number): Promise<VersionWithContent | undefined> {
    const [row] = await this.database.read<ContentRow>(readVersion, [id, version]);
    return row && versionWithContent(row);
  }

  /** What an earlier save held, as long as it is kept. */
  async revision(id: string, version: number, revision: number): Promise<Content | undefined> {
    const [row] = await this.database.read<Pick<ContentRow, 'config' | 'links'>>(readRevision, [
      id,
      version,
      revision,
    ]);
    return row && { config: JSON.parse(row.config), links: JSON.parse(row.links) };
  }

  async newestDraft(id: string): Promise<number | undefined> {
    const [row] = await this.database.read<{ version: number }>(readNewestDraft, [id]);
    return row?.version;
  }

  /** Newest first, with what they hold, a few at a time. */
  async *versions(id: string, { limit, offset }: Range): AsyncGenerator<VersionWithContent> {
    let last = Number.MAX_SAFE_INTEGER;
    let skipped = offset;
    for (let left = limit; left > 0; ) {
      const most = Math.min(left, versionsAtOnce);
      const rows = await this.database.read<ContentRow>(readVersions, [id, last, most, skipped]);
      for (const row of rows) yield versionWithContent(row);
      if (rows.length < most) return;
      left -= rows.length;
      // from here on by their numbers: a version that is added meanwhile moves nothing
      last = rows.at(-1)?.version ?? 0;
      skipped = 0;
    }
  }

  /** Newest first, without what they hold. */
  async bareVersions(id: string, { limit, offset }: Range): Promise<StoredVersion[]> {
    const rows = await this.database.read<ComponentConfigsTable>(readBareVersions, [id, limit, offset]);
    return rows.map(versionFromRow);
  }

  /** The versions of other components that refer to this one. */
  async dependents(id: string, { limit, offset }: Range): Promise<ListPage<Dependent>> {
    const [counted] = await this.database.read<{ total: number }>(countDependents, [id]);
    const rows = await this.database.read<DependentRow>(readDependents, [id, limit, offset]);
    return { items: rows.map(dependentFromRow), total: Number(counted?.total ?? 0) };
  }

  /** Newest first. */
  async history(id: string, { limit, offset }: Range): Promise<ListPage<Change>> {
    const [counted] = await this.database.read<{ total: number }>(countHistory, [id]);
    const rows = await this.database.read<ComponentChangesTable>(readHistory, [id, limit, offset]);
    return { items: rows.map(changeFromRow), total: Number(counted?.total ?? 0) };
  }

  #shown({ kind, includeDeleted, hidden }: ComponentFilter) {
    let shown = this.database.query.selectFrom('components');
    if (kind !== undefined) shown = shown.where('component_type', '=', kind);
    if (!includeDeleted) shown = shown.where('deleted_at', 'is', null);
    for (const one of ['agent', 'team', 'workflow'] as const) {
      const ids = hidden[one];
      if (ids.length === 0 || (kind !== undefined && kind !== one)) continue;
      shown = shown.where(({ eb, or }) =>
        or([eb('component_type', '<>', one), eb('component_id', 'not in', ids)]),
      );
    }
    return shown;
  }
}

function dependentFromRow(row: DependentRow): Dependent {
  return {
    componentId: row.component_id,
    kind: row.component_type,
    name: row.name,
    version: row.version,
    stage: row.stage,
    isCurrent: row.version === row.current_version,
    linkKind: row.link_kind,
    linkKey: row.link_key,
    childVersion: row.child_version,
  };
}
