import { errors } from '../../core/errors/errors.js';
import { datasetBounds } from '../../core/evals/datasets/given-case.js';
import type { EvalCase } from '../../core/evals/eval-case.js';
import type { DataScope } from '../../platform/auth/caller.js';
import {
  type Database,
  type RunStatement,
  type SqlValue,
  statement,
} from '../../platform/storage/database.js';
import { andWithin, ownerParameters } from '../../platform/storage/scope.js';
import { storedJson } from '../../platform/storage/text.js';
import type { StoredCase, Written } from './stored-dataset.js';
import type { DatasetCasesTable } from './tables.js';

/** Runs a statement that is written with `?` placeholders. */
type Run = <Row>(sql: string, parameters: readonly SqlValue[]) => Promise<Row[]>;

interface Held {
  readonly revision: number;
  readonly case_count: number;
  readonly bytes: number;
  readonly last_position: number;
}

const readPiece = statement(
  'read_dataset_cases',
  'SELECT * FROM dataset_cases WHERE dataset_id = ? AND position > ? ORDER BY position LIMIT ?',
);

const readPage = statement(
  'read_dataset_page',
  'SELECT * FROM dataset_cases WHERE dataset_id = ? ORDER BY position LIMIT ? OFFSET ?',
);

const pieceSize = 500;
/** Rows of one statement. */
const writtenAtOnce = 100;

/**
 * The cases of datasets. Each write is one transaction that begins with the row of the dataset: another writer waits, so
 * that revisions, counts and positions are right.
 */
export class CaseStore {
  constructor(private readonly database: Database) {}

  /** A page of the cases of a dataset that the caller was shown before. */
  async page(datasetId: string, limit: number, offset: number): Promise<StoredCase[]> {
    const rows = await this.database.read<DatasetCasesTable>(readPage, [datasetId, limit, offset]);
    return rows.map(caseFromRow);
  }

  /** All cases of such a dataset, in their order. */
  async *all(datasetId: string): AsyncGenerator<StoredCase> {
    for (let last = 0; ; ) {
      const rows = await this.database.read<DatasetCasesTable>(readPiece, [datasetId, last, pieceSize]);
      for (const row of rows) yield caseFromRow(row);
      last = rows.at(-1)?.position ?? last;
      if (rows.length < pieceSize) return;
    }
  }

  /** Adds cases, and puts those with a known id in the place of the stored ones; or in the place of all. */
  write(
    scope: DataScope,
    datasetId: string,
    cases: readonly EvalCase[],
    now: number,
    replacesAll = false,
  ): Promise<Written> {
    return this.changing(scope, datasetId, now, async (run, held) => {
      if (replacesAll) await run('DELETE FROM dataset_cases WHERE dataset_id = ?', [datasetId]);
      const rows = cases.map((one) => rowOf(one));
      const known = replacesAll
        ? []
        : await run<{ case_id: string; bytes: number }>(
            `SELECT case_id, bytes FROM dataset_cases WHERE dataset_id = ? AND ${this.inList('case_id')}`,
            [datasetId, rows.map(({ case_id }) => case_id)],
          );
      const kept = replacesAll ? { case_count: 0, bytes: 0 } : held;
      const added = rows.length - known.length;
      const bytes = kept.bytes + sumOf(rows) - sumOf(known);
      const isKnown = new Set(known.map(({ case_id }) => case_id));
      let position = held.last_position;
      const placed = rows.map((row) => ({ ...row, position: isKnown.has(row.case_id) ? 0 : ++position }));
      await this.upsert(run, datasetId, placed, now);
      return {
        count: kept.case_count + added,
        bytes,
        position,
        written: { added, updated: known.length, removed: replacesAll ? held.case_count : 0 },
      };
    });
  }

  /** Changes a case. Throws when there is no such one. */
  async change(
    scope: DataScope,
    datasetId: string,
    caseId: string,
    now: number,
    changed: (old: EvalCase) => EvalCase,
  ): Promise<StoredCase> {
    let result: StoredCase | undefined;
    await this.changing(scope, datasetId, now, async (run, held) => {
      const [row] = await run<DatasetCasesTable>(
        'SELECT * FROM dataset_cases WHERE dataset_id = ? AND case_id = ?',
        [datasetId, caseId],
      );
      if (row === undefined) throw errors.datasetCaseNotFound(caseId);
      const next = rowOf(changed(caseFromRow(row).case));
      await this.upsert(run, datasetId, [{ ...next, position: 0 }], now);
      result = caseFromRow({ ...row, ...next, updated_at: now });
      const written = { added: 0, updated: 1, removed: 0 };
      const bytes = held.bytes + next.bytes - row.bytes;
      return { count: held.case_count, bytes, position: held.last_position, written };
    });
    // the change has set it, or thrown
    return result!;
  }

