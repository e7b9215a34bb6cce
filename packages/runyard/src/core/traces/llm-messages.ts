import { type Json, type JsonObject, parseJson } from '../json.js';
import type { Message } from '../models/message.js';
import type { SpanAttributes } from './span.js';

/** Messages as `input.value` and `output.value` hold them. */
export function plainMessages(messages: readonly Message[]): JsonObject[] {
  return messages.map(({ role, content, toolCalls, toolCallId, reasoningContent }) => ({
    role,
    content,
    ...(toolCalls !== undefined && {
      tool_calls: toolCalls.map(({ id, name, arguments: written }) => ({
        id,
        type: 'function',
        function: { name, arguments: written },
      })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(reasoningContent !== undefined && { reasoning_content: reasoningContent }),
  }));
}

/** Messages as OpenInference spreads them over keys. */
export function messageAttributes(prefix: string, messages: readonly Message[]): SpanAttributes {
  const attributes: Record<string, string> = {};
  for (const [
    position,
    { role, content, toolCalls = [], toolCallId, reasoningContent },
  ] of messages.entries()) {
    const at = `${prefix}.${position}.message`;
    attributes[`${at}.role`] = role;
    if (content !== '') attributes[`${at}.content`] = content;
    if (toolCallId !== undefined) attributes[`${at}.tool_call_id`] = toolCallId;
    for (const [number, call] of toolCalls.entries()) {
      const of = `${at}.tool_calls.${number}.tool_call`;
      attributes[`${of}.id`] = call.id;
      attributes[`${of}.function.name`] = call.name;
      attributes[`${of}.function.arguments`] = call.arguments;
    }
    if (reasoningContent !== undefined) {
      attributes[`${at}.contents.0.message_content.type`] = 'reasoning';
      attributes[`${at}.contents.0.message_content.text`] = reasoningContent;
    }
  }
  return attributes;
}

/** Messages as OpenTelemetry's conventions for generative AI write them. */
export function conventionalMessages(messages: readonly Message[]): JsonObject[] {
  return messages.map((message) => ({ role: message.role, parts: partsOf(message) }));
}

export function conventionalOutput(message: Message, finishReason: string): JsonObject[] {
  return conventionalMessages([message]).map((said) => ({
    ...said,
    finish_reason: finishReason === 'tool_calls' ? 'tool_call' : finishReason,
  }));
}

function partsOf({ role, content, toolCalls = [], toolCallId, reasoningContent }: Message): JsonObject[] {
  if (role === 'tool') return [{ type: 'tool_call_response', id: toolCallId ?? null, response: content }];
  return [
    ...(reasoningContent === undefined ? [] : [{ type: 'reasoning', content: reasoningContent }]),
    ...(content === '' ? [] : [{ type: 'text', content }]),
    ...toolCalls.map(({ id, name, arguments: written }) => ({
      type: 'tool_call',
      id,
      name,
      arguments: parsed(written),
    })),
  ];
}

function parsed(written: string): Json {
  try {
    return parseJson(written);
  } catch {
    return written;
  }
}
