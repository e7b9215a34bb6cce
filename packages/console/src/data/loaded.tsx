import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorState, Skeleton } from '../ui/states.js';

/** Shows what a query has loaded, that it is being loaded, or why it failed. */
export function Loaded<T>({
  query,
  children,
}: {
  readonly query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  children(data: T): ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <div aria-busy className="flex flex-col gap-3">
      <Skeleton className="h-5 w-56 max-w-full" />
      <Skeleton className="h-32" />
    </div>
  );
}
