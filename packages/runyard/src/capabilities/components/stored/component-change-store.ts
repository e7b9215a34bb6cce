import type { SqlValue } from '../../../platform/storage/database.js';
import type { ComponentConfigsTable, ComponentsTable } from '../tables.js';
import { type ContentRow, versionFromRow, versionWithContent } from './rows-store.js';
import type {
  Content,
  Editing,
  LinkRow,
  NotedChange,
  Stage,
  StoredComponent,
  StoredVersion,
  VersionWithContent,
} from './stored-component.js';

/** Runs a statement that is written with `?` placeholders. */
export type Run = <Row>(sql: string, parameters: readonly SqlValue[]) => Promise<Row[]>;

/** How many saves of a version are kept: a run that began with an earlier one cannot be continued. */
const keptRevisions = 100;
/** How many entries the history of a component has at the most. */
const keptChanges = 1000;
/** Rows of one statement. */
const writtenAtOnce = 100;

/** What a save of a version says beside its content. */
export interface VersionFields {
  readonly label: string | null;
  readonly stage: Stage;
  readonly notes: string | null;
}

type ComponentFields = Pick<
  StoredComponent,
  'name' | 'description' | 'metadata' | 'currentVersion' | 'deletedAt'
>;

/** One change of a component, within its transaction. Nothing of it is stored when it throws. */
export class ComponentChange {
  #component: StoredComponent;
  #isEdited = false;
  #noted: NotedChange | undefined;

  constructor(
    private readonly run: Run,
    component: StoredComponent,
    private readonly editing: Editing,
  ) {
    this.#component = component;
  }

  /** As it is at this point of the change. */
  get component(): StoredComponent {
    return this.#component;
  }

  /** Sets fields of the component: editors who read an earlier state receive a conflict. */
  set(fields: Partial<ComponentFields>): void {
    this.#component = { ...this.#component, ...fields };
    this.#isEdited = true;
  }

  /** What the history says of this change. */
  note(change: NotedChange): void {
    this.#noted = change;
  }

