import { pause, withinTime } from '../../abort.js';
import { backOffMs } from '../../back-off.js';
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
import { StepOutputValue, type StepReturn } from '../definition/step-return.js';
import { type FunctionRecord, functionRecord, nodeKey, runKey } from '../journal-records.js';
import { type Flow, type Place, type Scope, stepFields, stepInput } from './flow.js';
import type { Round, RoundResult } from './round.js';
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
  if (!isFollowed(node)) {
    flow.context.replay?.stop();
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
  return review?.requiresOutputReview === true || (onError === 'pause' && !skipOnFailure);
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
    let delayMs: number;
    try {
      const value = await withinTime(boundOf(node, site.signal, context.timers), (signal) => {
        const input = stepInput(flow, place, scope, state);
        const given = stepContext(flow, node, place, input, round, { ...site, signal }, reports);
        return context.callApplication(node.name, () => work(given));
      });
      const record = recordOf(value);
      state.merge();
      return record;
    } catch (thrown) {
      const error = thrownError(thrown);
      site.signal.throwIfAborted();
      if (error instanceof RunPaused) throw error;
      context.log.warn({ err: error, runId: context.run.runId, step: node.name }, 'a step failed');
      // one whose work is done is not asked to do it again
      if (tries >= node.maxRetries || error instanceof UnstorableValue)
        return { failure: shownFailure(error) };
      delayMs = backOffMs(node.backoff, tries);
      context.noteTry(site.key, { name: node.name, error, startedAt, delayMs });
    } finally {
      reports.end();
    }
    if (delayMs > 0) await pause(delayMs, site.signal, context.timers);
  }
}

function stepContext(
  flow: Flow,
  node: StepNode,
  place: Place,
  input: StepInput,
  round: Round,
  site: StepScope,
  reports: Reports,
): StepContext {
  const { context } = flow;
  return Object.assign(input, {
    rejectionFeedback: round.feedback ?? feedbackIn(input),
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
