import { errors } from '../../core/errors/errors.js';
import type { DataScope } from '../../platform/auth/caller.js';
import type { ListPage } from '../../platform/http/request/pagination.js';
import type { Database } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import { within } from '../../platform/storage/scope.js';
import { storedJsonOrNull } from '../../platform/storage/text.js';
import { isBrokenConstraint } from '../../platform/storage/transient.js';
import type { DatasetChange, StoredDataset } from './stored-dataset.js';
import type { DatasetsTable } from './tables.js';

export const datasetSorts = ['created_at', 'updated_at', 'name'] as const;

export interface DatasetOrder {
  readonly by: (typeof datasetSorts)[number];
  readonly direction: 'asc' | 'desc';
}

export interface Range {
  readonly limit: number;
  readonly offset: number;
}

/** The datasets of one database, without their cases. */
export class DatasetStore {
  constructor(private readonly database: Database) {}

  async list(
    scope: DataScope,
    name: string | undefined,
    { by, direction }: DatasetOrder,
    range: Range,
  ): Promise<ListPage<StoredDataset>> {
    const { sql } = queryBuilder();
    const visible = within(this.database.query.selectFrom('datasets'), scope, 'user_id');
    const chosen = name === undefined ? visible : visible.where('name', '=', name);
    const { total } = await chosen
      .select((select) => select.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    if (range.offset >= Number(total)) return { items: [], total: Number(total) };
    // texts in the order of their characters, whatever the language of the database
    const isText = by === 'name' && this.database.dialect === 'postgres';
    const rows = await chosen
      .selectAll()
      .orderBy(isText ? sql`name collate "C"` : sql.ref(by), direction)
      .orderBy('dataset_id', direction)
      .limit(range.limit)
      .offset(range.offset)
      .execute();
    return { items: rows.map(datasetFromRow), total: Number(total) };
  }

  async find(scope: DataScope, datasetId: string): Promise<StoredDataset | undefined> {
    const row = await within(this.database.query.selectFrom('datasets'), scope, 'user_id')
      .where('dataset_id', '=', datasetId)
      .selectAll()
      .executeTakeFirst();
    return row && datasetFromRow(row);
  }

  /** The one that this owner calls so; of no owner for null. */
  async named(userId: string | null, name: string): Promise<StoredDataset | undefined> {
    const named = this.database.query.selectFrom('datasets').where('name', '=', name);
    const row = await (userId === null
      ? named.where('user_id', 'is', null)
      : named.where('user_id', '=', userId)
    )
      .selectAll()
      .executeTakeFirst();
    return row && datasetFromRow(row);
  }

  /** Of several with the same name at once, one is stored. */
  async insert(dataset: StoredDataset): Promise<void> {
    const { metadata } = dataset;
    await refusingTakenName(dataset.name, () =>
      this.database.query
        .insertInto('datasets')
        .values({
          dataset_id: dataset.id,
          user_id: dataset.userId,
          name: dataset.name,
          description: dataset.description,
          metadata: metadata && JSON.stringify(metadata),
          revision: dataset.revision,
          case_count: 0,
          bytes: 0,
          last_position: 0,
          created_at: dataset.createdAt,
          updated_at: dataset.updatedAt,
        })
        .execute(),
    );
  }

  /** Undefined when there is no such dataset that the scope may change. */
  async update(
    scope: DataScope,
    datasetId: string,
    { name, description, metadata }: DatasetChange,
    now: number,
  ): Promise<StoredDataset | undefined> {
    const update = this.database.query
      .updateTable('datasets')
      .set({
        updated_at: now,
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(metadata !== undefined && { metadata: metadata && JSON.stringify(metadata) }),
      })
      .where('dataset_id', '=', datasetId);
    const row = await refusingTakenName(name ?? '', () =>
      within(update, scope, 'user_id').returningAll().executeTakeFirst(),
    );
    return row && datasetFromRow(row);
  }

  /** With its cases. False when there is no such dataset that the scope may delete. */
  async remove(scope: DataScope, datasetId: string): Promise<boolean> {
    const removal = this.database.query.deleteFrom('datasets').where('dataset_id', '=', datasetId);
    return (await within(removal, scope, 'user_id').executeTakeFirst()).numDeletedRows > 0n;
  }
}

/** The constraint decides: a look before the write would let two at once pass. */
async function refusingTakenName<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw isBrokenConstraint(error) ? errors.datasetExists(name) : error;
  }
}

function datasetFromRow(row: DatasetsTable): StoredDataset {
  return {
    id: row.dataset_id,
    userId: row.user_id,
    name: row.name,
    description: row.description,
    metadata: storedJsonOrNull(row.metadata),
    revision: row.revision,
    caseCount: row.case_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
