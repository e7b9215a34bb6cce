import type { Json } from '../../json.js';
import type { AnswerEnding } from '../../models/model.js';
import type { RunContext } from '../../runs/context.js';
import { type AnswerRecord, answerRecord } from '../journal-records.js';

/** What a run has to say. */
export interface Answer {
  readonly content: Json;
  readonly contentType: string;
  /** What the conversation keeps instead of the last model call's own text, when that is not what the caller gets. */
  readonly said?: string;
  /** How the model call ended that wrote the content. */
  readonly ending: Partial<AnswerEnding>;
}

export function textOf(content: Json): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/** Records the last word of the conversation where it is not the model's own; null withholds that. */
export function keepInConversation(context: RunContext, text: string | null): Promise<AnswerRecord> {
  const spec = { kind: 'answer', name: 'answer', record: answerRecord } as const;
  return context.step('answer', spec, async () => ({ text }));
}
