import { type CreateForm, createRunForm } from '../../../capabilities/runs/schema.js';
import type { RunsService } from '../../../capabilities/runs/service.js';
import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { CallerInput, CallerMessage, CallerTool } from '../../../core/runs/caller-input.js';
import { hopsHeader } from '../../../core/runs/run.js';
import { factoryInputField } from '../../common/factory-input.js';
import { namedStream } from '../frames.js';
import { assertMayWith, type ModelTarget } from '../model-names.js';
import type { OpenaiCall } from '../routes.js';
import { continueRun, waitingRun } from './answer-run.js';
import { conversationBefore } from './conversation-state.js';
import {
  bodyOf,
  type FoundResponse,
  findResponse,
  followResponse,
  partAfter,
  ResponseEvents,
} from './found-response.js';
import { givenTo, historyUntil, newestOf } from './history.js';
import { type GivenInput, readInput } from './input-items.js';
import { checked, type ResponseBody, readBody } from './request-body.js';
import { ResponseFold } from './response-fold.js';
import { type KeptRequest, keptMessage, keptRequest } from './response-head.js';
import type { ResponsePart } from './response-id.js';

type StartedRun = Awaited<ReturnType<RunsService['create']>>;

/** Starts the run of a request, or continues the one that the request answers. */
export async function createResponse(call: OpenaiCall): Promise<unknown> {
  const body = readBody(call.request.body);
  const input = readInput(body.input ?? []);
  const previous = await previousOf(call, body);
  const waiting = await waitingRun(call, input, previous);
  if (waiting?.again !== undefined) {
    assertMayWith(call.request.caller, waiting.place, 'run');
    return answeredAgain(call, body, { ...waiting, part: waiting.again });
  }
  if (waiting !== undefined) {
    const started = await continueRun(call, waiting, input, body.runyard?.requirements, followingOf(body));
    const { fromIndex: from } = started;
    const part = await partAfter(call, waiting.place, ({ nextPart }) => nextPart?.from === from);
    return answered(call, body, started, part ?? { runId: waiting.run.runId, from });
  }
  const target = await targetOf(call, body, previous);
  const started = await startRun(call, target, body, input, previous);
  return answered(call, body, started, { runId: started.handle.run.runId });
}

async function previousOf(
  call: OpenaiCall,
  { previous_response_id: id }: ResponseBody,
): Promise<FoundResponse | undefined> {
  if (id == null) return undefined;
  const found = await findResponse(call, id, 'read');
  if (found !== undefined) return found;
  throw errors.openaiRequest(
    `Previous response with id '${id.slice(0, 200)}' not found.`,
    'previous_response_id',
    'previous_response_not_found',
  );
}

/** Without a model, that of the response before it. */
async function targetOf(
  { models, request }: OpenaiCall,
  { model }: ResponseBody,
  previous: FoundResponse | undefined,
): Promise<ModelTarget> {
  if (model != null) return models.target(request.caller, model, 'run');
  if (previous === undefined)
    throw errors.openaiRequest("Missing required parameter: 'model'.", 'model', 'missing_required_parameter');
  const { kind, componentId } = previous.place;
  assertMayWith(request.caller, previous.place, 'run');
  return { kind, componentId, model: keptRequest(previous.run).model };
}

type Following = Pick<CreateForm, 'stream' | 'background' | 'on_disconnect'>;

/** A client that disconnects retrieves the response: its run continues. */
function followingOf({ stream, background }: ResponseBody): Following {
  return { stream: stream ?? false, background: background ?? false, on_disconnect: 'continue' };
}

/** The session of a new response, and what the model sees of what was said before. */
interface Before {
  readonly sessionId?: string | undefined;
  /** Left out: the history of the session counts. */
  readonly messages?: readonly CallerMessage[];
  readonly isChat: boolean;
}

