import type { CallerMessage, CallerToolCall } from '../../core/runs/caller-input.js';
import type { UiMessage, UiPart } from './chat-body.js';

export function isToolPart({ type }: UiPart): boolean {
  return type.startsWith('tool-') || type === 'dynamic-tool';
}

function toolNameOf({ type, toolName = '' }: UiPart): string {
  return type === 'dynamic-tool' ? toolName : type.slice('tool-'.length);
}

export function textOf({ parts }: UiMessage): string {
  return parts.flatMap(({ type, text = '' }) => (type === 'text' ? [text] : [])).join('\n');
}

/** What the client shows before the last message, for the model: texts, and calls that have a result. */
export function conversationIn(messages: readonly UiMessage[]): CallerMessage[] {
  return messages.flatMap((message): CallerMessage[] => {
    if (message.role === 'user') return [{ role: 'user', content: textOf(message) }];
    // instructions are those of the component: a page does not give it others
    return message.role === 'assistant' ? stepsOf(message).flatMap(messagesOfStep) : [];
  });
}

function stepsOf({ parts }: UiMessage): UiPart[][] {
  const steps: UiPart[][] = [[]];
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([]);
    else steps.at(-1)?.push(part);
  }
  return steps;
}

function messagesOfStep(parts: readonly UiPart[]): CallerMessage[] {
  const content = parts.flatMap(({ type, text = '' }) => (type === 'text' ? [text] : [])).join('');
  const done = parts.filter((part) => isToolPart(part) && part.toolCallId && resultOf(part) !== undefined);
  if (content === '' && done.length === 0) return [];
  const calls = done.map(
    (part): CallerToolCall => ({
      id: part.toolCallId ?? '',
      name: toolNameOf(part),
      arguments: JSON.stringify(part.input ?? {}),
    }),
  );
  const results = done.map(
    (part): CallerMessage => ({
      role: 'tool',
      content: resultOf(part) ?? '',
      toolCallId: part.toolCallId ?? '',
    }),
  );
  return [{ role: 'assistant', content, ...(calls.length > 0 && { toolCalls: calls }) }, ...results];
}

function resultOf({ state, output, errorText, approval }: UiPart): string | undefined {
  if (state === 'output-available')
    return typeof output === 'string' ? output : JSON.stringify(output ?? null);
  if (state === 'output-error') return errorText ?? 'The call failed.';
  if (state === 'output-denied') return approval?.reason ?? 'The call was denied.';
  return undefined;
}
