import type { RegistryEntry } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import { Badge } from '../../ui/badge.js';
import type { JsonObject } from '../../ui/forms/json-text.js';
import { Checkbox } from '../../ui/forms/toggles.js';
import { explained } from '../../ui/states.js';

export interface PickFieldProps {
  readonly kind: 'tools' | 'knowledge';
  readonly label: string;
  readonly value: unknown;
  readonly error: string | undefined;
  onChange(value: unknown): void;
}

/** What of the registry a configuration uses. What is not registered here is kept, and shown as unknown. */
export function PickField({ kind, label, value, error, onChange }: PickFieldProps) {
  const { client, address } = useConnection();
  const type = kind === 'tools' ? 'tool' : 'knowledge';
  const registry = useQuery({
    queryKey: ['registry', address, type],
    staleTime: 30_000,
    queryFn: async ({ signal }) =>
      (await client.components.listRegistry({ resource_type: type, limit: 100 }, { signal })).data,
  });
  const chosen = entriesIn(value);
  const names = new Set((registry.data ?? []).map(({ name }) => name));
  const give = (entries: readonly JsonObject[]) => onChange(entries.length === 0 ? undefined : entries);
  const toggle = (entry: RegistryEntry, on: boolean) =>
    give(on ? [...chosen, referenceTo(kind, entry)] : chosen.filter((one) => nameOf(one) !== entry.name));
  const unknown = chosen.filter((one) => !names.has(nameOf(one)));
  return (
    <fieldset className="min-w-0">
      <legend className="pb-1 text-xs font-medium">{label}</legend>
      <div className="grid grid-cols-1 gap-x-4 gap-y-1.5 sm:grid-cols-2">
        {(registry.data ?? []).map((entry) => (
          <Checkbox
            key={entry.name}
            label={
              <>
                {entry.name} {entry.metadata?.is_toolkit === true && <Badge>toolkit</Badge>}
                {entry.metadata?.requires_confirmation === true && <Badge tone="warning">asks first</Badge>}
              </>
            }
            hint={entry.description}
            checked={chosen.some((one) => nameOf(one) === entry.name)}
            onChange={(on) => toggle(entry, on)}
          />
        ))}
        {unknown.map((one) => (
          <Checkbox
            key={nameOf(one)}
            label={
              <>
                {nameOf(one)} <Badge tone={registry.data ? 'warning' : 'neutral'}>not registered</Badge>
              </>
            }
            checked
            onChange={() => give(chosen.filter((kept) => kept !== one))}
          />
        ))}
      </div>
      {registry.data?.length === 0 && unknown.length === 0 && (
        <p className="text-xs text-muted">
          {kind === 'tools' ? 'The code registers no tools.' : 'The code registers no knowledge bases.'}
        </p>
      )}
      {registry.error && <p className="text-xs text-muted">{explained(registry.error).detail}</p>}
      {error && (
        <p role="alert" className="text-xs text-danger">
          {error}
        </p>
      )}
    </fieldset>
  );
}

/** A list of references, or one alone. */
function entriesIn(value: unknown): readonly JsonObject[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'object' && one !== null);
}

function nameOf({ name, toolkit }: JsonObject): string {
  return String(name ?? toolkit ?? '');
}

function referenceTo(kind: PickFieldProps['kind'], { name, metadata }: RegistryEntry): JsonObject {
  if (kind === 'knowledge') return { name };
  if (metadata?.is_toolkit === true) return { toolkit: name };
  return { name, parameters: metadata?.parameters ?? {} };
}
