import { createHash } from 'node:crypto';
import { componentKey } from '../../../core/runs/resume/ending-executable.js';
import type { ConfigVersion, RunKind } from '../../../core/runs/run.js';
import { type Database, type Statement, statement } from '../../../platform/storage/database.js';
import { storedJson } from '../../../platform/storage/text.js';
import { LastUsed } from '../running/last-used.js';
import type { StoredComponents, StoredConfig } from '../stored-components.js';
import type { Link, Stage } from './stored-component.js';

interface RunnableRow {
  readonly component_id: string;
  readonly component_type: RunKind;
  readonly name: string;
  readonly created_at: number;
  readonly version: number;
  readonly revision: number;
  readonly stage: Stage;
  /** JSON. */
  readonly config: string;
  readonly links: string;
}

const columns =
  'c.component_id, c.component_type, c.name, c.created_at, v.version, r.revision, v.stage, r.config, r.links';

const newestRevision =
  'r.component_id = v.component_id AND r.version = v.version AND r.revision = v.revision';

/** What runs when no version is named. */
const runs = `v.version = coalesce(c.current_version, (
  SELECT max(d.version) FROM component_configs d
  WHERE d.component_id = c.component_id AND d.stage = 'draft' AND d.deleted_at IS NULL))`;

const live = (version: string) => `SELECT ${columns} FROM components c
  JOIN component_configs v ON v.component_id = c.component_id AND ${version} AND v.deleted_at IS NULL
  JOIN component_revisions r ON ${newestRevision}`;

const readVersion = statement(
  'read_runnable_version',
  `${live('v.version = ?')} WHERE c.component_id = ? AND c.component_type = ? AND c.deleted_at IS NULL`,
);

const readCurrent = statement(
  'read_runnable',
  `${live(runs)} WHERE c.component_id = ? AND c.component_type = ? AND c.deleted_at IS NULL`,
);

/** `changes` counts every change of the component; the times tell two components with one id apart. */
const readChanges = statement(
  'read_runnable_changes',
  'SELECT changes, created_at, updated_at FROM components WHERE component_id = ? AND component_type = ?',
);

interface Changes {
  readonly changes: number;
  readonly created_at: number;
  readonly updated_at: number | null;
}

// also of what is deleted: a run keeps what it began with
const readState = statement(
  'read_runnable_state',
  `SELECT ${columns} FROM components c
   JOIN component_configs v ON v.component_id = c.component_id
   JOIN component_revisions r ON r.component_id = v.component_id AND r.version = v.version
   WHERE c.component_id = ? AND c.component_type = ? AND v.version = ? AND r.revision = ?`,
);

const readPage: Statement = statement(
  'read_runnables',
  `${live(runs)} WHERE c.component_type = ? AND c.deleted_at IS NULL
   AND c.created_at >= ? AND (c.created_at > ? OR c.component_id < ?)
   ORDER BY c.created_at, c.component_id DESC LIMIT ?`,
);

const readIds = statement(
  'read_runnable_ids',
  `SELECT component_id FROM components WHERE component_type = ? AND deleted_at IS NULL
   ORDER BY created_at, component_id DESC LIMIT ?`,
);

const readKeys = statement(
  'read_component_keys',
  'SELECT component_type, component_id, created_at FROM components WHERE created_at >= ?',
);

/** A component is stored at most so long after the time that it notes as that of its creation. */
const latestMs = 120_000;

/** How many are read at once: each may hold a megabyte. */
const pageSize = 20;

/** How many of the last found ones are kept. */
const mostFound = 500;

/** How many ids a list of names is made of. */
const mostIds = 1_000;

/** The stored components of the service's own database, as runs need them. */
export class RunnableComponents implements StoredComponents {
  readonly #keys = new Set<string>();
  readonly #found = new LastUsed<{ readonly as: Changes; readonly stored: StoredConfig }>(mostFound);
  #keysUntil = 0;

  constructor(private readonly database: Database) {}

  /** Deleted ones as well: their runs continue. Neither a row nor its kind goes away, so only new ones are read. */
  async keys(): Promise<readonly string[]> {
    type KeyRow = Pick<RunnableRow, 'component_type' | 'component_id' | 'created_at'>;
    for (const row of await this.database.read<KeyRow>(readKeys, [this.#keysUntil])) {
      this.#keys.add(componentKey(row.component_type, row.component_id));
      this.#keysUntil = Math.max(this.#keysUntil, row.created_at - latestMs);
    }
    return [...this.#keys];
  }

  async ids(kind: RunKind): Promise<string[]> {
    const rows = await this.database.read<Pick<RunnableRow, 'component_id'>>(readIds, [kind, mostIds]);
    return rows.map((row) => row.component_id);
  }

  /** The same value until the component changes: each run asks only whether it has. */
  async find(kind: RunKind, id: string, version?: number): Promise<StoredConfig | undefined> {
    const [as] = await this.database.read<Changes>(readChanges, [id, kind]);
    if (as === undefined) return undefined;
    const key = `${componentKey(kind, id)} ${version ?? ''}`;
    const known = this.#found.get(key);
    if (known !== undefined && isSame(known.as, as)) return known.stored;
    // read after its changes: of one that changes meanwhile, the next run reads again
    const [row] =
      version === undefined
        ? await this.database.read<RunnableRow>(readCurrent, [id, kind])
        : await this.database.read<RunnableRow>(readVersion, [version, id, kind]);
    if (row === undefined) return undefined;
    const stored = fromRow(row);
    this.#found.set(key, { as, stored });
    return stored;
  }

  async at(
    kind: RunKind,
    id: string,
    { version, revision }: ConfigVersion,
  ): Promise<StoredConfig | undefined> {
    const [row] = await this.database.read<RunnableRow>(readState, [id, kind, version, revision]);
    return row && fromRow(row);
  }

  async *pages(kind: RunKind): AsyncGenerator<readonly StoredConfig[]> {
    let place = { createdAt: 0, id: '' };
    for (;;) {
      const { createdAt, id } = place;
      const rows = await this.database.read<RunnableRow>(readPage, [
        kind,
        createdAt,
        createdAt,
        id,
        pageSize,
      ]);
      const last = rows.at(-1);
      if (last === undefined) return;
      yield rows.map(fromRow);
      if (rows.length < pageSize) return;
      place = { createdAt: last.created_at, id: last.component_id };
    }
  }
}

function isSame(one: Changes, other: Changes): boolean {
  return (
    one.changes === other.changes &&
    one.created_at === other.created_at &&
    one.updated_at === other.updated_at
  );
}

function fromRow(row: RunnableRow): StoredConfig {
  return {
    kind: row.component_type,
    id: row.component_id,
    name: row.name,
    version: row.version,
    revision: row.revision,
    stage: row.stage,
    config: storedJson(row.config),
    digest: createHash('sha256').update(row.config).update(row.links).digest('base64url'),
    pins: storedJson<readonly Link[]>(row.links).map(({ linkKind, linkKey, childId, childVersion }) => ({
      linkKind,
      linkKey,
      id: childId,
      version: childVersion,
    })),
  };
}
