import type { ContinueForm, CreateForm } from '../../../capabilities/runs/schema.js';
import type { RunPlace, RunsService } from '../../../capabilities/runs/service.js';
import { errors } from '../../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../core/json.js';
import type { Run } from '../../../core/runs/run.js';
import { answersForm, type NamedAnswer, PausedRun } from '../../common/answers/paused-run.js';
import type { Question } from '../../common/answers/question.js';
import { shownCallId } from '../chat/call-ids.js';
import { wasAnswered } from '../chat/continue-run.js';
import { assertMayWith } from '../model-names.js';
import type { OpenaiCall } from '../routes.js';
import { type FoundResponse, partAfter } from './found-response.js';
import type { GivenAnswer, GivenInput } from './input-items.js';
import { askedBy } from './pause-items.js';
import type { ResponsePart } from './response-id.js';

type StartedRun = Awaited<ReturnType<RunsService['continueRun']>>;

/** A run that waits for what a request brings, or got it before: then `again` is the response that it began. */
export interface WaitingRun {
  readonly place: RunPlace;
  readonly run: Run;
  readonly again?: ResponsePart | undefined;
}

/** The run that a request continues; undefined for one that starts another. */
export async function waitingRun(
  call: OpenaiCall,
  input: GivenInput,
  previous: FoundResponse | undefined,
): Promise<WaitingRun | undefined> {
  const { services, request } = call;
  if (input.answers.length === 0) return previous?.run.status === 'paused' ? previous : undefined;
  const runIds = new Set(input.answers.map(({ id }) => askedBy(id)?.runId));
  const [runId] = runIds;
  const place = runId === undefined ? undefined : await services.runs.placeOf(request.caller, runId);
  const isOne = runIds.size === 1 && (previous === undefined || previous.run.runId === runId);
  const isShown = place !== undefined && call.config.exposes(place.kind, place.componentId);
  if (isShown && isOne) {
    const { run } = await services.runs.find(request.caller, place);
    // a client that got no response sends the same request again
    const again = await answeredBefore(call, place, input);
    if (again !== undefined || run.status === 'paused') return { place, run, again };
  }
  if (previous?.run.status === 'paused') return previous;
  // with a message after them, they are a part of what was said before
  if (input.message !== undefined && previous === undefined) return undefined;
  const [first] = input.answers;
  throw errors.openaiRequest(
    `No response waits for the output of '${String(first?.id).slice(0, 200)}': it has been given, or the response has ended. To continue the conversation, add a message of the user.`,
    'input',
    'tool_call_not_waiting',
  );
}

async function answeredBefore(
  call: OpenaiCall,
  place: RunPlace,
  { answers }: GivenInput,
): Promise<ResponsePart | undefined> {
  const [first] = answers;
  const results = answers.flatMap((answer) => {
    const callId = askedBy(answer.id)?.callId;
    return answer.type === 'output' && callId !== undefined ? [{ id: callId, result: answer.output }] : [];
  });
  if (first === undefined || results.length < answers.length) return undefined;
  const view = await call.services.runs.journal(call.request.caller, place);
  return wasAnswered(view, results) ? partAfter(call, place, (fold) => fold.asksFor(first.id)) : undefined;
}

/** Continues a paused run with the answers of a request. All that the client can answer has to be answered at once. */
export async function continueRun(
  { services, request }: OpenaiCall,
  { place, run }: WaitingRun,
  input: GivenInput,
  requirements: readonly JsonObject[] | undefined,
  following: Pick<CreateForm, 'stream' | 'background' | 'on_disconnect'>,
): Promise<StartedRun> {
  const { caller } = request;
  assertMayWith(caller, place, 'run');
  const disconnected = () => request.signal;
  if (requirements !== undefined)
    return services.runs.continueRun(
      caller,
      place,
      { ...answersForm(run.kind, requirements), ...following },
      { disconnected },
    );
  const view = await services.runs.journal(caller, place);
  const paused = new PausedRun(run.kind, await services.runs.body(view, 'runyard'));
  const answers = new Map(input.answers.map((answer) => [askedBy(answer.id)?.callId ?? answer.id, answer]));
  for (const question of paused.questions) {
    const answer = answers.get(question.id);
    answers.delete(question.id);
    if (answer !== undefined) paused.put([{ id: question.id, ...simpleAnswer(question, answer) }]);
    // the decision on an approval is not for the client to send
    else if (!question.needsApproval) throw lacking(run, question);
  }
  const [unknown] = answers.values();
  if (unknown !== undefined)
    throw errors.openaiRequest(
      `The response does not wait for the output of '${unknown.id.slice(0, 200)}'.`,
      'input',
      'tool_call_not_waiting',
    );
  if (input.message !== undefined && run.kind === 'workflow')
    throw errors.openaiRequest('A workflow that waits takes answers, and no message beside them.', 'input');
  const form: ContinueForm = {
    ...paused.form(),
    ...following,
    ...(input.message !== undefined && { input: input.message }),
  };
  return services.runs.continueRun(caller, place, form, { disconnected });
}

/** In the words of OpenAI for a call without an output. */
function lacking({ runId }: Run, { id, asked, message }: Question): Error {
  const shown = shownCallId({ runId, callId: id });
  const text =
    asked.kind === 'confirmation'
      ? `No approval response found for the approval request mcpr_${shown}.`
      : asked.kind === 'result'
        ? `No tool output found for function call ${shown}.`
        : `The response waits for an answer to: ${message} Send a function_call_output with the call_id ${shown}.`;
  return errors.openaiRequest(text, 'input');
}

type Simple = Omit<NamedAnswer, 'id'>;

/** An output that is not the result of a call holds the answer in JSON, or as a text. */
function simpleAnswer({ asked, id }: Question, answer: GivenAnswer): Simple {
  if (answer.type === 'approval') {
    const { approve, reason } = answer;
    return { confirmed: approve, ...(reason !== undefined && { note: reason }) };
  }
  if (asked.kind === 'result') return { result: answer.output };
  const given = jsonIn(answer.output);
  switch (asked.kind) {
    case 'confirmation': {
      const { confirmed = given, note } = isJsonObject(given) ? given : {};
      if (typeof confirmed !== 'boolean') throw wrong(id, 'true, false or { "confirmed": …, "note": … }');
      return { confirmed, ...(typeof note === 'string' && { note }) };
    }
    case 'input':
      if (!isJsonObject(given))
        throw wrong(id, `an object with ${asked.fields.map(({ name }) => name).join(', ')}`);
      return { values: given };
    case 'choice': {
      const list = Array.isArray(given) ? given : [given];
      return { selected: list.map((one) => (Array.isArray(one) ? one.map(String) : String(one))) };
    }
    case 'decision':
      if (given !== 'retry' && given !== 'skip') throw wrong(id, '"retry" or "skip"');
      return { decision: given };
  }
}

function jsonIn(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function wrong(id: string, what: string): Error {
  return errors.openaiRequest(`The output for '${id}' has to be ${what}, as JSON.`, 'input');
}
