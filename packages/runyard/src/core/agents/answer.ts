import type { Json } from '../json.js';
import { runContent } from './agent-events.js';
import type { AgentExecution } from './execution.js';
import type { ModelRecord } from './journal-records.js';

export interface Answer {
  readonly content: Json;
  readonly contentType: string;
}

/** Makes the content of the run from the last model call and the results that tools asked to show. */
export async function answerOf(
  { context, output }: AgentExecution,
  last: ModelRecord,
  shown: readonly string[],
): Promise<Answer> {
  const text = [...shown, last.content].filter((part) => part !== '').join('\n');
  const read = output === null ? undefined : await output.read(last.content);
  const answer = read ?? { content: text, contentType: 'str' };
  if (output !== null) context.emit(runContent(answer.content, answer.contentType), 'content');
  return answer;
}
