import { AsyncResource } from 'node:async_hooks';
import { pause } from '../../async/abort.js';
import { backOffMs } from '../../async/back-off.js';
import { deliver, promised, type Receiver } from '../../async/receiver.js';
import type { FailureReason } from '../../models/failure-reason.js';
import type { Model } from '../../models/model.js';
import { ModelError } from '../../models/model-error.js';
import { resolveModel } from '../../models/resolve.js';
import type { StepScope } from '../../runs/context.js';
import { RunFailed } from '../../runs/executable.js';
import type { AgentSettings } from '../definition.js';
import type { AgentExecution } from '../execution.js';
import type { ModelRecord } from '../journal-records.js';
import { failureReasonOf, fallbackOf, nextFallback } from './fallback.js';

const defaultDelayMs = 1_000;
/** The longest wait before the next try: a provider that asks for more has failed. */
const longestDelayMs = 60_000;

/** One call of the model of an execution. */
type ModelCall = (
  execution: AgentExecution,
  scope: StepScope,
  callsBefore: number,
  receiver: Receiver<ModelRecord>,
) => void;

/**
 * Calls the model of the execution: again after a failure as often as the agent allows, then the fall-back models for
 * the reason of the failure, each once. A fall-back that is reached stays the model of the execution.
 */
export function callUntilAnswered(
  execution: AgentExecution,
  scope: StepScope,
  call: ModelCall,
  receiver: Receiver<ModelRecord>,
): void {
  const first = new FirstCall(execution, scope, call, receiver);
  try {
    call(execution, scope, 0, first);
  } catch (error) {
    first.failed(error);
  }
}

/**
 * The first call, which most models answer. After a failure, an async function makes the others. Both continue in the
 * async context in which the call began, whatever the model's code has entered meanwhile.
 */
class FirstCall extends AsyncResource implements Receiver<ModelRecord> {
  private readonly startedAt: number;

  constructor(
    private readonly execution: AgentExecution,
    private readonly scope: StepScope,
    private readonly call: ModelCall,
    private readonly receiver: Receiver<ModelRecord>,
  ) {
    super('ModelCall');
    this.startedAt = execution.context.timers.now();
  }

  received(record: ModelRecord): void {
    this.runInAsyncScope(() => this.receiver.received(record));
  }

  failed(error: unknown): void {
    const { execution, scope, call, startedAt } = this;
    this.runInAsyncScope(() =>
      deliver(callAgain(execution, scope, call, { error, startedAt }), this.receiver),
    );
  }
}

async function callAgain(
  execution: AgentExecution,
  scope: StepScope,
  call: ModelCall,
  { error, startedAt }: { error: unknown; startedAt: number },
): Promise<ModelRecord> {
  const { agent, context } = execution;
  const called = new Set<number | null>();
  let retried = 0;
  for (let callsBefore = 1; ; callsBefore += 1) {
    const { model } = execution;
    called.add(execution.fallback);
    scope.signal.throwIfAborted();
    // code of the application failed, and no model
    if (error instanceof RunFailed) throw error;
    context.ports.pace?.failed(model, error);
    const delayMs = retryDelay(agent.settings, error, retried);
    const facts = { err: error, model: model.id, runId: context.run.runId };
    const failed = { name: model.id, error, startedAt, model: named(model) };
    if (delayMs !== undefined) {
      retried += 1;
      context.noteTry(scope.key, { ...failed, delayMs });
      context.log.warn({ ...facts, delay: delayMs }, 'a model call failed; retrying');
      await pause(delayMs, scope.signal, context.timers);
    } else {
      retried = 0;
      const reason = failureReasonOf(error);
      const next = nextFallback(agent.settings.fallbackModels ?? [], reason, called);
      if (next === undefined) throw error;
      useFallback(execution, next);
      context.noteTry(scope.key, { ...failed, delayMs: 0 });
      context.log.warn(
        { ...facts, reason, next: execution.model.id },
        'a model failed; calling the next one',
      );
      await announceFallback(execution, { reason, error, from: model });
    }
    startedAt = context.timers.now();
    try {
      return await promised((receiver) => call(execution, scope, callsBefore, receiver));
    } catch (failure) {
      error = failure;
    }
  }
}

async function announceFallback(
  { agent, context, model }: AgentExecution,
  { reason, error, from }: { reason: FailureReason; error: unknown; from: Model },
): Promise<void> {
  const { onFallback } = agent.settings;
  if (onFallback === undefined) return;
  const { runId, sessionId, userId } = context.run;
  const notice = { reason, error, from: named(from), to: named(model), runId, sessionId, userId };
  try {
    await context.callApplication('onFallback', () => onFallback(notice));
  } catch (err) {
    // it only reports: the next model can answer all the same
    context.log.warn({ err, runId }, 'onFallback failed');
  }
}

function named({ id, provider }: Model): { id: string; provider: string } {
  return { id, provider };
}

/** After a crash: continues with the model that the journal says answered last. */
export function useRecordedModel(execution: AgentExecution, record: ModelRecord): void {
  const { fallback } = record;
  if (fallback !== undefined && fallback !== execution.fallback) useFallback(execution, fallback);
}

function useFallback(execution: AgentExecution, position: number): void {
  const entry = execution.agent.settings.fallbackModels?.[position];
  // the code of a later version may have fewer of them
  if (entry === undefined) return;
  execution.model = resolveModel(fallbackOf(entry).model);
  execution.fallback = position;
}

/** Which model answered, when it was not the one that the run is known by. */
export function answeredBy({ fallback, model, context: { run } }: AgentExecution) {
  if (fallback !== null) return { fallback, model: named(model) };
  const isKnown = run.model === model.id && run.modelProvider === model.provider;
  return isKnown ? {} : { model: named(model) };
}

function retryDelay(settings: AgentSettings, error: unknown, retried: number): number | undefined {
  const { retries = 0, delayBetweenRetriesMs = defaultDelayMs, exponentialBackoff = false } = settings;
  const isModelError = error instanceof ModelError;
  // what a model of the application's own throws may well be over at the next try
  if (retried >= retries || (isModelError && !error.retryable)) return undefined;
  const asked = (isModelError && error.retryAfterMs) || 0;
  if (asked > longestDelayMs) return undefined;
  const factor = exponentialBackoff ? 2 : 1;
  const own = backOffMs({ delayMs: delayBetweenRetriesMs, factor, maximumMs: longestDelayMs }, retried);
  return Math.max(asked, own);
}
