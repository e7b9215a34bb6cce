import { messageBody } from '../../../core/agents/agent-events.js';
import { messagesOf } from '../../../core/agents/transcript.js';
import type { Message } from '../../../core/models/message.js';
import type { RunView } from './run-body.js';

type Body = Record<string, unknown>;

/** What was said in a run: by the user and by the component, without what models and tools told each other. */
export function saidIn(view: RunView): Body[] {
  const messages = view.run.kind === 'workflow' ? saidToWorkflow(view) : messagesOf(view.run, view.steps);
  return messages.filter(isSaid).map(bodyOf);
}

function isSaid({ role, fromHistory }: Message): boolean {
  return (role === 'user' || role === 'assistant') && fromHistory !== true;
}

function bodyOf(message: Message): Body {
  const body = messageBody(message);
  // one that only asks for tools says nothing
  return message.content === '' && message.toolCalls !== undefined ? { ...body, content: undefined } : body;
}

/** A workflow has no conversation of its own: its input and what came of it stand for one. */
function saidToWorkflow({ run }: RunView): Message[] {
  const createdAt = Math.floor(run.createdAt / 1000);
  const said: Message = { id: `${run.runId}:user`, role: 'user', content: run.input.content, createdAt };
  if (run.result === null || run.status === 'running' || run.status === 'pending') return [said];
  const { content } = run.result;
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const answeredAt = Math.floor(run.updatedAt / 1000);
  return [said, { id: `${run.runId}:answer`, role: 'assistant', content: text, createdAt: answeredAt }];
}
