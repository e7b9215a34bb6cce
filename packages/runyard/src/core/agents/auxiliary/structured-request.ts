import type { Message } from '../../models/message.js';
import type { Model, ModelRequest, OutputFormat } from '../../models/model.js';
import { schemaInWords } from '../../models/provider/schema-in-words.js';

/** The part of a request that asks for a shape: by the provider's own means, or in words for a model without any. */
export function withOutput(
  model: Model,
  messages: readonly Message[],
  output: OutputFormat,
): Pick<ModelRequest, 'messages' | 'output'> {
  if (model.capabilities.structuredOutput === 'native') return { messages, output };
  const createdAt = messages.at(-1)?.createdAt ?? 0;
  const words: Message = { id: 'output-format', role: 'system', content: schemaInWords(output), createdAt };
  return { messages: [words, ...messages] };
}
