import { useParams } from '@tanstack/react-router';
import { useComponents } from '../../data/components.js';
import { Badge } from '../../ui/badge.js';
import { isJsonObject, type JsonObject } from '../../ui/forms/json-text.js';
import { Checkbox } from '../../ui/forms/toggles.js';

export interface MembersFieldProps {
  readonly label: string;
  readonly value: unknown;
  readonly error: string | undefined;
  onChange(value: unknown): void;
}

/** The agents and teams of a team, in the order in which they were chosen. */
export function MembersField({ label, value, error, onChange }: MembersFieldProps) {
  const { componentId } = useParams({ from: '/components/$componentId' });
  const { components } = useComponents();
  const chosen: readonly JsonObject[] = Array.isArray(value) ? value.filter(isJsonObject) : [];
  const candidates = components.filter(({ kind, id }) => kind !== 'workflow' && id !== componentId);
  const known = new Set(candidates.map(({ id }) => id));
  const unknown = chosen.filter((member) => !known.has(idOf(member)));
  const give = (members: readonly JsonObject[]) => onChange(members.length === 0 ? undefined : members);
  const without = (id: string) => chosen.filter((member) => idOf(member) !== id);
  return (
    <fieldset className="min-w-0">
      <legend className="pb-1 text-xs font-medium">{label}</legend>
      <div className="grid grid-cols-1 gap-x-4 gap-y-1.5 sm:grid-cols-2">
        {candidates.map(({ kind, id, name }) => (
          <Checkbox
            key={`${kind}/${id}`}
            label={
              <>
                {name} <Badge>{kind}</Badge>
              </>
            }
            checked={chosen.some((member) => idOf(member) === id)}
            onChange={(on) => give(on ? [...chosen, { type: kind, [`${kind}_id`]: id }] : without(id))}
          />
        ))}
        {unknown.map((member) => (
          <Checkbox
            key={idOf(member)}
            label={
              <>
                {idOf(member)} <Badge tone="warning">not found</Badge>
              </>
            }
            checked
            onChange={() => give(without(idOf(member)))}
          />
        ))}
      </div>
      {error && (
        <p role="alert" className="text-xs text-danger">
          {error}
        </p>
      )}
    </fieldset>
  );
}

function idOf({ agent_id, team_id }: JsonObject): string {
  return String(agent_id ?? team_id ?? '');
}
