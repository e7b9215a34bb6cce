import type { PageMeta } from '@runyard/client';
import { DataTable, type DataTableProps } from './data-table.js';
import { Pagination } from './pagination.js';

export interface PagedTableProps<T>
  extends Omit<DataTableProps<T>, 'rows' | 'error' | 'onRetry' | 'isStale'> {
  /** What `usePaged` returns. */
  readonly list: {
    readonly rows: readonly T[] | undefined;
    readonly meta: PageMeta | undefined;
    readonly isStale: boolean;
    readonly error: unknown;
    setPage(page: number): void;
    reload(): void;
  };
}

/** A list of the service with its pages. */
export function PagedTable<T>({ list, ...table }: PagedTableProps<T>) {
  const { rows, meta, isStale, error, setPage, reload } = list;
  return (
    <>
      <DataTable {...table} rows={rows} error={error} isStale={isStale} onRetry={reload} />
      <Pagination meta={meta} onPage={setPage} />
    </>
  );
}
