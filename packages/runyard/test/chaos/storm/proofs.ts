import type { Body } from '../../support/service.js';
import type { Effect } from './effects.js';
import type { AskedRun, Ledger } from './ledger.js';
import {
  failure,
  lastWords,
  type Plan,
  plannedCalls,
  readPlan,
  type ToolFacts,
  toolFacts,
  toolOfCall,
} from './plan.js';
import { isFinal, sharedSessions } from './visit.js';
import { runsPath, type Wire } from './wire.js';

const pageSize = 200;
/** What a run says that was given up: it is final, and rare, because processes live longer than a step takes. */
const tooOften = /^The run was interrupted \d+ times without getting on/;

/** Holds what the clients were told, and what the tools did, against what the service has stored. */
export async function proveRuns(wire: Wire, ledger: Ledger): Promise<void> {
  const listed = await allRuns(wire, ledger);
  for (const runId of ledger.acknowledged) {
    if (!listed.has(runId)) ledger.violation(`run ${runId} was acknowledged and is in no list`);
  }
  for (const asked of ledger.asked.values()) proveOneRun(asked, listed, ledger);
  await proveSessions(wire, listed, ledger);
  const effects = groupedByRun(ledger.effects.all());
  for (const runId of listed.keys()) {
    const run = await wire.run(runId);
    if (run === undefined) ledger.violation(`run ${runId} is in a list and is not there`);
    else {
      proveEnd(run, ledger);
      proveEffects(run, effects.get(runId) ?? [], ledger);
      proveCancelled(run, effects.get(runId) ?? [], ledger);
    }
    effects.delete(runId);
  }
  for (const [runId, lost] of effects) proveLostRun(runId, lost, ledger);
}

/** Every run of the agent from the pages of the list. */
export async function allRuns(wire: Wire, ledger: Ledger): Promise<Map<string, Body>> {
  const runs = new Map<string, Body>();
  for (let page = 1; ; page += 1) {
    const { body } = await wire.insist(`${runsPath}?limit=${pageSize}&page=${page}`);
    for (const run of body as Body[]) {
      if (runs.has(run.run_id)) ledger.violation(`run ${run.run_id} is in the list twice`);
      runs.set(run.run_id, run);
    }
    if (body.length < pageSize) return runs;
  }
}

/** The list of a session has the same runs. */
async function proveSessions(wire: Wire, listed: Map<string, Body>, ledger: Ledger): Promise<void> {
  for (const session of sharedSessions) {
    const { status, body } = await wire.insist(`${runsPath}?session_id=${session}`);
    const ids = status === 200 ? body.map(({ run_id }: Body) => run_id) : [];
    for (const id of ids)
      if (!listed.has(id)) ledger.violation(`run ${id} is only in the list of ${session}`);
    if (new Set(ids).size !== ids.length) ledger.violation(`the list of ${session} has a run twice`);
    for (const [runId, named] of ledger.sessions) {
      if (named === session && !ids.includes(runId))
        ledger.violation(`run ${runId} of ${session} is not in its list`);
    }
  }
}

/** However often it was asked for and whatever broke: one request is one run, or none if nobody was told of one. */
function proveOneRun({ plan, keyed, runIds }: AskedRun, listed: Map<string, Body>, ledger: Ledger): void {
  const made = [...listed.values()].filter((run) => run.run_input === plan.message && !isCopy(run));
  if (made.length > 1 || runIds.size > 1)
    ledger.violation(`${plan.message} became ${made.length} runs, and its clients were told ${[...runIds]}`);
  if (keyed && made.length === 0)
    ledger.violation(`${plan.message} was asked for with a key and is not there`);
}

/** A run that nobody was told of may be gone with its process, but only as long as it did no harm. */
function proveLostRun(runId: string, effects: readonly Effect[], ledger: Ledger): void {
  const harm = effects.find(({ call }) => toolFacts[toolOfCall(call)].policy !== 'retry');
  if (harm !== undefined) ledger.violation(`${harm.call} was executed for run ${runId}, which is not there`);
}

