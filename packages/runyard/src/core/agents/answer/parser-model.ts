import { type ModelLike, resolveModel } from '../../models/resolve.js';
import { callAuxiliaryModel, plainMessage } from '../auxiliary/auxiliary-step.js';
import type { AgentExecution } from '../execution.js';
import { type Answer, textOf } from './answer-record.js';
import { rewrittenEnding } from './ending.js';
import type { OutputShape } from './output-format.js';
import { fitOrMend } from './repair.js';
import { showAnswer } from './show-answer.js';
import { assertAccepted } from './stopped.js';

const defaultPrompt =
  'Turn the text of the user into one JSON value that fits the given JSON schema. Take every value from the text; what the text does not say is left out or null.';

/**
 * Another model brings the answer into its shape. The conversation keeps the answer as it was written: the next
 * turn is asked of the main model, which does not know the shape.
 */
export async function parseWithParserModel(
  execution: AgentExecution,
  parserModel: ModelLike,
  shape: OutputShape,
  answer: Answer,
): Promise<Answer> {
  const { agent, context } = execution;
  const model = resolveModel(parserModel);
  context.emit({ event: 'ParserModelResponseStarted' }, 'parser-model:started');
  const record = await callAuxiliaryModel(context, {
    key: 'parser-model',
    role: 'parser_model',
    model,
    messages: [
      plainMessage('system', agent.settings.parserModelPrompt ?? defaultPrompt),
      plainMessage('user', textOf(answer.content)),
    ],
    output: shape.format,
  });
  assertAccepted(agent.settings, model, record);
  const parsed = await fitOrMend(execution, shape, {
    record,
    ending: rewrittenEnding(record, answer.ending),
    mender: model,
    role: 'parser_model',
    key: 'parser-model:repair',
  });
  if (parsed !== undefined) showAnswer(execution, parsed);
  context.emit({ event: 'ParserModelResponseCompleted' }, 'parser-model:completed');
  if (parsed === undefined) return answer;
  const { content, contentType, ending } = parsed;
  return { ...answer, content, contentType, ending };
}
