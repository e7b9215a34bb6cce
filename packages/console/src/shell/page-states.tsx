import { useQueryClient } from '@tanstack/react-query';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { Link } from '../ui/link.js';
import { Page, PageHeader } from '../ui/page-header.js';
import { ErrorState, Skeleton } from '../ui/states.js';

export function PagePending() {
  return (
    <Page>
      <Skeleton className="mb-6 h-6 w-48" />
      <Skeleton className="h-40 w-full" />
    </Page>
  );
}

export function PageFailed({ error, reset }: ErrorComponentProps) {
  const queries = useQueryClient();
  const retry = () => {
    // what it failed with is loaded again
    void queries.resetQueries();
    reset();
  };
  return (
    <Page>
      <PageHeader title="This page failed" />
      <ErrorState error={error} onRetry={retry} />
    </Page>
  );
}

export function NotFoundPage() {
  return (
    <Page>
      <PageHeader title="There is no page at this address" description={<Link to="/">Open the chat</Link>} />
    </Page>
  );
}
