import { errorCode } from '../../../../core/errors/error-code.js';
import { PausedRun } from '../../../common/answers/paused-run.js';
import { askPerson, showsForms } from '../elicit.js';
import type { ToolRequest } from '../mcp-tool.js';
import { requestCancelled } from '../tool-errors.js';
import type { Progress } from './progress.js';
import { foundUnderway, type RunUnderway, type RunView, underway, waitForRun } from './wait-for-run.js';

/** How often a run is continued within one request: a run that asks without end is answered with continue_run. */
const mostRounds = 50;

/** Continues a run in the way of the request: its caller waits, and a disconnect ends nothing. */
export const followed = { stream: false, on_disconnect: 'continue' } as const;

/**
 * Waits for a run until it has ended, or waits for something that the person at the client cannot answer, or does not
 * want to.
 */
export async function runToRest(
  request: ToolRequest,
  run: RunUnderway,
  progress: Progress | undefined,
): Promise<RunView> {
  let view = await waitForRun(request, run, progress);
  let complaint: string | undefined;
  for (let round = 0; round < mostRounds; round += 1) {
    if (view.run.status !== 'paused' || !showsForms(request)) return view;
    const paused = await pausedRun(request, view);
    const isAnswered = await askPerson(request, paused, complaint);
    await cancelIfAsked(request, run);
    if (!isAnswered) return view;
    const next = await continued(request, run, paused);
    if (typeof next === 'string') complaint = next;
    else {
      complaint = undefined;
      view = await waitForRun(request, next, progress);
    }
  }
  return view;
}

/** A client that cancels its request while its person is asked cancels the run. */
async function cancelIfAsked({ call, caller, site }: ToolRequest, { place }: RunUnderway): Promise<void> {
  if (!call.cancelled.aborted) return;
  await site.services.runs.cancel(caller, place);
  throw requestCancelled();
}

/** What a paused run waits for. */
export async function pausedRun({ site }: ToolRequest, view: RunView): Promise<PausedRun> {
  return new PausedRun(view.run.kind, await site.services.runs.body(view, 'runyard'));
}

/** Another answered first: the run is what it has become since. */
const answeredElsewhere = new Set(['answered_before', 'cannot_continue', 'run_not_paused']);

/** The run with the answers; or what is wrong with them, for the person to read. */
async function continued(
  request: ToolRequest,
  { place }: RunUnderway,
  paused: PausedRun,
): Promise<RunUnderway | string> {
  const { site, caller } = request;
  const { runs } = site.services;
  try {
    return underway(runs, await runs.continueRun(caller, place, { ...paused.form(), ...followed }));
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code === 'invalid_answer' && error instanceof Error) return error.message;
    const found = answeredElsewhere.has(code) ? await runs.follow(caller, place, -1) : undefined;
    if (found === undefined) throw error;
    return foundUnderway(request, found);
  }
}
