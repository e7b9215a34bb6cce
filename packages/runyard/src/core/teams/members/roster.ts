import { ToolRefused } from '../../tools/call/tool-hooks.js';
import type { TeamMember } from '../settings.js';

/** The member that the leader means: by its id, or by a name that only one has. */
export function memberNamed(members: readonly TeamMember[], wanted: string): TeamMember {
  const byId = members.find(({ id }) => id === wanted);
  if (byId !== undefined) return byId;
  const [named, ...more] = members.filter(({ name }) => name.toLowerCase() === wanted.trim().toLowerCase());
  if (named !== undefined && more.length === 0) return named;
  throw new ToolRefused(`There is no member '${wanted}' in this team. Members:\n${membersText(members)}`);
}

/** Who the members are, as the leader reads it. */
export function membersText(members: readonly TeamMember[], indent = ''): string {
  return members.map((member) => memberText(member, indent)).join('\n');
}

function memberText(member: TeamMember, indent: string): string {
  const { id, name, kind, settings, members } = member;
  const lines = [`${indent}- ${id}${name === id ? '' : ` (${name})`}${kind === 'team' ? ', a team' : ''}`];
  const tell = (what: string, text: string | undefined) => {
    if (text) lines.push(`${indent}  ${what}: ${text}`);
  };
  tell('role', settings.role);
  tell('description', settings.description);
  if (members === undefined) tell('tools', [...member.tools.keys()].join(', '));
  else lines.push(`${indent}  its members:`, membersText(members, `${indent}    `));
  return lines.join('\n');
}
