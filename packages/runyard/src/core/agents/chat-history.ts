import type { Message } from '../models/message.js';
import type { Run, StepRecord } from '../runs/run.js';
import { messageBody } from './agent-events.js';
import { messagesOf } from './transcript.js';

type Body = Record<string, unknown>;

/** The messages of the user and of the component in a run, without those between models and tools. */
export function chatMessagesOf(run: Run, steps: readonly StepRecord[]): Body[] {
  const messages = run.kind === 'workflow' ? workflowMessages(run) : messagesOf(run, steps);
  return messages.filter(isChatMessage).map(bodyOf);
}

function isChatMessage({ role, fromHistory }: Message): boolean {
  return (role === 'user' || role === 'assistant') && fromHistory !== true;
}

function bodyOf(message: Message): Body {
  const body = messageBody(message);
  // one that only calls tools has no text
  return message.content === '' && message.toolCalls !== undefined ? { ...body, content: undefined } : body;
}

/** A workflow has no conversation of its own: its input and its result stand for one. */
function workflowMessages(run: Run): Message[] {
  const createdAt = Math.floor(run.createdAt / 1000);
  const input: Message = { id: `${run.runId}:user`, role: 'user', content: run.input.content, createdAt };
  if (run.result === null || run.status === 'running' || run.status === 'pending') return [input];
  const { content } = run.result;
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const answeredAt = Math.floor(run.updatedAt / 1000);
  return [input, { id: `${run.runId}:answer`, role: 'assistant', content: text, createdAt: answeredAt }];
}
