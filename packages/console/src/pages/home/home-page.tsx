import { Navigate } from '@tanstack/react-router';
import { stored } from '../../connection/storage.js';
import { useComponents } from '../../data/components.js';
import { Page, useTitle } from '../../ui/page-header.js';
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.js';

/** Opens the chat that was used last, or else the chat with the first component. */
export function HomePage() {
  useTitle('Chat');
  const { components, isPending, error, reload } = useComponents();
  const last = components.find(({ kind, id }) => `${kind}/${id}` === stored('local', 'chat'));
  const chosen = last ?? components[0];
  if (chosen && (last || !isPending))
    return (
      <Navigate
        to="/chat/$kind/$componentId"
        params={{ kind: chosen.kind, componentId: chosen.id }}
        replace
      />
    );
  return (
    <Page>
      {isPending && <Skeleton className="h-40" />}
      {error !== undefined && <ErrorState error={error} onRetry={reload} />}
      {!isPending && error === undefined && (
        <EmptyState title="There is nothing to talk to yet">
          The service has no agents, teams or workflows that your token allows you to see. Register one in the
          code of the service, or create one under Components.
        </EmptyState>
      )}
    </Page>
  );
}
