import { runContent } from '../agent-events.js';
import type { AgentExecution } from '../execution.js';
import { isGuarded } from '../hooks/guarded.js';
import type { Answer } from './answer-record.js';

/** Shows an answer that nobody has seen as a model wrote it; one that a guardrail is to see first is shown later. */
export function showAnswer({ agent, context }: AgentExecution, answer: Answer): Answer {
  if (!isGuarded(agent.settings)) context.emit(runContent(answer.content, answer.contentType), 'content');
  return answer;
}
