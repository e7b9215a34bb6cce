import { ApiError, ForbiddenError, NetworkError, NotFoundError, RunyardError } from '@runyard/client';
import CircleAlert from 'lucide-react/icons/circle-alert';
import type { ReactNode } from 'react';
import { Button } from './button.js';
import { cx } from './class-names.js';

export interface EmptyStateProps {
  readonly title: string;
  /** What to do so that something appears here. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-12 text-center">
      <p className="font-medium">{title}</p>
      {children && <div className="max-w-prose text-muted">{children}</div>}
      {action}
    </div>
  );
}

/** What went wrong, as the service says it. */
export function ErrorState({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { title, detail, facts } = explained(error);
  return (
    <div role="alert" className="flex flex-col items-center gap-2 px-4 py-10 text-center">
      <CircleAlert aria-hidden className="size-5 text-danger" />
      <p className="font-medium">{title}</p>
      <p className="max-w-prose min-w-0 text-muted [overflow-wrap:anywhere]">{detail}</p>
      {facts.length > 0 && (
        <p className="font-mono text-xs text-muted [overflow-wrap:anywhere]">{facts.join(' · ')}</p>
      )}
      {onRetry && <Button onClick={onRetry}>Retry</Button>}
    </div>
  );
}

/** The same in one line, for forms. */
export function ErrorLine({ error }: { readonly error: unknown }) {
  const { detail, facts } = explained(error);
  return (
    <p role="alert" className="text-danger [overflow-wrap:anywhere]">
      {detail} {facts.length > 0 && <span className="font-mono text-xs">({facts.join(' · ')})</span>}
    </p>
  );
}

interface Explained {
  readonly title: string;
  readonly detail: string;
  readonly facts: readonly string[];
}

export function explained(error: unknown): Explained {
  if (error instanceof ApiError) {
    const { detail, errorCode, requestId, status } = error;
    const facts = [`${status} ${errorCode}`, ...(requestId ? [`request ${requestId}`] : [])];
    const title =
      error instanceof ForbiddenError
        ? 'Your token does not allow this'
        : error instanceof NotFoundError
          ? 'The service does not have this'
          : 'The service refused this';
    return { title: status >= 500 ? 'The service failed' : title, detail, facts };
  }
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof NetworkError)
    return { title: 'The service did not respond', detail: `${detail}. Is it running?`, facts: [] };
  // such as a page of a proxy, or the answer of another version: the client or the page could not read it
  if (error instanceof RunyardError || error instanceof TypeError)
    return {
      title: 'The console does not understand the answer',
      detail: 'Is this the address of a Runyard service of the same version? See Settings.',
      facts: [detail],
    };
  return { title: 'Something failed in the console', detail, facts: [] };
}

/** Stands where content will be. */
export function Skeleton({ className }: { readonly className?: string }) {
  return <div aria-hidden className={cx('animate-pulse rounded bg-hover', className ?? 'h-4 w-full')} />;
}
