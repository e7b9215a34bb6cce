import type { Json } from '../../json.js';
import { isNative } from '../../native-code.js';
import type { CallerConversation } from '../../runs/caller-input.js';
import type { RunContext } from '../../runs/context.js';
import { readIf } from '../../runs/journal/codec.js';
import { inheritedAttempt } from '../../runs/run.js';
import { hookIdentity as identityOf } from '../agent-structure.js';
import { type Answer, keepInConversation, textOf } from '../answer/answer-record.js';
import { withoutPlaces } from '../answer/ending.js';
import type { AgentExecution, StageWork } from '../execution.js';
import { hookRecord } from '../journal-records.js';
import type { HookContext, HookInput, HookOutput, PostHook, PreHook, PreHookFunction } from './hook.js';
import { preHookFields } from './hook-events.js';
import { refusal, runHook } from './run-hook.js';
import { conversationIn, earlierTexts, type SaidInput, withEarlierTexts } from './said-texts.js';

/**
 * Lets each pre-hook look at the input, in order; each sees what the one before made of it. What the user says when
 * a run continues is input too; the keys of its steps begin with `prefix`.
 */
export function runPreHooks(execution: AgentExecution, prefix = ''): StageWork {
  const { preHooks } = execution.agent.settings;
  if (prefix === '' && isInherited(execution.context)) {
    takeInput(execution);
    return undefined;
  }
  return preHooks && lookAtInput(execution, preHooks, prefix);
}

async function lookAtInput(
  execution: AgentExecution,
  preHooks: readonly PreHook[],
  prefix: string,
): Promise<void> {
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

/** Lets each post-hook look at what the run has to say; undefined without one. What one of them refuses is withheld. */
export function runPostHooks(execution: AgentExecution, answer: Answer): StageWork<Answer> {
  const { postHooks } = execution.agent.settings;
  return postHooks && lookAtAnswer(execution, postHooks, answer);
}

async function lookAtAnswer(
  execution: AgentExecution,
  postHooks: readonly PostHook[],
  answer: Answer,
): Promise<Answer> {
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
