import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorState, Skeleton } from '../ui/states.js';

/** Shows what a query has loaded, that it is being loaded, or why it failed. */
export function Loaded<T>({
  query,
  header,
  children,
}: {
  readonly query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  /** Of a page whose title is what is loaded: stands there until then. */
  readonly header?: ReactNode;
  children(data: T): ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  return (
    <>
      {header}
      {query.error ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <div aria-busy className="flex flex-col gap-3">
          <Skeleton className="h-5 w-56 max-w-full" />
          <Skeleton className="h-32" />
        </div>
      )}
    </>
  );
}