  async version(version: number): Promise<VersionWithContent | undefined> {
    const [row] = await this.run<ContentRow>(
      `SELECT v.*, r.config, r.links FROM component_configs v
        JOIN component_revisions r
          ON r.component_id = v.component_id AND r.version = v.version AND r.revision = v.revision
        WHERE v.component_id = ? AND v.version = ? AND v.deleted_at IS NULL`,
      [this.#component.id, version],
    );
    return row && versionWithContent(row);
  }

  /** What runs when no version is named: the current version, or else the newest draft. */
  async running(): Promise<VersionWithContent | undefined> {
    const { id, currentVersion } = this.#component;
    const [draft] = await this.run<{ version: number }>(
      `SELECT version FROM component_configs
        WHERE component_id = ? AND stage = 'draft' AND deleted_at IS NULL ORDER BY version DESC LIMIT 1`,
      [id],
    );
    const version = currentVersion ?? draft?.version;
    return version === undefined ? undefined : this.version(version);
  }

  /** How many versions there are, deleted ones included. */
  async countVersions(): Promise<number> {
    const [row] = await this.run<{ total: number }>(
      'SELECT count(*) AS total FROM component_configs WHERE component_id = ?',
      [this.#component.id],
    );
    return Number(row?.total ?? 0);
  }

  /** Whether another version than this one has the label. */
  async isLabelTaken(label: string, version: number): Promise<boolean> {
    const rows = await this.run<{ version: number }>(
      'SELECT version FROM component_configs WHERE component_id = ? AND label = ? AND version <> ?',
      [this.#component.id, label, version],
    );
    return rows.length > 0;
  }

  /** Another component that is not deleted. */
  async other(id: string): Promise<Pick<StoredComponent, 'kind' | 'currentVersion'> | undefined> {
    if (id === this.#component.id) return undefined;
    const [row] = await this.run<Pick<ComponentsTable, 'component_type' | 'current_version'>>(
      'SELECT component_type, current_version FROM components WHERE component_id = ? AND deleted_at IS NULL',
      [id],
    );
    return row && { kind: row.component_type, currentVersion: row.current_version };
  }

  /** The stage of a version of another component; undefined: not there. */
  async stageOf(componentId: string, version: number): Promise<Stage | undefined> {
    const [row] = await this.run<{ stage: Stage }>(
      `SELECT v.stage FROM component_configs v
        JOIN components c ON c.component_id = v.component_id AND c.deleted_at IS NULL
        WHERE v.component_id = ? AND v.version = ? AND v.deleted_at IS NULL`,
      [componentId, version],
    );
    return row?.stage;
  }

  /** Other components that use this one: with the version that runs, or with a draft. */
  async users(most: number): Promise<string[]> {
    const rows = await this.run<{ component_id: string }>(
      `SELECT DISTINCT l.component_id FROM component_links l
        JOIN components c ON c.component_id = l.component_id AND c.deleted_at IS NULL
        JOIN component_configs v
          ON v.component_id = l.component_id AND v.version = l.version AND v.deleted_at IS NULL
        WHERE l.child_component_id = ? AND l.component_id <> l.child_component_id
          AND (v.version = c.current_version OR v.stage = 'draft')
        ORDER BY l.component_id LIMIT ?`,
      [this.#component.id, most],
    );
    return rows.map((row) => row.component_id);
  }

  /** Other components that pin a version of this one, with the version of theirs that does. */
  async pinnedBy(
    version: number,
    most: number,
  ): Promise<{ readonly id: string; readonly version: number }[]> {
    const rows = await this.run<{ component_id: string; version: number }>(
      `SELECT DISTINCT l.component_id, l.version FROM component_links l
        JOIN components c ON c.component_id = l.component_id AND c.deleted_at IS NULL
        JOIN component_configs v
          ON v.component_id = l.component_id AND v.version = l.version AND v.deleted_at IS NULL
        WHERE l.child_component_id = ? AND l.child_version = ? AND l.component_id <> l.child_component_id
        ORDER BY l.component_id, l.version LIMIT ?`,
      [this.#component.id, version, most],
    );
    return rows.map((row) => ({ id: row.component_id, version: row.version }));
  }

  /** Adds a version. Its number is above all that there ever were. */
  async addVersion(
    version: number,
    { label, stage, notes }: VersionFields,
    content: Content,
    refersTo: readonly LinkRow[],
  ): Promise<StoredVersion> {
    const { id } = this.#component;
    const { by, at } = this.editing;
    const [row] = await this.run<ComponentConfigsTable>(
      `INSERT INTO component_configs (component_id, version, label, stage, notes, revision, created_by, updated_by,
          created_at, updated_at, deleted_at)
        VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, NULL, NULL) RETURNING *`,
      [id, version, label, stage, notes, by, by, at],
    );
    this.#component = { ...this.#component, lastVersion: version };
    this.#isEdited = true;
    await this.#store(version, 1, content, refersTo);
    // the statement returns the row that it made
    return versionFromRow(row!);
  }

  /** Saves a version: as its next revision. */
  async saveVersion(
    { version, revision }: StoredVersion,
    { label, stage, notes }: VersionFields,
    content: Content,
    refersTo: readonly LinkRow[],
  ): Promise<StoredVersion> {
    const { id } = this.#component;
    const { by, at } = this.editing;
    const [row] = await this.run<ComponentConfigsTable>(
      `UPDATE component_configs SET label = ?, stage = ?, notes = ?, revision = ?, updated_by = ?, updated_at = ?
        WHERE component_id = ? AND version = ? RETURNING *`,
      [label, stage, notes, revision + 1, by, at, id, version],
    );
    await this.#store(version, revision + 1, content, refersTo);
    await this.run(
      'DELETE FROM component_revisions WHERE component_id = ? AND version = ? AND revision <= ?',
      [id, version, revision + 1 - keptRevisions],
    );
    // the version was read in this transaction
    return versionFromRow(row!);
  }

  /** Deletes a version. Its revisions stay for runs that began with them; its label is free. */
  async deleteVersion(version: number): Promise<void> {
    const { by, at } = this.editing;
    const key = [this.#component.id, version];
    await this.run(
      `UPDATE component_configs SET label = NULL, deleted_at = ?, updated_by = ?, updated_at = ?
        WHERE component_id = ? AND version = ?`,
      [at, by, at, ...key],
    );
    await this.run('DELETE FROM component_links WHERE component_id = ? AND version = ?', key);
    this.#isEdited = true;
  }

  /** Writes what is left to write, when everything was in order. */
  async finish(): Promise<void> {
    const { by, at } = this.editing;
    const { changes, createdAt, updatedAt } = this.#component;
    if (this.#isEdited) {
      const isNew = changes === 1;
      this.#component = {
        ...this.#component,
        revision: this.#component.revision + 1,
        updatedBy: by,
        updatedAt: isNew ? updatedAt : Math.max(at, createdAt),
      };
      await this.#storeComponent();
    }
    if (this.#noted !== undefined) await this.#storeNote(changes, this.#noted);
  }

  async #storeComponent(): Promise<void> {
    const { id, name, description, metadata, ...component } = this.#component;
    await this.run(
      `UPDATE components SET name = ?, description = ?, metadata = ?, current_version = ?,
          last_version = ?, revision = ?, updated_by = ?, updated_at = ?, deleted_at = ?
        WHERE component_id = ?`,
      [
        name,
        description,
        metadata && JSON.stringify(metadata),
        component.currentVersion,
        component.lastVersion,
        component.revision,
        component.updatedBy,
        component.updatedAt,
        component.deletedAt,
        id,
      ],
    );
  }

  async #storeNote(number: number, { action, version, revision, fields = [] }: NotedChange): Promise<void> {
    const { id } = this.#component;
    const { by, at } = this.editing;
    await this.run(
      `INSERT INTO component_changes (component_id, number, action, version, revision, fields, changed_by, changed_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [id, number, action, version ?? null, revision ?? null, JSON.stringify(fields), by, at],
    );
    await this.run('DELETE FROM component_changes WHERE component_id = ? AND number <= ?', [
      id,
      number - keptChanges,
    ]);
  }

  async #store(
    version: number,
    revision: number,
    { config, links }: Content,
    refersTo: readonly LinkRow[],
  ): Promise<void> {
    const { id } = this.#component;
    const { by, at } = this.editing;
    await this.run(
      `INSERT INTO component_revisions (component_id, version, revision, config, links, saved_by, saved_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      [id, version, revision, JSON.stringify(config), JSON.stringify(links), by, at],
    );
    await this.run('DELETE FROM component_links WHERE component_id = ? AND version = ?', [id, version]);
    for (let start = 0; start < refersTo.length; start += writtenAtOnce) {
      const some = refersTo.slice(start, start + writtenAtOnce);
      await this.run(
        `INSERT INTO component_links
            (component_id, version, position, link_kind, link_key, child_component_id, child_version)
          VALUES ${some.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
        some.flatMap(({ linkKind, linkKey, childId, childVersion }, index) => [
          id,
          version,
          start + index,
          linkKind,
          linkKey,
          childId,
          childVersion,
        ]),
      );
    }
  }
}
