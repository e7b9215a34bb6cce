import { deliver, promised, type Receiver } from '../../async/receiver.js';
import { reasonOf } from '../../errors/reason.js';
import { thrownError } from '../../errors/thrown-error.js';
import type { Message } from '../../models/message.js';
import type { Model } from '../../models/model.js';
import { type ModelLike, resolveModel } from '../../models/resolve.js';
import { RunPaused, recordedStep } from '../../runs/context.js';
import { RunFailed } from '../../runs/executable.js';
import { read } from '../../runs/journal/codec.js';
import { hookIdentity } from '../agent-structure.js';
import { keepInConversation } from '../answer/answer-record.js';
import { stageModel } from '../auxiliary/stage-model.js';
import type { AgentExecution, GivenCall } from '../execution.js';
import { GuardrailRefusal, type HookContext } from '../hooks/hook.js';
import type { BeforeModel, ModelAnswer, ModelCall, ModelHook } from '../hooks/model-hook.js';
import { hookContextOf, refusal, runHook, type Stage } from '../hooks/run-hook.js';
import { beforeModelRecord, type CallChangesRecord, type ModelRecord } from '../journal-records.js';
import { changedMessages, recordedChanges } from './call-changes.js';
import { callModel } from './model-step.js';

/** A model call of the conversation, with the hooks of the agent around it. */
export function callModelWithHooks(
  execution: AgentExecution,
  turn: number,
  receiver: Receiver<ModelRecord>,
): void {
  const { modelHooks } = execution.agent.settings;
  if (modelHooks === undefined) callModel(execution, turn, receiver);
  else deliver(hookedCall(execution, modelHooks, turn), receiver);
}

async function hookedCall(
  execution: AgentExecution,
  modelHooks: readonly ModelHook[],
  turn: number,
): Promise<ModelRecord> {
  execution.given = await givenAfterHooks(execution, modelHooks, turn);
  const record = await callGiven(execution, turn);
  for (const [position, hook] of modelHooks.entries()) await look(execution, hook, turn, position, record);
  return record;
}

/** Makes the call with what the hooks left of it. A model that a hook chose is for this call alone. */
async function callGiven(execution: AgentExecution, turn: number): Promise<ModelRecord> {
  const { given } = execution;
  if (given === null) return promised((receiver) => callModel(execution, turn, receiver));
  const { messages, model, tools } = given;
  const own = model !== undefined && { model, fallback: null };
  const call: AgentExecution = { ...execution, messages: [...messages], tools, ...own };
  const record = await promised<ModelRecord>((receiver) => callModel(call, turn, receiver));
  if (model === undefined) {
    execution.model = call.model;
    execution.fallback = call.fallback;
  }
  return record;
}

/** Lets each hook change the call, in order; null when none of them did. */
async function givenAfterHooks(
  execution: AgentExecution,
  hooks: readonly ModelHook[],
  turn: number,
): Promise<GivenCall | null> {
  const first: GivenCall = { messages: execution.messages, tools: execution.tools };
  let given = first;
  for (const [position, hook] of hooks.entries()) {
    const before = typeof hook === 'function' ? hook : hook.before?.bind(hook);
    if (before === undefined) continue;
    const stage = stageOf(hook, 'before_model', turn, position);
    given = await changed(execution, given, { before, stage, turn });
  }
  return given === first ? null : given;
}

interface BeforeHook {
  readonly before: BeforeModel;
  readonly stage: Stage;
  readonly turn: number;
}

