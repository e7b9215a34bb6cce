import type { Body } from '../../../support/service.js';
import { type Effect, requestOfStep } from '../effects.js';
import type { AskedRun, Ledger } from '../ledger.js';
import { isCopy } from '../run-bodies.js';
import { type Target, targets } from '../targets.js';
import { sharedSessions } from '../visit.js';
import type { Wire } from '../wire.js';
import { proveCalls, proveCancelled, proveLostRun, proveSteps } from './effect-proofs.js';
import { proveEnd } from './end-proofs.js';

const pageSize = 200;

/** Compares what the clients received, and what tools and steps did, with what the service has stored. */
export async function proveRuns(wire: Wire, ledger: Ledger): Promise<void> {
  const listed = await allRuns(wire, ledger);
  for (const runId of ledger.acknowledged) {
    if (!listed.has(runId)) ledger.violation(`run ${runId} was acknowledged and is in no list`);
  }
  for (const asked of ledger.asked.values()) proveOneRun(asked, listed, ledger);
  for (const target of targets) await proveSessions(target, wire, listed, ledger);
  const effects = groupedByRun(ledger.effects.all(), listed);
  for (const runId of listed.keys()) {
    const run = await wire.run(runId);
    const done = effects.get(runId) ?? [];
    if (run === undefined) ledger.violation(`run ${runId} is in a list and is not there`);
    else {
      proveEnd(run, ledger);
      proveCalls(run, done, ledger);
      proveSteps(run, done, ledger);
      proveCancelled(run, done, ledger);
    }
    effects.delete(runId);
  }
  for (const [runId, lost] of effects) proveLostRun(runId, lost, ledger);
}

/** Every run from the pages of the lists. */
export async function allRuns(wire: Wire, ledger: Ledger): Promise<Map<string, Body>> {
  const runs = new Map<string, Body>();
  for (const target of targets) {
    for (let page = 1, last = false; !last; page += 1) {
      const { body } = await wire.insist(`${target.path}?limit=${pageSize}&page=${page}`);
      for (const run of body as Body[]) {
        if (runs.has(run.run_id)) ledger.violation(`run ${run.run_id} is in the lists twice`);
        runs.set(run.run_id, run);
        ledger.own(run.run_id, target);
      }
      last = body.length < pageSize;
    }
  }
  return runs;
}

/** The lists of sessions have the same runs. */
async function proveSessions(
  target: Target,
  wire: Wire,
  listed: Map<string, Body>,
  ledger: Ledger,
): Promise<void> {
  for (const session of sharedSessions(target)) {
    const { status, body } = await wire.insist(`${target.path}?session_id=${session}`);
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

/** However often it was sent and whatever broke: one request is one run, or none if no client heard of one. */
function proveOneRun({ plan, keyed, runIds }: AskedRun, listed: Map<string, Body>, ledger: Ledger): void {
  const made = [...listed.values()].filter((run) => run.run_input === plan.message && !isCopy(run));
  if (made.length > 1 || runIds.size > 1)
    ledger.violation(`${plan.message} became ${made.length} runs, and its clients received ${[...runIds]}`);
  if (keyed && made.length === 0)
    ledger.violation(`${plan.message} was asked for with a key and is not there`);
}

/** What was done for each run and for its nested runs. The key of a call begins with the outermost run. */
function groupedByRun(effects: readonly Effect[], listed: Map<string, Body>): Map<string, Effect[]> {
  const byRequest = new Map([...listed.values()].map((run) => [run.run_input.split(' ')[0], run.run_id]));
  const groups = new Map<string, Effect[]>();
  for (const effect of effects) {
    const request = requestOfStep(effect);
    const runId: string =
      request === undefined ? effect.key.split(':')[0]! : (byRequest.get(request) ?? effect.run);
    const group = groups.get(runId);
    if (group === undefined) groups.set(runId, [effect]);
    else group.push(effect);
  }
  return groups;
}
