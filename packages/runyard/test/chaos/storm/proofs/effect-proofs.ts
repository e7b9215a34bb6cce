import type { Body } from '../../../support/service.js';
import { type Effect, requestOfStep } from '../effects.js';
import type { Ledger } from '../ledger.js';
import { failure, readPlan, type ToolFacts, toolFacts, toolOfCall } from '../plan.js';
import { executionIn, isCopy, leavesOf, messageOf, withRunsInside } from '../run-bodies.js';

const isCall = (effect: Effect) => requestOfStep(effect) === undefined;

/** A run that no client knows of may be lost with its process, but only if it had no effects. */
export function proveLostRun(runId: string, effects: readonly Effect[], ledger: Ledger): void {
  const harm = effects.filter(isCall).find(({ call }) => toolFacts[toolOfCall(call)].policy !== 'retry');
  if (harm !== undefined) ledger.violation(`${harm.call} was executed for run ${runId}, which is not there`);
}

/** What must not happen twice, or not without a person, did not: neither in the run nor in its nested runs. */
export function proveCalls(run: Body, effects: readonly Effect[], ledger: Ledger): void {
  const { run_id: runId } = run;
  const calls = effects.filter(isCall);
  if (isCopy(run) && calls.length > 0)
    ledger.violation(`run ${runId} is a copy and executed ${calls[0]!.call} again`);
  for (const name of new Set(calls.map(nameOfCall)))
    proveCall(
      name,
      calls.filter((effect) => nameOfCall(effect) === name),
      ledger,
    );
  // what a copy reports happened in the run that it was made from
  if (isCopy(run)) return;
  for (const inside of withRunsInside(run)) {
    for (const tool of (inside.tools ?? []) as Body[]) proveResult(inside.run_id, tool, calls, ledger);
  }
}

/** Which call of which run, nested or not. */
function nameOfCall({ run, call }: Effect): string {
  return `${run} ${call}`;
}

function proveCall(name: string, effects: readonly Effect[], ledger: Ledger): void {
  const begun = effects.filter(({ phase }) => phase === 'begin');
  const { policy, gate }: ToolFacts = toolFacts[toolOfCall(name)];
  const goAhead = ledger.goAheads.get(name);
  const allowed = (gate === null ? 1 : 0) + (goAhead?.questions.size ?? 0);
  if (policy !== 'retry' && begun.length > allowed)
    ledger.violation(`${name} was executed ${begun.length} times, and ${allowed} were allowed`);
  if (gate !== null && goAhead !== undefined && begun[0]!.position < goAhead.position)
    ledger.violation(`${name} was executed before anybody agreed`);
  if (new Set(begun.map(({ key }) => key)).size > 1)
    ledger.violation(`${name} had more than one idempotency key`);
}

/** A call that is reported as successful has happened. */
function proveResult(runId: string, tool: Body, effects: readonly Effect[], ledger: Ledger): void {
  const { tool_call_id: call, result } = tool;
  if (result !== `${tool.tool_name} did it`) return;
  if (!effects.some((effect) => effect.run === runId && effect.call === call && effect.phase === 'effect'))
    ledger.violation(`run ${runId}: ${call} is reported to have happened and did not`);
}

/** Steps that must not begin without an answer. */
const gatedSteps = new Set(['sure', 'form', 'by-hand']);
/** Steps that fail, and are then tried again. */
const failingSteps = new Set(['retried', 'mended']);
/** Steps that are executed more than once, because they are in a loop or a person asked for another try. */
const repeatedSteps = new Set(['turn', 'look', 'made', ...failingSteps]);

/** A function that is a step is executed again only when its process died, under the same key. */
export function proveSteps(run: Body, effects: readonly Effect[], ledger: Ledger): void {
  const { run_id: runId } = run;
  const begun = effects.filter((effect) => !isCall(effect) && effect.phase === 'begin');
  for (const key of new Set(begun.map((effect) => effect.key))) {
    const { tool: name, position } = begun.find((effect) => effect.key === key)!;
    const pids = begun.filter((effect) => effect.key === key).map(({ pid }) => pid);
    // several processes may take a run from each other and back
    if (ledger.processes === 1 && !failingSteps.has(name) && new Set(pids).size < pids.length)
      ledger.violation(`run ${runId}: step ${name} was executed again by the same process (${key})`);
    const goAhead = ledger.goAheads.get(`${runId} step ${name}`);
    if (gatedSteps.has(name) && (goAhead === undefined || position < goAhead.position))
      ledger.violation(`run ${runId}: step ${name} was executed before anybody agreed`);
  }
  for (const name of new Set(begun.map(({ tool }) => tool))) {
    const keys = new Set(begun.filter(({ tool }) => tool === name).map(({ key }) => key));
    if (!repeatedSteps.has(name) && keys.size > 1)
      ledger.violation(`run ${runId}: step ${name} had the idempotency keys ${[...keys]}`);
  }
  for (const { step_name: name, content } of leavesOf(resultsOf(run))) {
    const key = executionIn(content);
    const happened = effects.some((effect) => effect.phase === 'effect' && effect.key === key);
    if (key !== undefined && !happened)
      ledger.violation(`run ${runId}: step ${name} is reported to have happened and did not`);
  }
}

function resultsOf(run: Body): Body[] {
  return withRunsInside(run).flatMap(({ step_results: results }) => results ?? []);
}

/** Once its end is acknowledged, a cancelled run stays as it is and does nothing. */
export function proveCancelled(run: Body, effects: readonly Effect[], ledger: Ledger): void {
  const cancelled = ledger.cancelled.get(run.run_id);
  if (cancelled === undefined) return;
  const { status, position } = cancelled;
  // a failed run has ended: cancelling does nothing to it, and it can still be continued
  const mayHaveFailed = readPlan(messageOf(run)).turns.some(([call]) => call === failure);
  const underWay = status === 'pending' || status === 'running';
  // one that was cancelled before it existed is cancelled when it comes, and one that waits has nothing to end first
  const hasToEnd =
    status === 'gone' || (!mayHaveFailed && (status === 'paused' || (underWay && ledger.processes === 1)));
  const expected = hasToEnd ? 'cancelled' : status;
  const isKnown = expected === 'cancelled' || expected === 'completed';
  const replaced = expected === 'completed' && run.status === 'regenerated';
  if (isKnown && run.status !== expected && !replaced)
    ledger.violation(
      `run ${run.run_id} (${messageOf(run)}) was ${status} after it was cancelled, and is ${run.status} now`,
    );
  const later = effects.find((effect) => effect.position >= position);
  if (isKnown && later !== undefined)
    ledger.violation(
      `run ${run.run_id} was ${status} after it was cancelled, and then executed ${later.tool} (${later.call})`,
    );
}
