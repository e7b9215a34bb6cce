import { runContent } from '../agent-events.js';
import type { AgentExecution } from '../execution.js';
import { isGuarded } from '../hooks/guarded.js';
import type { ModelRecord } from '../journal-records.js';
import type { Answer } from './answer-record.js';
import { writeWithOutputModel } from './output-model.js';
import { parseWithParserModel } from './parser-model.js';
import { fitOrMend } from './repair.js';

/**
 * Makes the content of the run from the last model call and the results that tools asked to show: rewritten by the
 * output model, and brought into its shape by the parser model or by whoever wrote it.
 */
export async function answerOf(
  execution: AgentExecution,
  last: ModelRecord,
  shown: readonly string[],
): Promise<Answer> {
  const { agent, contentShape } = execution;
  const whole = [...shown, last.content].filter((part) => part !== '').join('\n');
  if (agent.settings.outputModel !== undefined) {
    const written = await writeWithOutputModel(execution, whole);
    return contentShape !== null && agent.settings.parserModel !== undefined
      ? parseWithParserModel(execution, contentShape, written)
      : written;
  }
  const answer: Answer = { content: whole, contentType: 'str' };
  if (contentShape === null) return answer;
  if (agent.settings.parserModel !== undefined) return parseWithParserModel(execution, contentShape, answer);
  return ownShape(execution, last, whole);
}

/** The main model was asked for the shape itself. */
async function ownShape(execution: AgentExecution, last: ModelRecord, whole: string): Promise<Answer> {
  const { agent, context, contentShape, model } = execution;
  // a tool that ended the run spoke last: nobody is there to mend what it said
  const endedByTool = last.toolCalls !== undefined;
  const fitted = await fitOrMend(execution, contentShape!, {
    text: endedByTool ? whole : last.content,
    mender: endedByTool || last.finishReason === 'content_filter' ? null : model,
    role: 'model',
    key: 'repair',
  });
  const answer = fitted ?? { content: whole, contentType: 'str' };
  if (!isGuarded(agent.settings)) context.emit(runContent(answer.content, answer.contentType), 'content');
  return answer;
}
