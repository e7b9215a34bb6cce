import { handled } from '../../errors/handled.js';
import { reasonOf } from '../../errors/reason.js';
import { thrownError } from '../../errors/thrown-error.js';
import type { RunEvent } from '../../events/run-event.js';
import type { Json } from '../../json.js';
import { resolveModel } from '../../models/resolve.js';
import { isNative } from '../../native-code.js';
import type { CallerConversation } from '../../runs/caller-input.js';
import { type RunContext, RunPaused, type StepScope, type StepSpec } from '../../runs/context.js';
import { RunFailed } from '../../runs/executable.js';
import type { StateView } from '../../runs/execution/session-state.js';
import { readIf } from '../../runs/journal/codec.js';
import { inheritedAttempt } from '../../runs/run.js';
import { storable } from '../../storable-json.js';
import { hookIdentity as identityOf } from '../agent-structure.js';
import { type Answer, keepInConversation, textOf } from '../answer/answer-record.js';
import { withoutPlaces } from '../answer/ending.js';
import { callAuxiliaryModel, plainMessage } from '../auxiliary/auxiliary-step.js';
import type { AgentExecution } from '../execution.js';
import { type HookRecord, hookInput, hookRecord } from '../journal-records.js';
import {
  GuardrailRefusal,
  type HookContext,
  type HookInput,
  type HookModelCall,
  type HookOutput,
  type PostHook,
  type PreHook,
  type PreHookFunction,
} from './hook.js';
import { preHookFields } from './hook-events.js';
import { conversationIn, earlierTexts, type SaidInput, withEarlierTexts } from './said-texts.js';

/**
 * Lets each pre-hook look at the input, in order; each sees what the one before made of it. What the user says when
 * a run continues is input too; the keys of its steps begin with `prefix`.
 */
export async function runPreHooks(execution: AgentExecution, prefix = ''): Promise<void> {
  const { preHooks } = execution.agent.settings;
  if (prefix === '' && isInherited(execution.context)) return takeInput(execution);
  if (preHooks === undefined) return;
  for (const [position, hook] of preHooks.entries()) {
    const { run, ...about } = named(hook, `pre_hook_${position + 1}`);
    const { name } = about;
    const key = `${prefix}pre-hook:${position}`;
    const stage = { kind: 'input', key, ...about, identity: identityOf(hook) } as const;
    const input = () => ({ content: execution.input.content, media: execution.context.run.input.media });
    // what the user says when a run continues has no conversation of the client before it
    const conversation = prefix === '' ? conversationIn(execution.input) : undefined;
    const record = await runHook(execution, stage, {
      started: { event: 'PreHookStarted', ...preHookFields(name, input()) },
      call: (context) =>
        conversation === undefined
          ? run(input(), context)
          : changedTexts(run, input(), earlierTexts(conversation), context, about.native),
    });
    if (record.outcome === 'refused') throw refusal('input_check_error', record);
    if (record.outcome === 'changed') takeChange(execution.input, conversation, record.content);
    if (record.outcome !== 'crashed')
      execution.context.emit(
        { event: 'PreHookCompleted', ...preHookFields(name, input()) },
        `${stage.key}:completed`,
      );
  }
}

/**
 * Lets a pre-hook look at the texts of a conversation that the client brings, oldest first, and at the message after
 * them. The result has all of them, or is undefined when the hook changed none.
 */
async function changedTexts(
  run: PreHookFunction,
  input: HookInput,
  earlier: readonly string[],
  context: HookContext,
  isNative: boolean,
): Promise<unknown> {
  const texts = [...earlier, input.content];
  if (isNative) {
    // guardrails of ours take any JSON, and a model that moderates is asked once
    const check = run as unknown as (subject: { content: Json }, given: HookContext) => Promise<unknown>;
    return check({ content: texts }, context);
  }
  const results: unknown[] = [];
  for (const content of earlier) {
    const subject: HookInput = { content, media: [], isEarlier: true };
    results.push(content === '' ? undefined : await run(subject, { ...context, input: subject }));
  }
  results.push(await run(input, context));
  const isChanged = results.some((result) => result !== undefined && result !== null);
  return isChanged ? results.map((result, at) => result ?? texts[at]) : undefined;
}

