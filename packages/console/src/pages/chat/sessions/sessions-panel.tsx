import type { Kind } from '@runyard/client';
import { useNavigate } from '@tanstack/react-router';
import Plus from 'lucide-react/icons/plus';
import { useMay } from '../../../connection/use-connection.js';
import { useComponents } from '../../../data/components.js';
import { Button } from '../../../ui/button.js';
import { Select } from '../../../ui/forms/inputs.js';
import { SessionList, type SessionListProps } from './session-list.js';

/** With whom one talks, and the conversations with them. */
export function SessionsPanel({
  onNew,
  ...list
}: SessionListProps & {
  onNew(): void;
}) {
  const may = useMay();
  return (
    <div className="flex h-full flex-col pt-3">
      <div className="flex flex-col gap-2 px-3 pb-2">
        <ComponentSelect kind={list.kind} componentId={list.componentId} />
        <Button onClick={onNew}>
          <Plus aria-hidden className="size-4" />
          New chat
        </Button>
      </div>
      {may('sessions:read') ? (
        <SessionList {...list} />
      ) : (
        <p className="px-4 py-2 text-xs text-muted">Your token does not allow you to list sessions.</p>
      )}
    </div>
  );
}

function ComponentSelect({ kind, componentId }: { readonly kind: Kind; readonly componentId: string }) {
  const { components } = useComponents();
  const navigate = useNavigate();
  const current = `${kind}/${componentId}`;
  const options = components.map((entry) => ({
    value: `${entry.kind}/${entry.id}`,
    label: `${entry.name} (${entry.kind})`,
  }));
  const isListed = options.some(({ value }) => value === current);
  return (
    <Select
      aria-label="Agent, team or workflow"
      value={current}
      options={isListed ? options : [{ value: current, label: componentId }, ...options]}
      onChange={({ target }) => {
        const chosen = components.find((entry) => `${entry.kind}/${entry.id}` === target.value);
        if (chosen)
          void navigate({
            to: '/chat/$kind/$componentId',
            params: { kind: chosen.kind, componentId: chosen.id },
          });
      }}
    />
  );
}