async function startRun(
  call: OpenaiCall,
  target: ModelTarget,
  body: ResponseBody,
  input: GivenInput,
  previous: FoundResponse | undefined,
): Promise<StartedRun> {
  const { services, request } = call;
  if (input.message === undefined)
    throw errors.openaiRequest(
      'The input has no message of the user after what the model said last.',
      'input',
      body.input == null ? 'missing_required_parameter' : 'invalid_value',
    );
  const before = await beforeOf(call, target, body, input, previous);
  const { session_id: _session, ...metadata } = body.metadata ?? {};
  const { user } = body;
  const form: CreateForm = {
    ...followingOf(body),
    ...input.media,
    ...outputOf(target, body),
    ...factoryInputField(body.runyard?.factory_input),
    message: input.message,
    ...(before.sessionId !== undefined && { session_id: before.sessionId }),
    // only a caller without a name of their own may say whom a run belongs to
    ...(request.caller.userId === null && user != null && user !== '' && { user_id: user }),
    ...(target.version !== undefined && { version: target.version }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
  const { traceparent, 'idempotency-key': key, [hopsHeader]: hops } = request.headers;
  const callerInput = callerInputOf(target, body, input, before);
  return services.runs.create(request.caller, target, form, {
    ...(typeof key === 'string' && { idempotencyKey: key }),
    ...(typeof traceparent === 'string' && { traceParent: traceparent }),
    hops,
    clientMessage: keptMessage(keptOf(target, body)),
    ...(callerInput !== undefined && { callerInput }),
    disconnected: () => request.signal,
  });
}

function keptOf({ model }: ModelTarget, body: ResponseBody): KeptRequest {
  const { previous_response_id: previous, conversation, store, background, text, tool_choice: choice } = body;
  const format = text?.format;
  return {
    model,
    ...(previous != null && { previous }),
    ...(conversation != null && { inConversation: true as const }),
    ...(store === false && { isHidden: true as const }),
    ...(background === true && { background: true as const }),
    // the schema of the body made sure that it is JSON
    ...(format != null && format.type !== 'text' && { format: format as JsonObject }),
    // and here, too
    ...(choice != null && { toolChoice: choice as JsonObject }),
  };
}

const ids = createRunForm.pick({ session_id: true });

async function beforeOf(
  call: OpenaiCall,
  target: ModelTarget,
  body: ResponseBody,
  input: GivenInput,
  previous: FoundResponse | undefined,
): Promise<Before> {
  const { earlier } = input;
  if (previous !== undefined) return afterResponse(call, target, previous, earlier);
  if (body.conversation != null) return conversationBefore(call, target, body.conversation, earlier);
  const named = body.metadata?.session_id ?? call.request.headers['x-session-id'];
  if (named !== undefined && named !== '') {
    const { session_id: sessionId } = checked(ids, { session_id: String(named) });
    return { sessionId, isChat: true };
  }
  return { isChat: false, ...(earlier.length > 0 && { messages: earlier }) };
}

/**
 * The last response of its session is continued there. After any other one, the conversation branches off: the new
 * response has a session of its own, and sees what was said up to the one that it names.
 */
async function afterResponse(
  call: OpenaiCall,
  target: ModelTarget,
  { place, part, run: { sessionId } }: FoundResponse,
  earlier: readonly CallerMessage[],
): Promise<Before> {
  const { services, request } = call;
  const view = await services.runs.journal(request.caller, place);
  const { run } = view;
  if (run.status === 'pending' || run.status === 'running')
    throw errors.openaiRequest(
      'The previous response is still in progress. Wait for its end, or cancel it.',
      'previous_response_id',
    );
  // a run that was executed once has only one response
  if (run.attempt > 1) await refuseAnswered(call, { place, part });
  const isSame = target.kind === run.kind && target.componentId === run.componentId;
  const newest = isSame && !keptRequest(run).inConversation && (await newestOf(call, run));
  const isLast = newest !== undefined && newest !== false && newest.run.runId === run.runId;
  if (isLast && givenTo(run) === undefined && earlier.length === 0) return { sessionId, isChat: true };
  const messages = [...(await historyUntil(call, view)), ...earlier];
  return { ...(isLast && { sessionId }), messages, isChat: true };
}

/** A response that asked for something is followed by the one that its answers began. */
async function refuseAnswered(call: OpenaiCall, at: Pick<FoundResponse, 'place' | 'part'>): Promise<void> {
  const { runyard } = await bodyOf(call, at);
  if (typeof runyard === 'object' && runyard !== null && 'requirements' in runyard)
    throw errors.openaiRequest(
      'The previous response asked for an answer and has it. Continue from the response that followed it.',
      'previous_response_id',
    );
}

const anyObject = { type: 'object', additionalProperties: true };

function outputOf({ kind }: ModelTarget, { text }: ResponseBody): Partial<CreateForm> {
  const format = text?.format;
  if (format == null || format.type === 'text') return {};
  if (kind === 'workflow')
    throw errors.openaiRequest(
      'A workflow has no text format: its last step decides what the answer is.',
      'text.format',
      'unsupported_parameter',
    );
  const { name, schema } =
    format.type === 'json_schema' ? format : { name: 'json_object', schema: anyObject };
  return { output_schema: { type: 'json_schema', json_schema: { name, schema } }, use_json_schema: true };
}

function callerInputOf(
  { kind }: ModelTarget,
  body: ResponseBody,
  input: GivenInput,
  before: Before,
): CallerInput | undefined {
  const choice = body.tool_choice;
  const tools = choice === 'none' ? [] : toolsOf(body);
  const mode = typeof choice === 'object' && choice?.type === 'allowed_tools' ? choice.mode : choice;
  const toolChoice =
    mode === 'required' ? mode : typeof mode === 'object' && mode !== null ? { name: mode.name } : undefined;
  if (tools.length === 0 && toolChoice !== undefined)
    throw errors.openaiRequest('tool_choice needs tools.', 'tool_choice');
  const instructions = [body.instructions ?? '', ...input.instructions].filter((text) => text !== '');
  const { messages, isChat } = before;
  const isWorkflow = kind === 'workflow';
  const conversation = {
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    // a workflow has one input: what was said before is not a part of it
    ...(messages !== undefined && !isWorkflow && { messages }),
  };
  const given: CallerInput = {
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(Object.keys(conversation).length > 0 && { conversation }),
    ...(isChat && !isWorkflow && { isChat: true as const }),
  };
  return Object.keys(given).length > 0 ? given : undefined;
}

const noArguments: JsonObject = { type: 'object', properties: {} };

function toolsOf({ tools, tool_choice: choice }: ResponseBody): CallerTool[] {
  const allowed =
    typeof choice === 'object' && choice?.type === 'allowed_tools'
      ? new Set(choice.tools.map(({ name }) => name))
      : undefined;
  return (tools ?? [])
    .filter(({ name }) => allowed?.has(name) ?? true)
    .map(({ name, description, parameters, strict }) => ({
      name,
      ...(description != null && { description }),
      inputSchema: parameters ?? noArguments,
      ...(strict != null && { strict }),
    }));
}

/** Answers with the stream, with what is known of a run in the background, or with the response at its end. */
async function answered(
  call: OpenaiCall,
  body: ResponseBody,
  started: StartedRun,
  part: ResponsePart,
): Promise<unknown> {
  const { run } = started.handle;
  const { kind, componentId, runId } = run;
  const place = { kind, componentId, runId };
  if (body.stream === true)
    return namedStream(new ResponseEvents(call, { part, place, run }, started.events()), runId);
  if (body.background === true) return new ResponseFold(run, part).body({ ...run, status: started.status });
  await call.services.runs.ended(started);
  return bodyOf(call, { part, place });
}

/** Answers with a response that the same request began before. */
async function answeredAgain(
  call: OpenaiCall,
  body: ResponseBody,
  at: Pick<FoundResponse, 'part' | 'place' | 'run'>,
): Promise<unknown> {
  const { services, request } = call;
  if (body.stream === true) return followResponse(call, at);
  if (body.background !== true) await services.runs.end(request.caller, at.place);
  return bodyOf(call, at);
}
