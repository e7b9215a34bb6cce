import type { TeamMember, TeamSettings } from '../settings.js';

/** The members of a team. Those without a model take that of the team, and the members of nested teams in turn. */
export function withModelOf({ members, model }: TeamSettings): readonly TeamMember[] {
  if (model === undefined) return [...members];
  return members.map((member) => (member.model === null ? member.onModel(model) : member));
}
