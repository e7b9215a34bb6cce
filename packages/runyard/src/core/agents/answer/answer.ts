import type { AgentExecution } from '../execution.js';
import type { ModelRecord } from '../journal-records.js';
import type { Answer } from './answer-record.js';
import { endingOfCall, withoutPlaces } from './ending.js';
import type { OutputShape } from './output-format.js';
import { writeWithOutputModel } from './output-model.js';
import { parseWithParserModel } from './parser-model.js';
import { fitOrMend } from './repair.js';
import { showAnswer } from './show-answer.js';
import { isDeclined, stopText } from './stopped.js';

/**
 * Makes the content of the run from the last model call and the results that tools asked to show: rewritten by the
 * output model, and brought into its shape by the parser model or by the model that wrote it. No model replaces
 * what another declined to say; if a model stopped without a text, the content says why.
 */
export function answerOf(
  execution: AgentExecution,
  last: ModelRecord,
  shown: readonly string[],
): Answer | Promise<Answer> {
  const { agent, contentShape } = execution;
  const { outputModel, parserModel } = agent.settings;
  const whole =
    shown.length === 0 ? last.content : [...shown, last.content].filter((part) => part !== '').join('\n');
  const written = endingOfCall(last);
  const ending = whole === last.content ? written : withoutPlaces(written);
  const stopped = shown.length === 0 ? stopText(last) : undefined;
  if (stopped !== undefined)
    return showAnswer(execution, { content: stopped, contentType: 'str', said: stopped, ending });
  const answer = { content: whole, contentType: 'str', ending };
  if (isDeclined(ending)) {
    if (outputModel !== undefined) return showAnswer(execution, answer);
    if (parserModel !== undefined) return answer;
  }
  if (outputModel !== undefined)
    return writeWithOutputModel(execution, outputModel, whole, ending).then((rewritten) =>
      contentShape !== null && parserModel !== undefined
        ? parseWithParserModel(execution, parserModel, contentShape, rewritten)
        : rewritten,
    );
  if (contentShape === null) return answer;
  if (parserModel !== undefined) return parseWithParserModel(execution, parserModel, contentShape, answer);
  return ownShape(execution, contentShape, last, answer);
}

/** The main model was asked for the shape itself. */
async function ownShape(
  execution: AgentExecution,
  contentShape: OutputShape,
  last: ModelRecord,
  answer: Answer & { readonly content: string },
): Promise<Answer> {
  const { model } = execution;
  // a tool that ended the run spoke last: no model can repair its output
  const endedByTool = last.toolCalls !== undefined;
  const fitted = await fitOrMend(execution, contentShape, {
    record: endedByTool ? { ...last, content: answer.content } : last,
    ending: answer.ending,
    mender: endedByTool ? null : model,
    role: 'model',
    key: 'repair',
  });
  return showAnswer(execution, fitted ?? answer);
}
