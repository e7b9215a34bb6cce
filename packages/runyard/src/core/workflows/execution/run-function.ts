import { pause, withinTime } from '../../async/abort.js';
import { backOffMs } from '../../async/back-off.js';
import { errorCode } from '../../errors/error-code.js';
import { thrownError } from '../../errors/thrown-error.js';
import { customEvent } from '../../events/custom-event.js';
import type { JsonObject } from '../../json.js';
import { RunPaused, type StepScope } from '../../runs/context.js';
import { resumeTries } from '../../runs/execution/failed-tries.js';
import { Reports } from '../../runs/execution/reports.js';
import { failureOf } from '../../runs/run-failure.js';
import { storable, storableCopy, UnstorableValue } from '../../storable-json.js';
import type { StepContext, StepFunction, StepInput } from '../definition/functions.js';
import type { StepNode } from '../definition/node.js';
import type { StepCalls } from '../definition/step-calls.js';
import { StepOutputValue, type StepReturn } from '../definition/step-return.js';
import { FunctionCalls, functionAtRest, madeByFunction } from '../functions/function-calls.js';
import type { FunctionSite } from '../functions/function-site.js';
import { StepFault } from '../functions/step-fault.js';
import { type FunctionRecord, functionRecord, nodeKey, runKey } from '../journal-records.js';
import { type Flow, type Place, type Scope, stepFields, stepInput } from './flow.js';
import type { Round, RoundResult } from './round.js';
import { runFields } from './run-fields.js';
import { boundOf } from './step-timeout.js';

/**
 * One round of a step that is a function. It is a step of the journal of its own where a person may have to be asked
 * afterwards; otherwise the node's is enough.
 */
export async function runFunction(
  flow: Flow,
  node: StepNode,
  work: StepFunction,
  place: Place,
  scope: Scope,
  round: Round,
  begin: () => void,
): Promise<RoundResult> {
  const key = runKey(place.path, round.number);
  const attempts = (site: StepScope) => attempt(flow, node, work, place, scope, round, site);
  const isOwnStep = isFollowed(node);
  const resting = functionAtRest(flow, isOwnStep ? key : nodeKey(place.path));
  if (resting !== undefined) throw resting;
  if (!isOwnStep) {
    flow.context.replay?.stop(madeByFunction(nodeKey(place.path)));
    begin();
    const site = siteOf(flow, nodeKey(place.path));
    return resultOf(await attempts(site), undefined);
  }
  if (flow.context.recorded(key) === undefined) begin();
  const spec = {
    kind: 'step',
    name: node.name,
    parentKey: nodeKey(place.path),
    input: { round: round.number },
    record: functionRecord,
    failed: isFailure,
  } as const;
  return resultOf(await flow.context.step(key, spec, attempts), key);
}

function isFollowed({ review, onError, skipOnFailure }: StepNode): boolean {
  return Boolean(review?.requiresOutputReview) || (onError === 'pause' && !skipOnFailure);
}

function isFailure(record: FunctionRecord): boolean {
  return 'failure' in record || !record.success;
}

function siteOf({ context }: Flow, key: string): StepScope {
  return { key, signal: context.signal, idempotencyKey: context.idempotencyKey(key) };
}

function resultOf(record: FunctionRecord, from: string | undefined): RoundResult {
  if ('failure' in record) return { failure: record.failure, ...(from !== undefined && { from }) };
  if (from === undefined) return { record };
  const { success, error, stop } = record;
  return { record: { from, success, error, stop } };
}

