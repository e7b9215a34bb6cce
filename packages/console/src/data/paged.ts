import type { PageMeta } from '@runyard/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useConnection } from '../connection/use-connection.js';

interface Page<T> {
  readonly data: readonly T[];
  readonly meta: PageMeta;
}

export interface PagedList<T> {
  readonly rows: readonly T[] | undefined;
  readonly meta: PageMeta | undefined;
  readonly page: number;
  setPage(page: number): void;
  readonly isPending: boolean;
  /** While another page is loaded, the last one stays. */
  readonly isStale: boolean;
  readonly error: unknown;
  reload(): void;
}

export interface PagedOptions<T> {
  /** What the list depends on, such as filters. A change shows the first page again. */
  readonly key: readonly unknown[];
  load(page: { readonly page: number; readonly limit: number }, signal: AbortSignal): Promise<Page<T>>;
  readonly limit?: number;
  /** Loads again after this time, for lists that change by themselves. */
  readonly refetchMs?: number;
}

/** A list of the service with pages. */
export function usePaged<T>({ key, load, limit = 25, refetchMs }: PagedOptions<T>): PagedList<T> {
  const { address } = useConnection();
  const filters = JSON.stringify(key);
  const [chosen, choose] = useState({ filters, page: 1 });
  const page = chosen.filters === filters ? chosen.page : 1;
  const query = useQuery({
    queryKey: [...key, address, { page, limit }],
    queryFn: ({ signal }) => load({ page, limit }, signal),
    placeholderData: keepPreviousData,
    ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
  });
  // the rows of the last page may have been deleted
  const last = query.isPlaceholderData ? undefined : query.data?.meta.total_pages;
  useEffect(() => {
    if (last !== undefined && page > Math.max(1, last)) choose({ filters, page: Math.max(1, last) });
  }, [filters, last, page]);
  return {
    rows: query.data?.data,
    meta: query.data?.meta,
    page,
    setPage: (next) => choose({ filters, page: next }),
    isPending: query.isPending,
    isStale: query.isPlaceholderData,
    error: query.error ?? undefined,
    reload: () => void query.refetch(),
  };
}
