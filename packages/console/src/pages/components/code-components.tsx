import type { ComponentCopy, Kind, RunyardClient } from '@runyard/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import Copy from 'lucide-react/icons/copy';
import { useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { toast } from '../../ui/overlay/toasts.js';
import { EmptyState, explained } from '../../ui/states.js';
import { type Column, DataTable } from '../../ui/table/data-table.js';
import { CreateDialog } from './create-dialog.js';

interface CodeComponent {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly isFactory: boolean;
}

/** What the code defines: it can be read and copied, and changes with a deployment. */
export function CodeComponents({ mayCopy }: { readonly mayCopy: boolean }) {
  const { client, address } = useConnection();
  const [copied, setCopied] = useState<ComponentCopy>();
  const list = useQuery({
    queryKey: ['code-components', address],
    queryFn: ({ signal }) => codeComponents(client, signal),
  });
  const copy = useMutation({
    mutationFn: ({ kind, id }: CodeComponent) => client[`${kind}s`].getConfig(id),
    onSuccess: setCopied,
    onError: (error) => toast({ title: explained(error).detail, tone: 'danger' }),
  });
  const columns: readonly Column<CodeComponent>[] = [
    {
      id: 'name',
      header: 'Name',
      grow: true,
      cell: ({ name, description }) => (
        <>
          <span className="font-medium">{name}</span>
          {description && <span className="line-clamp-1 text-muted">{description}</span>}
        </>
      ),
    },
    { id: 'type', header: 'Type', cell: ({ kind }) => <Badge>{kind}</Badge> },
    {
      id: 'id',
      header: 'Id',
      hideBelow: 'sm',
      cell: ({ id }) => <code className="text-xs text-muted">{id}</code>,
    },
    {
      id: 'copy',
      header: 'Copy',
      headerHidden: true,
      cell: (row) =>
        mayCopy &&
        !row.isFactory && (
          <Button
            size="small"
            aria-label={`Copy ${row.name} into a component`}
            busy={copy.isPending && copy.variables.id === row.id}
            onClick={() => copy.mutate(row)}
          >
            <Copy aria-hidden className="size-3.5" />
            Copy
          </Button>
        ),
    },
  ];
  return (
    <>
      <p className="pb-3 text-muted">
        These are read-only. {mayCopy && 'A copy becomes a stored component that you can edit here.'}
      </p>
      <DataTable
        label="Components of the code"
        columns={columns}
        rows={list.data}
        rowKey={({ kind, id }) => `${kind}/${id}`}
        error={list.error}
        onRetry={() => void list.refetch()}
        empty={<EmptyState title="The code defines no components that you may see" />}
      />
      {copied && <CreateDialog copied={copied} onClose={() => setCopied(undefined)} />}
    </>
  );
}

async function codeComponents(client: RunyardClient, signal: AbortSignal): Promise<CodeComponent[]> {
  const found = await Promise.allSettled([
    client.agents.list({ signal }),
    client.teams.list({ signal }),
    client.workflows.list({ signal }),
  ]);
  const kinds: readonly Kind[] = ['agent', 'team', 'workflow'];
  // a caller may see some kinds and not others
  const [failed, ...others] = found.filter((result) => result.status === 'rejected');
  if (failed && others.length === found.length - 1) throw failed.reason;
  return found.flatMap((result, at) =>
    result.status === 'rejected'
      ? []
      : result.value
          .filter(({ is_component }) => !is_component)
          .map(({ id, name, description, is_factory }) => ({
            kind: kinds[at] ?? 'agent',
            id,
            name,
            description,
            isFactory: Boolean(is_factory),
          })),
  );
}