  /** Throws when there is no such case. */
  async remove(scope: DataScope, datasetId: string, caseId: string, now: number): Promise<void> {
    await this.changing(scope, datasetId, now, async (run, held) => {
      const [row] = await run<{ bytes: number }>(
        'DELETE FROM dataset_cases WHERE dataset_id = ? AND case_id = ? RETURNING bytes',
        [datasetId, caseId],
      );
      if (row === undefined) throw errors.datasetCaseNotFound(caseId);
      const written = { added: 0, updated: 0, removed: 1 };
      const bytes = held.bytes - row.bytes;
      return { count: held.case_count - 1, bytes, position: held.last_position, written };
    });
  }

  /** Makes a change to the cases of a dataset that the scope shows, and counts it. */
  private changing(
    scope: DataScope,
    datasetId: string,
    now: number,
    change: (
      run: Run,
      held: Held,
    ) => Promise<{
      readonly count: number;
      readonly bytes: number;
      readonly position: number;
      readonly written: Omit<Written, 'revision'>;
    }>,
  ): Promise<Written> {
    return this.transaction(async (run) => {
      const [held] = await run<Held>(
        `UPDATE datasets SET revision = revision + 1, updated_at = ?
          WHERE dataset_id = ?${andWithin(scope, 'user_id')}
          RETURNING revision, case_count, bytes, last_position`,
        [now, datasetId, ...ownerParameters(scope)],
      );
      if (held === undefined) throw errors.datasetNotFound(datasetId);
      const { count, bytes, position, written } = await change(run, held);
      if (count > datasetBounds.cases)
        throw errors.payloadTooLarge('The number of cases of the dataset', String(datasetBounds.cases));
      if (bytes > datasetBounds.bytes)
        throw errors.payloadTooLarge('The dataset', `${datasetBounds.bytes} bytes`);
      await run('UPDATE datasets SET case_count = ?, bytes = ?, last_position = ? WHERE dataset_id = ?', [
        count,
        bytes,
        position,
        datasetId,
      ]);
      return { ...written, revision: held.revision };
    });
  }

  /** A case that is known keeps its place. */
  private async upsert(
    run: Run,
    datasetId: string,
    rows: readonly (CaseRow & { readonly position: number })[],
    now: number,
  ): Promise<void> {
    for (let start = 0; start < rows.length; start += writtenAtOnce) {
      const some = rows.slice(start, start + writtenAtOnce);
      await run(
        `INSERT INTO dataset_cases (dataset_id, case_id, position, content, bytes, created_at, updated_at)
          VALUES ${some.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}
          ON CONFLICT (dataset_id, case_id) DO UPDATE
          SET content = excluded.content, bytes = excluded.bytes, updated_at = excluded.updated_at`,
        some.flatMap((row) => [datasetId, row.case_id, row.position, row.content, row.bytes, now, now]),
      );
    }
  }

  private inList(column: string): string {
    return this.database.dialect === 'sqlite'
      ? `${column} IN (SELECT value FROM json_each(?))`
      : `${column} = ANY(?)`;
  }

  private transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const { dialect } = this.database;
    const translated = (run: RunStatement): Run => {
      return (sql, parameters) => run(statement('dataset_cases', sql)[dialect], parameters);
    };
    return this.database.transaction((run) => work(translated(run)));
  }
}

type CaseRow = Pick<DatasetCasesTable, 'case_id' | 'content' | 'bytes'>;

function rowOf({ id, ...content }: EvalCase): CaseRow {
  const text = JSON.stringify(content);
  return { case_id: id, content: text, bytes: Buffer.byteLength(text) };
}

function sumOf(rows: readonly { readonly bytes: number }[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

function caseFromRow(row: DatasetCasesTable): StoredCase {
  return {
    case: { id: row.case_id, ...storedJson<Omit<EvalCase, 'id'>>(row.content) },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
