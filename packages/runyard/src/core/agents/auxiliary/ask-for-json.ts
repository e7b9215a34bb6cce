import type { Json } from '../../json.js';
import type { Message } from '../../models/message.js';
import type { OutputFormat } from '../../models/model.js';
import type { RunContext } from '../../runs/context.js';
import { jsonInText } from '../answer/output-format.js';
import type { AuxiliaryRecord } from '../journal-records.js';
import { type AuxiliaryCall, plainMessage, tryAuxiliaryModel } from './auxiliary-step.js';

export interface JsonQuestion extends Omit<AuxiliaryCall, 'messages' | 'output'> {
  readonly system: string;
  /** What follows the system message. */
  readonly messages: readonly Message[];
  readonly output: OutputFormat;
}

export interface JsonAnswer {
  readonly record: AuxiliaryRecord;
  /** Undefined when the answer holds no JSON. It is the model's: the caller takes from it what fits. */
  readonly value: Json | undefined;
}

/** Asks a model beside the conversation for JSON. Undefined when the call failed: the run does without it. */
export async function askForJson(
  context: RunContext,
  question: JsonQuestion,
): Promise<JsonAnswer | undefined> {
  const { system, messages, output, ...call } = question;
  const record = await tryAuxiliaryModel(context, {
    ...call,
    output,
    messages: [plainMessage('system', system), ...messages],
  });
  return record && { record, value: jsonInText(record.content) };
}

/**
 * A conversation for a model that has none of its tools: what was said, without the calls. Providers refuse
 * messages about tools that the request does not bring along.
 */
export function spokenMessages(messages: readonly Message[]): Message[] {
  return messages
    .filter(({ role, content }) => role === 'user' || (role === 'assistant' && content !== ''))
    .map(({ id, role, content, createdAt, media }) => ({
      id,
      role,
      content,
      createdAt,
      ...(role === 'user' && media !== undefined && { media }),
    }));
}
