import type { ToolCallSite } from '../../tools/tool-context.js';
import { type NewMedia, storeMedia } from '../../tools/tool-result.js';
import type { AuxiliaryRecord } from '../journal-records.js';
import { executionOf, stepKeyOf } from '../turns/built-in/execution-of-call.js';
import { callAuxiliaryModel, plainMessage } from './auxiliary-step.js';

export interface SampledMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
  readonly media: readonly NewMedia[];
}

export interface Sampling {
  /** Which one of the call it is. */
  readonly number: number;
  readonly messages: readonly SampledMessage[];
}

/**
 * A call of the agent's model for a tool, without tools. A tool that is executed again may ask for something else: each
 * execution has steps of its own.
 */
export async function sampleInCall(
  site: ToolCallSite,
  { number, messages }: Sampling,
): Promise<AuxiliaryRecord> {
  const { context, model } = executionOf(site);
  const toolKey = stepKeyOf(site);
  const shown = await Promise.all(
    messages.map(async ({ role, content, media }) => {
      const stored = await storeMedia(media, context.ports.media);
      if (stored.faults.length > 0) throw new Error(stored.faults.join('\n'));
      return { ...plainMessage(role, content), ...(media.length > 0 && { media: stored.media }) };
    }),
  );
  return callAuxiliaryModel(context, {
    key: `sampling:${toolKey}:${context.root.attempt}:${number}`,
    role: 'sampling_model',
    model,
    messages: shown,
    parentKey: toolKey,
  });
}