function takeChange(input: SaidInput, conversation: CallerConversation | undefined, changed: Json): void {
  if (conversation === undefined || !Array.isArray(changed)) {
    input.content = textOf(changed);
    return;
  }
  const texts = changed.map(textOf);
  input.content = texts.pop() ?? '';
  input.conversation = withEarlierTexts(conversation, texts);
}

/** Lets each post-hook look at what the run has to say. What one of them refuses is withheld. */
export async function runPostHooks(execution: AgentExecution, answer: Answer): Promise<Answer> {
  const { postHooks } = execution.agent.settings;
  if (postHooks === undefined) return answer;
  const { context } = execution;
  let current = answer;
  // what has not passed is not shown either when the run is cancelled now
  context.draft.content = '';
  for (const [position, hook] of postHooks.entries()) {
    const { run, ...about } = named(hook, `post_hook_${position + 1}`);
    const { name } = about;
    const key = `post-hook:${position}`;
    const stage = { kind: 'output', key, ...about, identity: identityOf(hook) } as const;
    const { content, contentType } = current;
    const record = await runHook(execution, stage, {
      started: { event: 'PostHookStarted', post_hook_name: name },
      call: (hookContext) => run({ content, contentType }, hookContext),
    });
    if (record.outcome === 'refused') {
      await keepInConversation(context, null);
      throw refusal('output_check_error', record);
    }
    if (record.outcome === 'changed') current = changed(current, record.content);
    if (record.outcome !== 'crashed')
      context.emit({ event: 'PostHookCompleted', post_hook_name: name }, `${stage.key}:completed`);
  }
  return current;
}

interface Stage {
  readonly kind: 'input' | 'output';
  readonly key: string;
  readonly name: string;
  readonly required: boolean;
  readonly identity: string;
  /** One of Runyard's own. */
  readonly native: boolean;
}

interface HookCall {
  readonly started: RunEvent;
  call(context: HookContext): unknown;
}

async function runHook(
  execution: AgentExecution,
  stage: Stage,
  { started, call }: HookCall,
): Promise<HookRecord> {
  const { context } = execution;
  context.emit(started, `${stage.key}:started`);
  const spec = {
    kind: 'hook',
    name: stage.name,
    ...identified(stage),
    record: hookRecord,
    failed: hasFailed,
  } as const;
  return context.step(stage.key, spec, async (scope) => {
    const state = context.state.fork();
    try {
      const given = contextOf(execution, stage, scope, state);
      const content = await (stage.native
        ? call(given)
        : context.callApplication(stage.name, () => call(given)));
      const record = recordOf(stage, content);
      state.merge();
      return record;
    } catch (thrown) {
      const error = thrownError(thrown);
      if (error instanceof GuardrailRefusal) return refused(execution, stage, error);
      scope.signal.throwIfAborted();
      if (stage.required || error instanceof RunPaused) throw error;
      context.log.warn(
        { err: error, hook: stage.name, runId: context.run.runId },
        'a hook crashed; the run continues',
      );
      return { outcome: 'crashed', message: reasonOf(error) };
    }
  });
}

/** A hook without a name is known by its source, which its record has to say. */
function identified({ name, identity }: Stage): Pick<StepSpec<HookRecord>, 'input' | 'identity'> {
  const isNamed = identity === `'${name}'`;
  const words = (text: string) => `${text} (hook)`;
  return {
    ...(!isNamed && { input: { source: identity } }),
    identity: {
      is: words(identity),
      was: (step) => {
        const source = readIf(step, hookInput)?.source;
        if (source !== undefined) return words(source);
        // records of earlier versions say nothing about a hook without a name
        return !isNamed && step.name === name ? undefined : words(`'${step.name}'`);
      },
    },
  };
}

