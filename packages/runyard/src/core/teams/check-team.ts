import { errors } from '../errors.js';
import type { Tool } from '../tools/tool.js';
import { type TeamMember, type TeamSettings, teamModes } from './settings.js';

/** How many teams can stand inside of each other. */
const deepestNesting = 10;

/** Refuses what cannot be the members of a team: everything else about it is told in their names. */
export function checkMembers(id: string, members: readonly TeamMember[] | undefined): void {
  const refuse = refusalOf(id);
  if (!Array.isArray(members) || members.length === 0)
    refuse('has no members. Give at least one: { members: [researcher] }.');
  for (const [position, member] of (members as readonly unknown[]).entries()) {
    const { kind, id: memberId, execute } = (member ?? {}) as Partial<Record<keyof TeamMember, unknown>>;
    if (typeof execute === 'function' && (kind === 'agent' || kind === 'team')) continue;
    const named = typeof memberId === 'string' ? `, '${memberId}',` : '';
    refuse(
      `has a member at position ${position + 1}${named} that is neither an agent nor a team. Make it with agent() or team().`,
    );
  }
}

/** Refuses a definition that cannot work, with what is wrong with it. */
export function checkTeam(id: string, settings: TeamSettings, tools: ReadonlyMap<string, Tool>): void {
  const refuse = refusalOf(id);
  const { members, mode } = settings;
  if (mode !== undefined && !teamModes.includes(mode))
    refuse(`has the mode '${String(mode)}'. There are: ${teamModes.join(', ')}.`);
  checkIds(members, tools, refuse);
  if (members.some((member) => contains(member, id)))
    refuse(`contains itself: there is a team '${id}' among its members.`);
  const levels = 1 + Math.max(...members.map(levelsOf));
  if (levels > deepestNesting)
    refuse(`is a nesting of ${levels} teams. At most ${deepestNesting} can stand inside of each other.`);
  checkDatabases(settings, refuse);
  for (const name of ['maxDelegations', 'maxParallelMembers', 'maxIterations', 'numTeamHistoryRuns'] as const)
    checkCount(name, settings[name], refuse);
}

type Refuse = (text: string) => never;

function refusalOf(id: string): Refuse {
  return (text) => {
    throw errors.invalidConfig(`Team '${id}' ${text}`);
  };
}

function checkIds(members: readonly TeamMember[], tools: ReadonlyMap<string, Tool>, refuse: Refuse): void {
  const seen = new Set<string>();
  for (const { id } of members) {
    if (seen.has(id)) refuse(`has two members with the id '${id}'. Give one of them another id.`);
    if (tools.has(id)) refuse(`has a member with the id '${id}', which is the name of a tool of its leader.`);
    seen.add(id);
  }
}

/** Whether a team of this id is among the member and those inside of it. */
function contains(member: TeamMember, id: string): boolean {
  if (member.kind !== 'team') return false;
  return member.id === id || (member.members ?? []).some((inner) => contains(inner, id));
}

function levelsOf({ members }: TeamMember): number {
  return members === undefined ? 0 : 1 + Math.max(...members.map(levelsOf));
}

/** What a member does is part of the team's run, and stored with it. */
function checkDatabases({ members, database }: TeamSettings, refuse: Refuse): void {
  for (const member of members) {
    const other = member.settings.database;
    if (other === undefined || other === database) continue;
    const own = database === undefined ? 'none' : `'${database}'`;
    refuse(
      `has the member '${member.id}', which names the database '${other}', while the team names ${own}. What members do is stored with the team: name the same one.`,
    );
  }
}

function checkCount(name: string, count: number | undefined, refuse: Refuse): void {
  if (count === undefined || (Number.isInteger(count) && count > 0)) return;
  refuse(`has ${name}: ${count}. Give a whole number above 0.`);
}
