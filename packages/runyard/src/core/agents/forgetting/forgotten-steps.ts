import { isRunInside } from '../../runs/execution/child-run.js';
import { read, readIf } from '../../runs/journal/codec.js';
import { childOutcome } from '../../runs/journal/records.js';
import { triedKey } from '../../runs/journal/try-keys.js';
import type { Forgets, RunInput, RunResult, StepRecord } from '../../runs/run.js';
import type { ToolAnswer, ToolRequirement } from '../../tools/questions/requirement.js';
import {
  type AuxiliaryRecord,
  auxiliaryRecord,
  beforeModelRecord,
  type ModelRecord,
  modelRecord,
  type RecordedOutcome,
  recordedOutcome,
  type ToolRecord,
  toolAnswer,
  toolRecord,
  toolRequirement,
} from '../journal-records.js';
import { stepWithoutMedia, withoutMedia } from './forgotten-media.js';

/** A step of a run that has ended, without what its run forgets; the same step if it has nothing of that. */
export function forgottenStep(step: StepRecord, forgets: Forgets, inside: Forgets | undefined): StepRecord {
  const own = forgets.toolMessages ? withoutToolMessages(step) : step;
  // the input and the result of a run inside are those of that run
  const isWithout = isRunInside(step) ? inside?.media : forgets.media;
  const left = stepWithoutMedia(own, isWithout === true);
  return inside === undefined ? left : withForgottenResult(left, inside);
}

export function forgottenInput(input: RunInput, { media }: Forgets): RunInput {
  return withoutMedia(input, media === true);
}

export function forgottenResult(given: RunResult, { toolMessages, media }: Forgets): RunResult {
  const result = withoutMedia(given, media === true);
  // it may repeat the calls of the last answer in the words of the provider
  if (!toolMessages || result.modelProviderData === undefined) return result;
  const { modelProviderData: _data, ...kept } = result;
  return kept;
}

function withForgottenResult(step: StepRecord, inside: Forgets): StepRecord {
  const outcome = step.status === 'completed' ? read(step, childOutcome) : undefined;
  if (outcome === undefined) return step;
  const result = forgottenResult(outcome.result, inside);
  return result === outcome.result ? step : { ...step, output: { ...outcome, result } };
}

function withoutToolMessages(step: StepRecord): StepRecord {
  const key = step.key.slice(step.key.lastIndexOf('/') + 1);
  switch (step.kind) {
    case 'model':
      return step.output === null ? step : withOutput(step, withoutCalls(read(step, modelRecord)));
    case 'tool':
      return withoutFailure(
        step.status === 'completed' ? { ...step, output: emptyCall(read(step, toolRecord)) } : step,
      );
    case 'auxiliary':
      return isAboutTools(key) && step.output !== null
        ? { ...step, output: emptyAnswer(read(step, auxiliaryRecord)) }
        : step;
    case 'hook':
      return key.startsWith('before-model:') ? withoutGivenMessages(step) : step;
    case 'wait':
      return key.startsWith('wait:tool:') ? emptyQuestion(step) : step;
    case 'try':
      return withoutTry(step, triedKey({ key }));
    default:
      return step;
  }
}

function withOutput<Output>(step: StepRecord, output: Output): StepRecord {
  return output === step.output ? step : { ...step, output };
}

/** The words of the provider repeat the calls. */
function withoutCalls(record: ModelRecord): ModelRecord {
  if (record.toolCalls === undefined) return record;
  const { providerData: _data, ...kept } = record;
  const toolCalls = record.toolCalls.map((call) => ({ ...call, arguments: '' }));
  return { ...kept, toolCalls, forgotten: true };
}

function emptyCall(record: ToolRecord): ToolRecord {
  const { knowledge: _knowledge, written: _written, ...kept } = record;
  return { ...kept, content: '', args: null, forgotten: true };
}

/** The calls of models that shorten a result, or that a tool asked for. */
function isAboutTools(key: string): boolean {
  return key.startsWith('compression:') || key.startsWith('sampling:');
}

function emptyAnswer({ providerData: _data, reasoning: _reasoning, ...record }: AuxiliaryRecord) {
  return { ...record, content: '', forgotten: true };
}

/** What a hook gave the model instead may hold results; what stays is by places that are no longer there. */
function withoutGivenMessages(step: StepRecord): StepRecord {
  const record = step.status === 'completed' ? read(step, beforeModelRecord) : undefined;
  if (record?.outcome !== 'changed' || record.content.messages === undefined) return step;
  const { messages: _messages, ...content } = record.content;
  return { ...step, output: { ...record, content } };
}

function withoutFailure(step: StepRecord): StepRecord {
  if (typeof step.error !== 'object' || step.error === null) return step;
  return { ...step, error: { ...step.error, message: '' } };
}

/** A failed try of a tool holds its error, one of a model the answer that broke off. */
function withoutTry(step: StepRecord, of: string): StepRecord {
  if (of.startsWith('tool:')) return withoutFailure(step);
  const answer = of.startsWith('model:') ? readIf(step, modelRecord) : undefined;
  return answer === undefined ? step : withOutput(step, withoutCalls(answer));
}

function emptyQuestion(step: StepRecord): StepRecord {
  const {
    inputFields: _fields,
    questions: _questions,
    message: _message,
    ...asked
  } = read(step, toolRequirement);
  const input: ToolRequirement = { ...asked, args: {} };
  if (step.status !== 'completed') return { ...step, input };
  const output =
    asked.kind === 'unknown_outcome'
      ? emptyOutcome(read(step, recordedOutcome))
      : emptyToolAnswer(read(step, toolAnswer));
  return { ...step, input, output };
}

function emptyOutcome(recorded: RecordedOutcome): RecordedOutcome {
  const answer = recorded.answer && { answer: emptyToolAnswer(recorded.answer) };
  if (recorded.outcome === 'done') return { ...recorded, ...answer, output: emptyCall(recorded.output) };
  return recorded.outcome === 'failed' ? { ...recorded, ...answer, message: '' } : { ...recorded, ...answer };
}

/** Who decided, and how, stays. */
function emptyToolAnswer(given: ToolAnswer): ToolAnswer {
  switch (given.answer) {
    case 'confirmed': {
      const { note: _note, ...decision } = given;
      return decision;
    }
    case 'input':
      return { ...given, values: {} };
    case 'feedback':
      return { ...given, selected: [] };
    case 'result':
      return { ...given, result: '' };
  }
}
