import { isJsonObject, type JsonObject } from '../../json.js';
import { shown } from '../../options/faults.js';
import { name, objectOf, required, word } from '../../options/kinds.js';
import type { TeamMember } from '../../teams/settings.js';
import { type ConfigValue, listValue } from '../config-keys.js';
import type { Reading } from '../reading.js';

const mostMembers = 100;

const agentMember = objectOf<{ type: string; agent_id: string }>({
  type: required(word('agent')),
  agent_id: required(name),
});
const teamMember = objectOf<{ type: string; team_id: string }>({
  type: required(word('team')),
  team_id: required(name),
});

/** `{ "type": "agent", "agent_id": … }` or `{ "type": "team", "team_id": … }` */
const member = {
  read: (value, at) => {
    if (!isJsonObject(value)) return at.fault(`is ${shown(value)}. Give { "type": "agent", "agent_id": … }.`);
    const kind = value.type === 'team' ? 'team' : 'agent';
    if (at.checked(kind === 'team' ? teamMember : agentMember, value) === undefined) return undefined;
    const id = String(value[`${kind}_id`]);
    return at.component({ kind, id, linkKind: 'member', linkKey: `member_${positionIn(at)}` });
  },
  write: (setting): JsonObject => {
    // the setting holds members only
    const { kind, id } = setting as TeamMember;
    return { type: kind, [`${kind}_id`]: id };
  },
} satisfies ConfigValue;

export const members: ConfigValue = listValue(member, mostMembers);

/** Its place in the list, by which a link names it. */
function positionIn({ path }: Reading): string {
  return /\[(\d+)\]$/.exec(path)?.[1] ?? '0';
}
