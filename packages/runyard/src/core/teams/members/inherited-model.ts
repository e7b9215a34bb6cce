import type { OfRun } from '../../agents/context/run-values.js';
import type { TeamMember, TeamSettings } from '../settings.js';

/** The members that a setting names; none where a function chooses them for each run. */
export function namedMembers(members: OfRun<readonly TeamMember[]>): readonly TeamMember[] {
  return typeof members === 'function' ? [] : members;
}

/** The same. Those without a model take that of the team, and the members of nested teams in turn. */
export function withModelOf({ members, model }: TeamSettings): readonly TeamMember[] {
  const named = namedMembers(members);
  if (model === undefined || typeof model === 'function') return [...named];
  return named.map((member) => (member.settings.model === undefined ? member.with({ model }) : member));
}