async function attempt(
  flow: Flow,
  node: StepNode,
  work: StepFunction,
  place: Place,
  scope: Scope,
  round: Round,
  site: StepScope,
): Promise<FunctionRecord> {
  const { context } = flow;
  for (let tries = await resumeTries(context, site); ; tries += 1) {
    site.signal.throwIfAborted();
    const state = context.state.fork();
    const reports = new Reports(context);
    const startedAt = context.timers.now();
    let calls: FunctionCalls | undefined;
    let delayMs: number;
    try {
      const [returned] = await Promise.allSettled([
        withinTime(boundOf(node, site.signal, context.timers), (signal) => {
          const call = { tries, signal, isBounded: node.timeoutMs !== undefined };
          calls = new FunctionCalls(functionSite(flow, node, place, scope, round, site), call);
          const input = stepInput(flow, place, scope, state);
          const { key, idempotencyKey } = site;
          const inTime = { key, idempotencyKey, signal };
          const given = stepContext(flow, node, place, input, round, inTime, reports, calls);
          return context.callApplication(node.name, () => work(given));
        }),
      ]);
      await calls?.settled();
      if (returned.status === 'rejected') throw returned.reason;
      const record = recordOf(returned.value);
      calls?.assertAllAskedFor();
      state.merge();
      return record;
    } catch (thrown) {
      const error = thrownError(thrown);
      site.signal.throwIfAborted();
      if (error instanceof RunPaused) throw error;
      context.log.warn({ err: error, runId: context.run.runId, step: node.name }, 'a step failed');
      if (tries >= node.maxRetries || isFinal(error)) return { failure: shownFailure(error) };
      delayMs = backOffMs(node.backoff, tries);
      context.noteTry(site.key, { name: node.name, error, startedAt, delayMs });
    } finally {
      reports.end();
    }
    if (delayMs > 0) await pause(delayMs, site.signal, context.timers);
  }
}

/** Whether the next try would come to the same, or would do again what is done. */
function isFinal(error: Error): boolean {
  return (
    error instanceof UnstorableValue || error instanceof StepFault || errorCode(error) === 'invalid_config'
  );
}

function functionSite(
  flow: Flow,
  node: StepNode,
  place: Place,
  scope: Scope,
  round: Round,
  { key }: StepScope,
): FunctionSite {
  return {
    flow,
    place,
    scope,
    name: node.name,
    parentKey: key,
    runPrefix: `${runKey(place.path, round.number)}:`,
    // a person who has the step done again is asked again
    waitPrefix: round.number === 1 ? '' : `${round.number}:`,
    runFields: () => runFields(flow, stepFields(node, place)),
  };
}

function stepContext(
  flow: Flow,
  node: StepNode,
  place: Place,
  input: StepInput,
  round: Round,
  site: StepScope,
  reports: Reports,
  { run, suspend, sleep, waitForEvent }: StepCalls,
): StepContext {
  const { context } = flow;
  return Object.assign(input, {
    run,
    suspend,
    sleep,
    waitForEvent,
    rejectionFeedback: round.feedback ?? feedbackIn(input),
    rejectedContent: round.rejected,
    signal: site.signal,
    idempotencyKey: site.idempotencyKey,
    log: context.log,
    emit: eventSender(flow, place, site.key, stepFields(node, place), reports),
  });
}

/** What a person said about the iteration before. */
function feedbackIn({ additionalData }: StepInput): string | null {
  const { rejection_feedback: feedback } = additionalData;
  return typeof feedback === 'string' ? feedback : null;
}

const sentBy = new WeakMap<Flow, Map<string, number>>();

/** Sends events of the application; each has a number, so that none is sent twice and none is lost. */
function eventSender(
  flow: Flow,
  place: Place,
  key: string,
  fields: JsonObject,
  reports: Reports,
): StepContext['emit'] {
  const counts = sentBy.get(flow) ?? new Map<string, number>();
  sentBy.set(flow, counts);
  const { attempt: execution } = flow.context.run;
  return (event) => {
    const sent = counts.get(key) ?? 0;
    counts.set(key, sent + 1);
    return reports.send(
      () => customEvent('workflow', event, fields),
      `on:${nodeKey(place.path)}:custom:${key}:${execution}:${sent}`,
    );
  };
}

/** Reads what a function returned. What JSON cannot hold is a failure that names it. */
export function recordOf(value: StepReturn): Exclude<FunctionRecord, { failure: unknown }> {
  const {
    content,
    stop = false,
    success = true,
    error,
    media,
  } = value instanceof StepOutputValue ? value.settings : { content: value };
  return {
    content: content === undefined ? '' : storable(content, 'it returned a value that'),
    ...(media !== undefined && media.length > 0 && { media: storableCopy(media, 'it returned media that') }),
    success: Boolean(success) && error === undefined,
    error: error === undefined ? null : String(error),
    stop: Boolean(stop),
  };
}

/** The part of a failure that a step leaves behind. */
export function shownFailure(error: unknown): { type: string; message: string } {
  const { type, message } = failureOf(error);
  return { type, message };
}
