import { errors } from '../errors/errors.js';
import type { Tool } from '../tools/tool.js';
import { namedMembers } from './members/inherited-model.js';
import type { TeamMember, TeamSettings } from './settings.js';

/** How deep teams can be nested. */
const deepestNesting = 10;

/** Refuses a definition that cannot work, with what is wrong with it. */
export function checkTeam(id: string, settings: TeamSettings, tools: ReadonlyMap<string, Tool>): void {
  const refuse = refusalOf(id);
  const members = namedMembers(settings.members);
  checkIds(members, tools, refuse);
  if (members.some((member) => contains(member, id)))
    refuse(`contains itself: there is a team '${id}' among its members.`);
  const levels = 1 + Math.max(...members.map(levelsOf));
  if (levels > deepestNesting)
    refuse(`nests teams ${levels} levels deep. At most ${deepestNesting} levels are allowed.`);
  checkDatabases(settings.database, members, refuse);
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

/** Whether a team of this id is the member or nested in it. */
function contains(member: TeamMember, id: string): boolean {
  if (member.kind !== 'team') return false;
  return member.id === id || (member.members ?? []).some((inner) => contains(inner, id));
}

function levelsOf({ members }: TeamMember): number {
  return members === undefined ? 0 : 1 + Math.max(...members.map(levelsOf));
}

/** What a member does is part of the team's run, and stored with it. */
function checkDatabases(database: string | undefined, members: readonly TeamMember[], refuse: Refuse): void {
  for (const member of members) {
    const other = member.settings.database;
    if (other === undefined || other === database) continue;
    const own = database === undefined ? 'none' : `'${database}'`;
    refuse(
      `has the member '${member.id}', which names the database '${other}', while the team names ${own}. What members do is stored with the team: name the same one.`,
    );
  }
}
