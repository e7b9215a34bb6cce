import { type Plan, planText, type Request, randomPlan, randomTurns } from './plan.js';
import type { Random } from './random.js';
import { type Mode, randomTeamPlan, teamModes } from './team-plan.js';

/** Something of the application that runs are asked of. */
export interface Target {
  readonly kind: 'agent' | 'team' | 'workflow';
  readonly id: string;
  /** Where its runs are. */
  readonly path: string;
}

/** What the step results of a completed run look like: names, and in brackets what is inside. */
export const workflowShapes: Readonly<Record<string, RegExp>> = {
  chain: /^one worker two$/,
  wide: /^begin both\[left right first second group\[c d\]\] end$/,
  rounds: /^rounds\[turn helper turn helper\] end$/,
  ways: /^paid\[(yes|no)\] way\[(a|b)\] wish\[(by-hand|by-agent)\] end$/,
  asked: /^sure form made looked\[look look\] end$/,
  shaky: /^retried mended timed end$/,
  outer: /^before inner desk after$/,
};

function target(kind: Target['kind'], id: string): Target {
  return { kind, id, path: `/${kind}s/${id}/runs` };
}

const agents = [target('agent', 'storm')];
const teams = teamModes.map((mode) => target('team', mode));
const workflows = Object.keys(workflowShapes).map((id) => target('workflow', id));

export const targets: readonly Target[] = [...agents, ...teams, ...workflows];

export function randomTarget(random: Random): Target {
  return random.pick(random.pick([agents, teams, workflows]));
}

export function randomRequest(random: Random, { kind, id }: Target, number: number): Request {
  const token = `#${number}`;
  if (kind === 'agent') return randomPlan(random, token);
  if (kind === 'team') return randomTeamPlan(random, id as Mode, token);
  const turns = randomTurns(random, 2);
  const plan: Plan = { token, turns, message: `${token} ${planText(turns)}` };
  return plan;
}
