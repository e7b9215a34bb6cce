import type { RunsService } from '../../../capabilities/runs/service.js';
import { errors } from '../../../core/errors/errors.js';
import { hopsHeader } from '../../../core/runs/run.js';
import { runIdHeader } from '../../../platform/http/response/respond.js';
import { type Reply, reply } from '../../../platform/http/response/results.js';
import { chunkStream } from '../frames.js';
import { assertMayWith, type ModelTarget } from '../model-names.js';
import { neverAgain } from '../protocol-errors.js';
import type { OpenaiCall, OpenaiRoute } from '../routes.js';
import { ChunkReader } from './chunks.js';
import { type CompletionHead, completionOf, runIdOf } from './completion.js';
import { type Continued, continueRun } from './continue-run.js';
import { readMessages, trailingResults } from './conversation.js';
import { withNamedFaults } from './named-faults.js';
import { noTokens, type Outcome, outcomeOf } from './outcome.js';
import { type ChatBody, readChatBody } from './request-body.js';
import { callerInputOf, createFormOf } from './run-form.js';

type StartedRun = Awaited<ReturnType<RunsService['create']>>;

/** `POST /chat/completions`, and `GET /chat/completions/{id}` for a client that lost its connection. */
export const chatRoutes: readonly OpenaiRoute[] = [
  {
    method: 'POST',
    path: '/chat/completions',
    summary: 'Create a chat completion (OpenAI)',
    action: 'run',
    answer: async (call) => {
      const body = readChatBody(call.request.body);
      const target = await call.models.target(call.request.caller, body.model, 'run');
      return answer(call, target, body, await begin(call, target, body));
    },
  },
  {
    method: 'GET',
    path: '/chat/completions/:completion_id',
    summary: 'Get a chat completion (OpenAI)',
    action: 'read',
    answer: retrieve,
  },
];

/** Starts a run, or continues the one that the last messages answer. */
async function begin(call: OpenaiCall, target: ModelTarget, body: ChatBody): Promise<Continued> {
  const { messages } = body;
  const results = trailingResults(messages);
  const runyard = body.runyard?.run_id === undefined ? undefined : body.runyard;
  if (results.length > 0 || runyard !== undefined)
    return continueRun(call, target, body, { results, runyard });
  const said = readMessages(messages);
  const { services, request } = call;
  const { 'idempotency-key': key, traceparent, [hopsHeader]: hops } = request.headers;
  const started = await withNamedFaults(said.positions, async () => {
    const form = createFormOf(call, target, body, said);
    const callerInput = callerInputOf(target, body, said, form.session_id !== undefined);
    return services.runs.create(request.caller, target, form, {
      ...(typeof key === 'string' && { idempotencyKey: key }),
      ...(typeof traceparent === 'string' && { traceParent: traceparent }),
      ...(callerInput !== undefined && { callerInput }),
      hops,
      disconnected: () => request.signal,
    });
  });
  return { started, spent: noTokens };
}

function answer(call: OpenaiCall, target: ModelTarget, body: ChatBody, begun: Continued) {
  const { started } = begun;
  const runId = started === undefined ? begun.runId : started.handle.run.runId;
  const createdAt = started?.handle.run.createdAt ?? Date.now();
  const head: CompletionHead = { runId, model: body.model, createdAt };
  const rested = () => restedOutcome(call, target, begun);
  if (body.stream !== true) return rested().then((outcome) => completionReply(head, outcome));
  const chunks = new ChunkReader({
    head,
    ...(started !== undefined && { events: started.events() }),
    includeUsage: body.stream_options?.include_usage === true,
    isWhole: body.response_format != null && body.response_format.type !== 'text',
    rested,
  });
  return chunkStream(chunks, runId);
}

async function restedOutcome(call: OpenaiCall, target: ModelTarget, begun: Continued): Promise<Outcome> {
  const { services, request } = call;
  if (begun.started === undefined) {
    const ended = await services.runs.end(request.caller, { ...target, runId: begun.runId });
    return outcomeOf(services, ended);
  }
  return outcomeOf(services, await endOf(call, begun.started), begun.spent);
}

function endOf({ services }: OpenaiCall, started: StartedRun) {
  return services.runs.ended(started);
}

/** A failed or cancelled run is an error. No client repeats it by itself: that would start another run. */
function completionReply(head: CompletionHead, outcome: Outcome): Reply {
  const { failure, runyard } = outcome;
  if (failure === undefined) return reply(200, completionOf(head, outcome), runIdHeader(head.runId));
  const headers = { ...runIdHeader(head.runId), ...neverAgain };
  return reply(failure.status, { error: { ...failure.error, ...runyard } }, headers);
}

/** The completion of a run; while the run is executed, this waits for it. */
async function retrieve({ services, config, request }: OpenaiCall): Promise<Reply> {
  const { caller, params } = request;
  const id = params.completion_id ?? '';
  const runId = runIdOf(id);
  for (const kind of runId === undefined ? [] : (['agent', 'team', 'workflow'] as const)) {
    const componentId = await services.runs.componentOf(caller, kind, runId ?? '');
    if (runId === undefined || componentId === undefined || !config.exposes(kind, componentId)) continue;
    const place = { kind, componentId, runId };
    assertMayWith(caller, place, 'read');
    const ended = await services.runs.end(caller, place);
    const head = { runId, model: componentId, createdAt: ended.run.createdAt };
    return completionReply(head, await outcomeOf(services, ended));
  }
  throw errors.completionNotFound(id.slice(0, 200));
}