function proveEnd(run: Body, ledger: Ledger): void {
  const { run_id: runId, status, content } = run;
  const plan = readPlan(run.input.input_content);
  if (!isFinal(status)) ledger.violation(`run ${runId} is ${status}: ${plan.message}`);
  if (status === 'error' && tooOften.test(content)) ledger.count('interrupted too often');
  else if (status === 'error') ledger.violation(`run ${runId} failed: ${JSON.stringify(content)}`);
  if (status !== 'completed' && status !== 'regenerated') return;
  if (content !== lastWords(plan))
    ledger.violation(`run ${runId} (${plan.message}) ended with ${JSON.stringify(content)}`);
  const roles = run.messages.map(({ role }: Body) => role).join(' ');
  if (roles !== conversationOf(plan)) ledger.violation(`run ${runId} (${plan.message}) is told as: ${roles}`);
  const calls = (run.tools ?? []).map((tool: Body) => tool.tool_call_id).sort();
  if (calls.join() !== plannedCalls(plan).sort().join())
    ledger.violation(`run ${runId} (${plan.message}) lists the calls ${calls}`);
}

/** Who speaks in a run that went through its whole plan, whatever interrupted it. */
function conversationOf({ turns }: Plan): string {
  const said = turns.flatMap((calls) =>
    calls[0] === failure ? ['user'] : ['assistant', ...calls.map(() => 'tool')],
  );
  return ['user', ...said, 'assistant'].join(' ');
}

function isCopy(run: Body): boolean {
  return !!run.forked_from_run_id || !!run.regenerated_from;
}

function groupedByRun(effects: readonly Effect[]): Map<string, Effect[]> {
  const groups = new Map<string, Effect[]>();
  for (const effect of effects) groups.set(effect.run, [...(groups.get(effect.run) ?? []), effect]);
  return groups;
}

/** What must not happen twice, or not without a person, did not. */
function proveEffects(run: Body, effects: readonly Effect[], ledger: Ledger): void {
  const { run_id: runId } = run;
  if (isCopy(run) && effects.length > 0)
    ledger.violation(`run ${runId} is a copy and executed ${effects[0]!.call} again`);
  for (const call of new Set(effects.map((effect) => effect.call))) {
    const begun = effects.filter((effect) => effect.call === call && effect.phase === 'begin');
    const { policy, gate }: ToolFacts = toolFacts[toolOfCall(call)];
    const goAhead = ledger.goAheads.get(`${runId} ${call}`);
    const allowed = (gate === null ? 1 : 0) + (goAhead?.questions.size ?? 0);
    if (policy !== 'retry' && begun.length > allowed)
      ledger.violation(
        `run ${runId}: ${call} was executed ${begun.length} times, and ${allowed} were allowed`,
      );
    if (gate !== null && goAhead !== undefined && begun[0]!.position < goAhead.position)
      ledger.violation(`run ${runId}: ${call} was executed before anybody agreed`);
    if (new Set(begun.map(({ key }) => key)).size > 1)
      ledger.violation(`run ${runId}: ${call} had more than one idempotency key`);
  }
  // what a copy tells about happened in the run that it was made from
  if (isCopy(run)) return;
  for (const tool of (run.tools ?? []) as Body[]) proveResult(runId, tool, effects, ledger);
}

/** A call that is told to have succeeded has happened. */
function proveResult(runId: string, tool: Body, effects: readonly Effect[], ledger: Ledger): void {
  const { tool_call_id: call, result } = tool;
  if (result !== `${tool.tool_name} did it`) return;
  if (!effects.some((effect) => effect.call === call && effect.phase === 'effect'))
    ledger.violation(`run ${runId}: ${call} is told to have happened and did not`);
}

/** Once its end is acknowledged, a cancelled run stays as it is and does nothing. */
function proveCancelled(run: Body, effects: readonly Effect[], ledger: Ledger): void {
  const cancelled = ledger.cancelled.get(run.run_id);
  if (cancelled === undefined) return;
  const { status, position } = cancelled;
  const plan = readPlan(run.input.input_content);
  // a failed run has ended: cancelling does nothing to it, and whoever lets it go on may
  const mayHaveFailed = plan.turns.some(([call]) => call === failure);
  const underWay = status === 'pending' || status === 'running';
  // one that was cancelled before it existed is cancelled when it comes, and one that waits has nothing to end first
  const hasToEnd =
    status === 'gone' || (!mayHaveFailed && (status === 'paused' || (underWay && ledger.processes === 1)));
  const expected = hasToEnd ? 'cancelled' : status;
  const isKnown = expected === 'cancelled' || expected === 'completed';
  const replaced = expected === 'completed' && run.status === 'regenerated';
  if (isKnown && run.status !== expected && !replaced)
    ledger.violation(
      `run ${run.run_id} (${plan.message}) was ${status} after it was cancelled, and is ${run.status} now`,
    );
  const later = effects.find((effect) => effect.position >= position);
  if (isKnown && later !== undefined)
    ledger.violation(
      `run ${run.run_id} was ${status} after it was cancelled, and then executed ${later.call}`,
    );
}
