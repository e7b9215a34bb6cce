import type { Json } from '../../json.js';
import { recordedStep } from '../../runs/context.js';
import { RunFailed } from '../../runs/executable.js';
import type { StepNode } from '../definition/node.js';
import { contentTypeOf, foldNode, type NodeView } from '../fold/node-view.js';
import { type LeafRecord, nodeKey } from '../journal-records.js';
import { askAboutFailure } from '../review/ask-about-failure.js';
import { needsReview, reviewOutput } from '../review/review-output.js';
import { stepCompleted } from '../workflow-events.js';
import { type Flow, type Place, type Scope, stepFields, tell } from './flow.js';
import type { Round, RoundResult } from './round.js';
import { runComponent } from './run-component.js';
import { runFunction } from './run-function.js';
import { checkedRecord, scopeFor } from './step-schemas.js';

/** Rounds of one step: the first one, and one more whenever a person asks for it. */
export async function runStep(flow: Flow, node: StepNode, place: Place, outer: Scope): Promise<LeafRecord> {
  const scope = await scopeFor(flow, node, outer);
  let feedback: string | null = null;
  let rejected: Json = null;
  for (let round = 1; ; round += 1) {
    const result: RoundResult =
      'failure' in scope
        ? scope
        : await checkedRound(flow, node, place, scope, { number: round, feedback, rejected });
    if ('failure' in result) {
      if ((await decideFailure(flow, node, place, result.failure, round)) === 'retry') continue;
      const record = failedRecord(node, result);
      reportFailure(flow, node, place, record);
      return record;
    }
    const { record } = result;
    const { review } = node;
    const content = (): Json => viewOf(flow, place, record).output.content;
    if (review === undefined || !(await needsReview(flow, node, review, place, round, outer, content))) {
      if (!record.success && !record.stop) {
        const failure = { type: reportedType, message: record.error ?? 'it says that it did not succeed' };
        if ((await decideFailure(flow, node, place, failure, round)) === 'retry') continue;
      }
      report(flow, node, place, record, round);
      return record;
    }
    const tellFirst = () => report(flow, node, place, record, round);
    const verdict = await reviewOutput(flow, node, review, place, round, tellFirst);
    if (verdict.verdict === 'kept')
      return verdict.edited === undefined ? record : { ...record, content: verdict.edited };
    if (verdict.verdict === 'skipped')
      return { content: verdict.text, success: true, error: null, stop: false, skipped: true };
    feedback = verdict.feedback;
    rejected = content();
  }
}

async function checkedRound(
  flow: Flow,
  node: StepNode,
  place: Place,
  scope: Scope,
  round: Round,
): Promise<RoundResult> {
  const result = await runRound(flow, node, place, scope, round);
  if ('failure' in result) return result;
  const { record } = result;
  const checked = await checkedRecord(flow, node, record, () => viewOf(flow, place, record).output.content);
  return 'failure' in checked ? checked : { record: checked };
}

function runRound(
  flow: Flow,
  node: StepNode,
  place: Place,
  scope: Scope,
  round: Round,
): Promise<RoundResult> {
  const begin = () =>
    tell(flow, place, `started:${round.number}`, { event: 'StepStarted', ...stepFields(node, place) });
  return 'component' in node.run
    ? runComponent(flow, node, node.run.component, place, scope, round, begin)
    : runFunction(flow, node, node.run.function, place, scope, round, begin);
}

/** What the wire calls a failure that the function of a step reports with `stepOutput()`. */
const reportedType = 'step_failed';

interface StepFailure {
  readonly type: string;
  readonly message: string;
}

/** Whether a step that failed is done again or skipped; throws when it ends the run, or while a person is asked. */
async function decideFailure(
  flow: Flow,
  node: StepNode,
  place: Place,
  failure: StepFailure,
  round: number,
): Promise<'retry' | 'skip'> {
  const wants = policyOf(node);
  if (wants === 'fail') throw failed(node, failure);
  return wants === 'pause' ? askAboutFailure(flow, node, place, failure, round) : 'skip';
}

function policyOf({ skipOnFailure, onError }: StepNode): StepNode['onError'] {
  return skipOnFailure ? 'skip' : onError;
}

function failed({ name }: StepNode, { type, message }: StepFailure): RunFailed {
  return new RunFailed({
    type,
    message: `Step '${name}' failed: ${message}`,
    additionalData: { step_name: name },
  });
}

/** The workflow continues: the failure becomes the output of the step. */
function failedRecord(
  node: StepNode,
  { failure, from }: Extract<RoundResult, { failure: unknown }>,
): LeafRecord {
  const { message } = failure;
  const text = 'component' in node.run ? message : `Step '${node.name}' failed but was skipped: ${message}`;
  return {
    ...(from !== undefined && { from }),
    content: text,
    success: false,
    error: message,
    stop: false,
  };
}

function report(flow: Flow, node: StepNode, place: Place, record: LeafRecord, round: number): void {
  const view = viewOf(flow, place, record);
  const fields = stepFields(node, place);
  const isFunction = 'function' in node.run;
  if (isFunction && place.isTopLevel)
    tell(flow, place, `output:${round}`, { event: 'StepOutput', ...fields, step_output: view.output });
  if (record.stop || !record.success) return;
  const type = view.last?.contentType ?? contentTypeOf(view.output.content);
  tell(flow, place, `completed:${round}`, stepCompleted(fields, view.output, type));
}

/** A failed function emits its failure in place of its output; a failed nested run has emitted its own. */
function reportFailure(flow: Flow, node: StepNode, place: Place, record: LeafRecord): void {
  if ('component' in node.run || !place.isTopLevel) return;
  const { output } = viewOf(flow, place, record);
  tell(flow, place, 'output:failed', {
    event: 'StepOutput',
    ...stepFields(node, place),
    step_output: output,
  });
}

/** What the step will have come to once its record is written. */
function viewOf({ context }: Flow, place: Place, record: LeafRecord): NodeView {
  const key = nodeKey(place.path);
  const now = context.timers.now();
  return foldNode((other) => {
    if (other !== key) return context.recorded(other);
    return { ...recordedStep(context, key), output: record, endedAt: now };
  }, key);
}
