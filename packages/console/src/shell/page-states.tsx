import type { ErrorComponentProps } from '@tanstack/react-router';
import { Link } from '../ui/link.js';
import { Page } from '../ui/page-header.js';
import { EmptyState, ErrorState, Skeleton } from '../ui/states.js';

export function PagePending() {
  return (
    <Page>
      <Skeleton className="mb-6 h-6 w-48" />
      <Skeleton className="h-40 w-full" />
    </Page>
  );
}

export function PageFailed({ error, reset }: ErrorComponentProps) {
  return (
    <Page>
      <ErrorState error={error} onRetry={reset} />
    </Page>
  );
}

export function NotFoundPage() {
  return (
    <Page>
      <EmptyState title="There is no page at this address" action={<Link to="/">Open the chat</Link>} />
    </Page>
  );
}
