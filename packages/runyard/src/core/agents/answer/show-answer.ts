import { runContent } from '../agent-events.js';
import type { AgentExecution } from '../execution.js';
import { isGuarded } from '../hooks/guarded.js';
import type { Answer } from './answer-record.js';

/** Emits an answer that was not streamed while a model wrote it; guardrails delay it until they have seen it. */
export function showAnswer({ agent, context }: AgentExecution, answer: Answer): Answer {
  if (!isGuarded(agent.settings)) context.emit(runContent(answer.content, answer.contentType), 'content');
  return answer;
}
