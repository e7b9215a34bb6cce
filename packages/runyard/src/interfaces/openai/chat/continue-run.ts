import type { ContinueForm } from '../../../capabilities/runs/schema.js';
import type { RunsService } from '../../../capabilities/runs/service.js';
import { teamRequirementsOf } from '../../../core/agents/requirements/team-requirements.js';
import { errorCode } from '../../../core/errors/error-code.js';
import { errors } from '../../../core/errors/errors.js';
import { answersForm, type NamedAnswer, PausedRun } from '../../common/answers/paused-run.js';
import type { ModelTarget } from '../model-names.js';
import type { OpenaiCall } from '../routes.js';
import { callOf } from './call-ids.js';
import type { CallResult } from './conversation.js';
import { type RunJournal, type TokenCounts, tokensOf } from './outcome.js';
import type { ChatBody } from './request-body.js';

type StartedRun = Awaited<ReturnType<RunsService['create']>>;

/** A run that a request continues, or whose answer it asks for once more. */
export type Continued =
  | { readonly started: StartedRun; readonly spent: TokenCounts }
  | { readonly started?: undefined; readonly runId: string };

/** What a request answers: calls that the client executed, and questions of the run that it names. */
interface Given {
  readonly results: readonly CallResult[];
  readonly runyard: ChatBody['runyard'];
}

/** Continues the run that waits for these results and answers. */
export async function continueRun(
  call: OpenaiCall,
  target: ModelTarget,
  body: ChatBody,
  { results, runyard }: Given,
): Promise<Continued> {
  const calls = results.map(({ id, result }) => ({ ...knownCall(id), result }));
  const runId = runyard?.run_id ?? calls[0]?.runId ?? '';
  if (calls.some((one) => one.runId !== runId))
    throw errors.openaiRequest(
      'The tool results belong to calls of different runs. Send those of one run.',
      'messages',
    );
  const view = await journalOf(call, target, runId, runyard != null);
  if (runyard?.requirements !== undefined)
    return continued(call, target, body, view, answersForm(target.kind, runyard.requirements));
  const answered = calls.map(({ callId, result }) => ({ id: callId, result }));
  // a client that got no response sends the same request again
  if (runyard == null && wasAnswered(view, answered)) return { runId };
  const paused = await pausedRun(call, view);
  // the schema gave each answer its type
  const others = (runyard?.answers ?? []) as readonly NamedAnswer[];
  checkResults(paused, answered, runyard != null);
  paused.put(answered);
  paused.put(others);
  return continued(call, target, body, view, paused.form());
}

/** Every call needs its result, as in OpenAI's API, and everything else that the run asks an answer. */
function checkResults(paused: PausedRun, answered: readonly { id: string }[], hasAnswers: boolean): void {
  const open = paused.questions.filter(({ asked }) => asked.kind === 'result').map(({ id }) => id);
  const given = new Set(answered.map(({ id }) => id));
  if (answered.some(({ id }) => !open.includes(id))) throw notWaiting();
  const lacking = hasAnswers ? [] : open.filter((id) => !given.has(id));
  if (lacking.length > 0)
    throw errors.openaiRequest(
      `The run waits for the results of ${open.length} tool calls. Send a tool message for each; these are missing: ${lacking.join(', ')}.`,
      'messages',
    );
  const asked = paused.questions.filter((one) => one.asked.kind !== 'result' && !one.needsApproval);
  if (hasAnswers || asked.length === 0) return;
  throw errors.openaiRequest(
    `The run also waits for an answer to: ${asked.map(({ id, message }) => `'${id}' (${message})`).join(', ')}. Send it in runyard.answers, with the tool results.`,
    'runyard',
  );
}

async function continued(
  { services, request }: OpenaiCall,
  target: ModelTarget,
  { stream }: ChatBody,
  view: RunJournal,
  answers: ContinueForm,
): Promise<Continued> {
  const form = { ...answers, stream: stream ?? false, on_disconnect: 'continue' as const };
  const place = { ...target, runId: view.run.runId };
  const started = await services.runs.continueRun(request.caller, place, form, {
    disconnected: () => request.signal,
  });
  return { started, spent: tokensOf(view) };
}

function knownCall(id: string) {
  const known = callOf(id);
  if (known === undefined)
    throw errors.openaiRequest(
      `The tool call '${id.slice(0, 200)}' was made by no run of this service. Results of calls can only continue the run that made them.`,
      'messages',
      'tool_call_not_found',
    );
  return known;
}

async function journalOf(
  { services, request }: OpenaiCall,
  target: ModelTarget,
  runId: string,
  isNamed: boolean,
): Promise<RunJournal> {
  try {
    return await services.runs.journal(request.caller, { ...target, runId });
  } catch (error) {
    if (isNamed || errorCode(error) !== 'run_not_found') throw error;
    throw errors.openaiRequest(
      `No run of the model '${target.model}' made these tool calls.`,
      'messages',
      'tool_call_not_found',
    );
  }
}

async function pausedRun({ services }: OpenaiCall, view: RunJournal): Promise<PausedRun> {
  if (view.run.status !== 'paused') throw notWaiting();
  return new PausedRun(view.run.kind, await services.runs.body(view, 'runyard'));
}

function notWaiting(): Error {
  return errors.openaiRequest(
    'No run waits for these tool results: they have been given, or the run has ended. To continue the conversation, add a message of the user.',
    'messages',
    'tool_call_not_waiting',
  );
}

/** Whether the run got exactly these results for these calls before. */
export function wasAnswered(
  { run, steps }: RunJournal,
  answers: readonly { id: string; result: string }[],
): boolean {
  if (run.kind === 'workflow') return false;
  const states = teamRequirementsOf(run, steps);
  return answers.every(({ id, result }) => {
    // a model may use an id again: the last call with it counts
    const last = states.findLast(({ requirement }) => requirement.callId === id);
    return last?.answer?.answer === 'result' && last.answer.result === result;
  });
}
