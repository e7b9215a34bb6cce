import type { NewServiceAccount, ServiceAccount } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import Plus from 'lucide-react/icons/plus';
import { useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { useSearchState } from '../../data/search-state.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { useNow } from '../../ui/format/clock.js';
import { Time } from '../../ui/format/time.js';
import { FilterBar } from '../../ui/forms/filter-bar.js';
import { Checkbox } from '../../ui/forms/toggles.js';
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.js';
import { toast } from '../../ui/overlay/toasts.js';
import { EmptyState } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';
import { NewAccountDialog } from './new-account-dialog.js';
import { SecretDialog } from './secret-dialog.js';

/** Identities for programs. The token of a new one is shown once. */
export function ServiceAccountsTab() {
  const { client } = useConnection();
  const may = useMay();
  const queries = useQueryClient();
  const [search, change] = useSearchState();
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<NewServiceAccount>();
  const [revoking, setRevoking] = useState<ServiceAccount>();
  const filters = { include_revoked: Boolean(search.revoked) };
  const list = usePaged<ServiceAccount>({
    key: ['service-accounts', filters],
    load: (page, signal) => client.serviceAccounts.list({ ...filters, ...page }, { signal }),
  });
  const columns: readonly Column<ServiceAccount>[] = [
    {
      id: 'name',
      header: 'Name',
      cell: ({ name, token_prefix }) => (
        <>
          <span className="font-medium">{name}</span>
          <code className="block text-xs text-muted">{token_prefix}…</code>
        </>
      ),
    },
    {
      id: 'scopes',
      header: 'Scopes',
      grow: true,
      cell: ({ scopes }) => (
        <span className="flex flex-wrap gap-1">
          {scopes.map(({ raw }) => (
            <Badge key={raw}>{raw}</Badge>
          ))}
        </span>
      ),
    },
    {
      id: 'used',
      header: 'Last used',
      hideBelow: 'md',
      cell: ({ last_used_at }) => <Time at={last_used_at} />,
    },
    { id: 'expires', header: 'Expires', hideBelow: 'sm', cell: (account) => <Expiry account={account} /> },
    {
      id: 'revoke',
      header: 'Revoke',
      headerHidden: true,
      cell: (account) =>
        account.revoked_at === null &&
        may('service_accounts:delete') && (
          <Button
            size="small"
            variant="danger"
            aria-label={`Revoke ${account.name}`}
            onClick={() => setRevoking(account)}
          >
            Revoke…
          </Button>
        ),
    },
  ];
  return (
    <>
      <FilterBar>
        <Checkbox
          label="Revoked ones too"
          checked={Boolean(search.revoked)}
          onChange={(checked) => change({ revoked: checked ? 'yes' : undefined })}
        />
        {may('service_accounts:write') && (
          <Button variant="primary" className="ml-auto" onClick={() => setCreating(true)}>
            <Plus aria-hidden className="size-4" />
            New service account
          </Button>
        )}
      </FilterBar>
      <PagedTable
        label="Service accounts"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="No service accounts yet">
            A service account lets a program call the service, with scopes of its own.
          </EmptyState>
        }
      />
      {creating && <NewAccountDialog onClose={() => setCreating(false)} onCreated={setCreated} />}
      {created && <SecretDialog account={created} onClose={() => setCreated(undefined)} />}
      <ConfirmDialog
        open={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        title={`Revoke ${revoking?.name}?`}
        action="Revoke"
        destructive
        onConfirm={async () => {
          await client.serviceAccounts.revoke(revoking?.id ?? '');
          await queries.invalidateQueries({ queryKey: ['service-accounts'] });
          toast({ title: `${revoking?.name} is revoked.` });
        }}
      >
        Programs that use its token are refused, within 30 seconds in all processes. This cannot be undone;
        the name becomes free.
      </ConfirmDialog>
    </>
  );
}

function Expiry({ account: { revoked_at, expires_at } }: { readonly account: ServiceAccount }) {
  const now = useNow();
  if (revoked_at !== null) return <Badge tone="danger">revoked</Badge>;
  if (expires_at === null) return <span className="text-muted">never</span>;
  return expires_at * 1_000 < now ? <Badge tone="danger">expired</Badge> : <Time at={expires_at} />;
}
