import type { Model } from '../../models/model.js';
import { plainMessage, tryAuxiliaryModel } from '../auxiliary/auxiliary-step.js';
import type { AgentExecution } from '../execution.js';
import type { AuxiliaryRole } from '../journal-records.js';
import type { Answer } from './answer-record.js';
import type { OutputShape } from './output-format.js';

export interface WrittenText {
  readonly text: string;
  /** Who is asked once to mend what does not fit; null for nobody. */
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
  const first = await shape.read(written.text, execution.context.callApplication);
  if (!('faults' in first)) return first;
  const mended = await mend(execution, shape, written, first.faults);
  if (mended === undefined) return undefined;
  const second = await shape.read(mended, execution.context.callApplication);
  return 'faults' in second ? undefined : { ...second, said: mended };
}

const shownFaults = 20;

async function mend(
  { context, input }: AgentExecution,
  shape: OutputShape,
  { text, mender, role, key }: WrittenText,
  faults: readonly string[],
): Promise<string | undefined> {
  if (mender === null) return undefined;
  const parts = [
    `The task:\n${input.content}`,
    `The answer:\n${text}`,
    `Why it does not fit:\n${faults
      .slice(0, shownFaults)
      .map((fault) => `- ${fault}`)
      .join('\n')}`,
  ];
  const messages = [plainMessage('system', instructions), plainMessage('user', parts.join('\n\n'))];
  const call = { key, role, model: mender, messages, output: shape.format };
  return (await tryAuxiliaryModel(context, call))?.content;
}

const instructions =
  'You are given a task and an answer to it that does not fit the JSON schema it has to fit. Answer with the corrected JSON value and nothing else. Keep what the answer says; change only what its faults ask for, and invent nothing.';