async function changed(execution: AgentExecution, given: GivenCall, hook: BeforeHook): Promise<GivenCall> {
  const { context } = execution;
  const { stage, turn } = hook;
  let chosen: ModelLike | undefined;
  const call = (run: HookContext) =>
    clearly(execution, stage, turn, async () => {
      const { record, model } = await askedOf(execution, given, hook, run);
      chosen = model;
      return record;
    });
  const outcome = await runHook(execution, stage, { call });
  if (outcome.outcome === 'refused') throw refusal('input_check_error', outcome);
  const record = read(recordedStep(context, stage.key), beforeModelRecord);
  if (record.outcome !== 'changed') return given;
  const { tools, toolChoice, parameters } = record.content;
  const model = await chosenModel(execution, record.content.model, hook, async () => {
    if (chosen !== undefined) return chosen;
    const { key } = stage;
    const scope = { key, signal: context.signal, idempotencyKey: context.idempotencyKey(key) };
    // what it asks a model answers from the journal, and its changes of the state were made then
    const run = hookContextOf(execution, stage, scope, context.state.fork());
    await context.callApplication(stage.name, () => call(run));
    return chosen;
  });
  return {
    ...given,
    messages: changedMessages(given.messages, record.content),
    ...(tools !== undefined && { tools: new Map([...given.tools].filter(([name]) => tools.includes(name))) }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(parameters !== undefined && { parameters: { ...given.parameters, ...parameters } }),
    ...(model !== undefined && { model }),
  };
}

/** Calls the hook, and reads what it returned. */
async function askedOf(
  execution: AgentExecution,
  given: GivenCall,
  { before, stage, turn }: BeforeHook,
  run: HookContext,
): Promise<{ record?: CallChangesRecord | undefined; model?: ModelLike | undefined }> {
  const { context } = execution;
  const copies = structuredClone([...given.messages]);
  const call = callAs(execution, given, turn, copies);
  const changes = await before(call, run);
  if (changes === undefined || changes === null) return {};
  const { runId } = context.run;
  const record = recordedChanges({ messages: given.messages, tools: call.tools }, changes, {
    owner: ownerOf(stage),
    copies,
    key: `${runId}:${stage.key}`,
    createdAt: Math.floor(context.timers.now() / 1000),
  });
  return { record, model: changes.model };
}

function callAs(
  { agent, model }: AgentExecution,
  given: GivenCall,
  turn: number,
  messages: readonly Message[],
): ModelCall {
  const { id, provider } = given.model ?? model;
  const toolChoice = given.toolChoice ?? agent.settings.toolChoice;
  const tools = [...given.tools.keys()];
  return { turn, model: { id, provider }, messages, tools, ...(toolChoice !== undefined && { toolChoice }) };
}

/**
 * The model that the hook chose: from its name, or the object that the hook returned. An object is not in the journal:
 * after a crash the hook is asked again, and has to return the same model.
 */
async function chosenModel(
  execution: AgentExecution,
  recorded: CallChangesRecord['model'],
  { stage, turn }: BeforeHook,
  returned: () => Promise<ModelLike | undefined>,
): Promise<Model | undefined> {
  const { context } = execution;
  if (recorded === undefined) return undefined;
  if ('name' in recorded) return stageModel(execution, recorded.name);
  const isAnswered = context.recorded(`model:${turn}`)?.status === 'completed';
  if (isAnswered || context.replay !== null) return answeredModel(execution.model, recorded);
  const found = await returned();
  const model = found === undefined ? undefined : resolveModel(found);
  if (model?.id === recorded.id && model.provider === recorded.provider) return model;
  const is = model === undefined ? 'no model' : `the model '${model.id}'`;
  throw context.definitionChanged({ key: stage.key, was: `the model '${recorded.id}'`, is });
}

/** Stands for a model whose answer is in the journal. */
function answeredModel(like: Model, { id, provider }: { id: string; provider: string }): Model {
  const uncalled = (): never => {
    throw new Error(`The model '${id}' has answered: it is not called again.`);
  };
  const { name, capabilities } = like;
  return { id, provider, name, capabilities, generate: uncalled, stream: uncalled };
}

/** Lets a hook look at the answer. What it refuses ends the run, and is withheld from the stored conversation. */
async function look(
  execution: AgentExecution,
  hook: ModelHook,
  turn: number,
  position: number,
  record: ModelRecord,
): Promise<void> {
  const after = typeof hook === 'function' ? undefined : hook.after?.bind(hook);
  if (after === undefined) return;
  const stage = stageOf(hook, 'after_model', turn, position);
  const outcome = await runHook(execution, stage, {
    call: (run) =>
      clearly(execution, stage, turn, async () => {
        await after(answerOf(execution, turn, record), run);
      }),
  });
  if (outcome.outcome !== 'refused') return;
  await keepInConversation(execution.context, null);
  throw refusal('output_check_error', outcome);
}

function answerOf({ model, given }: AgentExecution, turn: number, record: ModelRecord): ModelAnswer {
  const { content, reasoning, toolCalls = [], finishReason, usage } = record;
  const { id, provider } = record.model ?? given?.model ?? model;
  return structuredClone({
    turn,
    model: { id, provider },
    content,
    ...(reasoning !== undefined && { reasoningContent: reasoning }),
    toolCalls,
    finishReason,
    usage,
  });
}

function stageOf(
  hook: ModelHook,
  kind: 'before_model' | 'after_model',
  turn: number,
  position: number,
): Stage {
  const key = `${kind.replace('_', '-')}:${turn}:${position}`;
  const name = hook.name || `model_hook_${position + 1}`;
  // it decides what the model sees and may do: without it, nothing is sent
  return { kind, key, name, required: true, identity: hookIdentity(hook), native: false };
}

function ownerOf({ name }: Stage): string {
  return `The model hook '${name}'`;
}

/** What a hook throws ends the run with an error that names it. */
async function clearly<T>(
  { context }: AgentExecution,
  stage: Stage,
  turn: number,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = thrownError(thrown);
    if ([GuardrailRefusal, RunPaused, RunFailed].some((kind) => error instanceof kind)) throw error;
    context.signal.throwIfAborted();
    context.log.warn({ err: error, hook: stage.name, runId: context.run.runId }, 'a model hook failed');
    const when = stage.kind === 'before_model' ? 'before' : 'after';
    const message = `${ownerOf(stage)} failed ${when} model call ${turn + 1}: ${reasonOf(error)}`;
    throw new RunFailed({ type: 'model_hook_error', message }, { cause: error });
  }
}
