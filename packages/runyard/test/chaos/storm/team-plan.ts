import { type Plan, planText, type Request, randomTurns, readPlan } from './plan.js';
import type { Random } from './random.js';

export const teamModes = ['coordinate', 'route', 'broadcast', 'tasks'] as const;

export type Mode = (typeof teamModes)[number];

/** The agents of every team, in order. */
export const members = ['ada', 'bob', 'cleo'] as const;
/** The team that is a member of the coordinating team. */
export const innerTeam = 'crew';

/** What a leader or member of a team is asked to do: in the words of a plan, or of a team's plan. */
export interface Delegation {
  readonly to: string;
  readonly plan: string;
}

/** What a team is asked to do: whom the leader asks in each turn. It follows from the message alone. */
export interface TeamPlan extends Request {
  readonly turns: readonly (readonly Delegation[])[];
}

export function randomTeamPlan(random: Random, mode: Mode, token: string): TeamPlan {
  const count =
    mode === 'coordinate' ? random.between(0, 2) : mode === 'broadcast' ? random.between(0, 1) : 1;
  const turns = Array.from({ length: count }, () => {
    const asked = mode === 'route' || mode === 'broadcast' ? 1 : random.between(1, 3);
    return Array.from({ length: asked }, () => randomDelegation(random, mode));
  });
  return { token, turns, message: `${token} team: ${JSON.stringify(turns)}` };
}

function randomDelegation(random: Random, mode: Mode): Delegation {
  if (mode === 'coordinate' && random.chance(0.2)) {
    const inner = [[randomDelegation(random, 'route'), randomDelegation(random, 'route')]];
    return { to: innerTeam, plan: `team: ${JSON.stringify(inner)}` };
  }
  return { to: random.pick(members), plan: planText(randomTurns(random, 2)) };
}

/** A team that is given the plan of an agent hands it to its first member. */
export function readTeamPlan(message: string): TeamPlan {
  const [, token, text] = /^(#[\d.]+) team: (.*)$/m.exec(message) ?? [];
  if (token !== undefined && text !== undefined) return { token, turns: JSON.parse(text), message };
  const plan = readPlan(message);
  return { token: plan.token, turns: [[{ to: members[0], plan: planText(plan.turns) }]], message };
}

function taskText({ token }: Request, turn: number, position: number, plan: string): string {
  return `${token}.${turn}.${position} ${plan}`;
}

/** The calls of the leader's turns. */
export function leaderTurns(mode: Mode, plan: TeamPlan): { name: string; args: object }[][] {
  const { turns } = plan;
  if (mode === 'tasks') {
    const tasks = turns.flat();
    const titles = tasks.map((_, position) => `Task ${position}`);
    return [
      tasks.map(({ to, plan: text }, position) => ({
        name: 'create_task',
        args: { title: titles[position], description: taskText(plan, 0, position, text), assignee: to },
      })),
      [{ name: 'execute_tasks_parallel', args: { task_ids: titles } }],
      [{ name: 'mark_all_complete', args: { summary: 'All is done' } }],
    ];
  }
  return turns.map((asked, turn) =>
    asked.map(({ to, plan: text }, position) => {
      const task = taskText(plan, turn, position, text);
      return mode === 'broadcast'
        ? { name: 'delegate_task_to_members', args: { task } }
        : { name: 'delegate_task_to_member', args: { member_id: to, task } };
    }),
  );
}

/** Whom a team asks what, in order. */
export function plannedMembers(mode: Mode, plan: TeamPlan): { to: string; task: string }[] {
  return plan.turns.flatMap((asked, turn) =>
    asked.flatMap(({ to, plan: text }, position) => {
      const task = taskText(plan, turn, position, text);
      return mode === 'broadcast' ? members.map((member) => ({ to: member, task })) : [{ to, task }];
    }),
  );
}

/** The plan of the member who was routed to. */
export function routedPlan(plan: TeamPlan): Plan {
  return readPlan(taskText(plan, 0, 0, plan.turns[0]![0]!.plan));
}
