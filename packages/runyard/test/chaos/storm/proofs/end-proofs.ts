import type { Body } from '../../../support/service.js';
import type { Ledger } from '../ledger.js';
import { failure, lastWords, type Plan, plannedCalls, readPlan } from '../plan.js';
import { messageOf, shapeOf } from '../run-bodies.js';
import { workflowShapes } from '../targets.js';
import { innerTeam, leaderTurns, type Mode, plannedMembers, readTeamPlan, routedPlan } from '../team-plan.js';
import { isFinal } from '../visit.js';

/** The error of a run that was given up: it is final, and rare, because processes live longer than a step takes. */
const tooOften = /^The run was interrupted \d+ times without getting on/;

/** A run has ended, and one that was not cancelled has done everything that was requested, in order. */
export function proveEnd(run: Body, ledger: Ledger): void {
  const { run_id: runId, status, content } = run;
  const { kind, id } = ledger.ownerOf(runId);
  if (!isFinal(status)) ledger.violation(`run ${runId} is ${status}: ${messageOf(run)}`);
  if (status === 'error' && tooOften.test(content)) ledger.count('interrupted too often');
  else if (status === 'error') ledger.violation(`run ${runId} failed: ${JSON.stringify(content)}`);
  if (status !== 'completed' && status !== 'regenerated') return;
  const faults = { agent: agentFaults, team: teamFaults, workflow: workflowFaults }[kind](run, id);
  for (const fault of faults) ledger.violation(`run ${runId} of ${id} (${messageOf(run)}): ${fault}`);
}

function agentFaults(run: Body, owner: string): string[] {
  const plan = readPlan(messageOf(run));
  const roles = run.messages.map(({ role }: Body) => role).join(' ');
  const calls = (run.tools ?? []).map((tool: Body) => tool.tool_call_id).sort();
  return [
    ...(run.content === lastWords(plan) ? [] : [`it ended with ${JSON.stringify(run.content)}`]),
    ...(roles === conversationOf(plan) ? [] : [`it lists the messages ${roles}`]),
    ...(calls.join() === plannedCalls(owner, plan).sort().join() ? [] : [`it lists the calls ${calls}`]),
  ];
}

/** Who speaks in a run that went through its whole plan, whatever interrupted it. */
function conversationOf({ turns }: Plan): string {
  const said = turns.flatMap((calls) =>
    calls[0] === failure ? ['user'] : ['assistant', ...calls.map(() => 'tool')],
  );
  return ['user', ...said, 'assistant'].join(' ');
}

/** Every member was asked once, in order, and did everything that was requested. */
function teamFaults(run: Body, id: string): string[] {
  const mode = (id === innerTeam ? 'coordinate' : id) as Mode;
  const plan = readTeamPlan(messageOf(run));
  const words = [lastWords({ ...plan, turns: leaderTurns(mode, plan) })];
  if (mode === 'route') words.push(lastWords(routedPlan(plan)));
  const asked = run.member_responses.map(nameOf).join();
  const planned = plannedMembers(mode, plan).map(({ to }) => to);
  return [
    ...(words.includes(run.content) ? [] : [`it ended with ${JSON.stringify(run.content)}`]),
    ...(asked === planned.join() ? [] : [`it asked ${asked} instead of ${planned}`]),
    ...run.member_responses.flatMap((member: Body) => executorFaults(member)),
  ];
}

/** All steps are there, in order, and their executors did everything that was requested. */
function workflowFaults(run: Body, id: string): string[] {
  const shape = shapeOf(run.step_results ?? []);
  const runs = (run.step_executor_runs ?? []) as Body[];
  return [
    ...(workflowShapes[id]!.test(shape) ? [] : [`its steps are ${shape}`]),
    ...runs.flatMap((inside) => executorFaults(inside)),
  ];
}

function executorFaults(run: Body): string[] {
  const name = nameOf(run);
  if (run.status !== 'completed') return [`${name} is ${run.status}: ${JSON.stringify(run.content)}`];
  const faults = run.agent_id ? agentFaults : run.team_id ? teamFaults : workflowFaults;
  return faults(run, name).map((fault) => `${name}: ${fault}`);
}

function nameOf(run: Body): string {
  return run.agent_id ?? run.team_id ?? run.workflow_id;
}
