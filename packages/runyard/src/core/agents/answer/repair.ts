import type { AnswerEnding, Model } from '../../models/model.js';
import { plainMessage, tryAuxiliaryModel } from '../auxiliary/auxiliary-step.js';
import type { AgentExecution } from '../execution.js';
import type { AuxiliaryRecord, AuxiliaryRole, ModelRecord } from '../journal-records.js';
import type { Answer } from './answer-record.js';
import { rewrittenEnding, withoutPlaces } from './ending.js';
import type { OutputShape } from './output-format.js';
import { assertAccepted, isDeclined } from './stopped.js';

export interface WrittenText {
  /** The call that wrote it. */
  readonly record: ModelRecord;
  readonly ending: Partial<AnswerEnding>;
  /** The model that is asked once to repair an answer that does not match; null for none. */
  readonly mender: Model | null;
  readonly role: AuxiliaryRole;
  readonly key: string;
}

/** Brings a text into its shape; one that does not fit goes back once with its faults. Undefined when it never fits. */
export async function fitOrMend(
  execution: AgentExecution,
  shape: OutputShape,
  written: WrittenText,
): Promise<Answer | undefined> {
  const { ending, record } = written;
  const first = await shape.read(record.content, execution.context.callApplication);
  if (!('faults' in first)) return { ...first, ending: withoutPlaces(ending) };
  const mended = await mend(execution, shape, written, first.faults);
  if (mended === undefined) return undefined;
  const second = await shape.read(mended.content, execution.context.callApplication);
  if ('faults' in second) return undefined;
  return { ...second, said: mended.content, ending: withoutPlaces(rewrittenEnding(mended, ending)) };
}

const shownFaults = 20;

async function mend(
  { agent, context, input }: AgentExecution,
  shape: OutputShape,
  { record, mender, role, key }: WrittenText,
  faults: readonly string[],
): Promise<AuxiliaryRecord | undefined> {
  if (mender === null || isDeclined(record)) return undefined;
  const parts = [
    `The task:\n${input.content}`,
    `The answer:\n${record.content}`,
    `Why it does not fit:\n${faults
      .slice(0, shownFaults)
      .map((fault) => `- ${fault}`)
      .join('\n')}`,
  ];
  const messages = [plainMessage('system', instructions), plainMessage('user', parts.join('\n\n'))];
  const call = { key, role, model: mender, messages, output: shape.format };
  const mended = await tryAuxiliaryModel(context, call);
  if (mended !== undefined) assertAccepted(agent.settings, mender, mended);
  return mended;
}

const instructions =
  'You are given a task and an answer to it that does not fit the JSON schema it has to fit. Answer with the corrected JSON value and nothing else. Keep what the answer says; change only what its faults ask for, and invent nothing.';