/** Whether the run is a copy: the input of its original has passed the hooks of that time. */
function isInherited(context: RunContext): boolean {
  return context.recorded('context')?.attempt === inheritedAttempt;
}

/** The input as the hooks of the original left it. */
function takeInput({ context, input }: AgentExecution): void {
  for (const step of context.steps('hook')) {
    if (!step.key.startsWith('pre-hook:')) continue;
    const record = readIf(step, hookRecord);
    if (record?.outcome === 'changed') takeChange(input, conversationIn(input), record.content);
  }
}

/** The result of the hook. What it returned is copied: it may change its object later. */
function recordOf({ name, native }: Stage, content: unknown): HookRecord {
  if (content === undefined || content === null) return { outcome: 'passed' };
  // hooks of ours return data
  const kept = native ? (content as Json) : storable(content, `The hook '${name}' returned a value that`);
  return { outcome: 'changed', content: kept };
}

function hasFailed({ outcome }: HookRecord): boolean {
  return outcome === 'refused' || outcome === 'crashed';
}

function contextOf(
  execution: AgentExecution,
  { kind, key }: Stage,
  scope: StepScope,
  state: StateView,
): HookContext {
  const { agent, context, dependencies, input, metadata } = execution;
  const { run } = context;
  let asked = 0;
  return {
    stage: kind,
    agentId: agent.id,
    runId: run.runId,
    sessionId: run.sessionId,
    userId: run.userId,
    input: { content: input.content, media: run.input.media },
    state,
    dependencies,
    metadata,
    fields: context.options.extra ?? {},
    signal: scope.signal,
    log: context.log,
    askModel: (call: HookModelCall) => {
      asked += 1;
      return handled(askModel(context, key, asked, call));
    },
  };
}

async function askModel(
  context: RunContext,
  key: string,
  number: number,
  { model, messages, output }: HookModelCall,
): Promise<string> {
  const { content } = await callAuxiliaryModel(context, {
    key: `${key}:model:${number}`,
    parentKey: key,
    role: 'guardrail_model',
    model: resolveModel(model),
    messages: messages.map((message) => plainMessage(message.role, message.content)),
    ...(output !== undefined && { output }),
  });
  return content;
}

function refused(
  { context }: AgentExecution,
  { kind, name }: Stage,
  { message, details }: GuardrailRefusal,
): HookRecord {
  const { trigger = `${kind}_not_allowed`, additionalData } = details;
  const record = { outcome: 'refused', message, trigger: String(trigger) } as const;
  if (additionalData === undefined) return record;
  try {
    return { ...record, additionalData: storable(additionalData, `additionalData of the hook '${name}'`) };
  } catch (error) {
    context.log.warn(
      { err: error, hook: name, runId: context.run.runId },
      'the details of a rejection are left out',
    );
    return record;
  }
}

function refusal(
  type: string,
  { message, trigger, additionalData }: HookRecord & { outcome: 'refused' },
): RunFailed {
  return new RunFailed({
    type,
    id: trigger,
    message,
    ...(additionalData !== undefined && { additionalData }),
  });
}

/** Other content is of the same type as long as it can be. */
function changed(answer: Answer, content: HookOutput['content']): Answer {
  const isText = typeof content === 'string';
  const contentType = isText ? 'str' : answer.contentType === 'str' ? 'dict' : answer.contentType;
  return { content, contentType, said: textOf(content), ending: withoutPlaces(answer.ending) };
}

function named<Hook extends PreHook | PostHook>(hook: Hook, fallback: string) {
  // a hook is a function, or an object whose `run` is the same function
  type Run = Extract<Hook, (...args: never[]) => unknown>;
  const native = isNative(hook);
  if (typeof hook === 'function')
    // as above
    return { name: hook.name || fallback, required: false, native, run: hook as Run };
  const { name, required = false } = hook;
  // as above
  return { name, required, native, run: hook.run.bind(hook) as Run };
}
