import { handled } from '../../errors/handled.js';
import { reasonOf } from '../../errors/reason.js';
import { thrownError } from '../../errors/thrown-error.js';
import type { RunEvent } from '../../events/run-event.js';
import type { Json } from '../../json.js';
import { resolveModel } from '../../models/resolve.js';
import { type RunContext, RunPaused, type StepScope, type StepSpec } from '../../runs/context.js';
import { RunFailed } from '../../runs/executable.js';
import type { StateView } from '../../runs/execution/session-state.js';
import { readIf } from '../../runs/journal/codec.js';
import { storable } from '../../storable-json.js';
import { callAuxiliaryModel, plainMessage } from '../auxiliary/auxiliary-step.js';
import type { AgentExecution } from '../execution.js';
import { type HookRecord, hookInput, hookRecord } from '../journal-records.js';
import { GuardrailRefusal, type HookContext, type HookModelCall } from './hook.js';

/** A hook at its place in a run. */
export interface Stage {
  readonly kind: HookContext['stage'];
  readonly key: string;
  readonly name: string;
  readonly required: boolean;
  readonly identity: string;
  /** One of Runyard's own. */
  readonly native: boolean;
}

interface HookCall {
  /** Left out: readers of the run see nothing of it. */
  readonly started?: RunEvent;
  call(context: HookContext): unknown;
}

/** Calls a hook once for its place: its outcome is recorded, and so are the changes that it makes of the state. */
export async function runHook(
  execution: AgentExecution,
  stage: Stage,
  { started, call }: HookCall,
): Promise<HookRecord> {
  const { context } = execution;
  if (started !== undefined) context.emit(started, `${stage.key}:started`);
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
      const given = hookContextOf(execution, stage, scope, state);
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

/** What a hook learns about its run. */
export function hookContextOf(
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
  const {
    trigger = kind === 'input' || kind === 'before_model' ? 'input_not_allowed' : 'output_not_allowed',
    additionalData,
  } = details;
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

/** How a refusal ends the run. */
export function refusal(
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
