import { promised } from '../../async/receiver.js';
import { responseOf, withModel } from '../../models/called-model.js';
import type { AnswerEnding, Model, ModelRequest } from '../../models/model.js';
import { withPace } from '../../models/pace/paced-model.js';
import { type ModelLike, resolveModel } from '../../models/resolve.js';
import type { StepScope } from '../../runs/context.js';
import { runContent } from '../agent-events.js';
import { plainMessage } from '../auxiliary/auxiliary-step.js';
import { withOutput } from '../auxiliary/structured-request.js';
import type { AgentExecution } from '../execution.js';
import { isGuarded } from '../hooks/guarded.js';
import { type AuxiliaryRecord, auxiliaryRecord, type ModelRecord } from '../journal-records.js';
import { withNewReferences } from '../knowledge/shown-references.js';
import { elapsedSeconds, modelRecordOf, streamed } from '../turns/model-step.js';
import { withTransforms } from '../turns/text-transforms.js';
import type { Answer } from './answer-record.js';
import { rewrittenEnding } from './ending.js';
import type { OutputShape } from './output-format.js';
import { fitOrMend } from './repair.js';
import { showAnswer } from './show-answer.js';
import { assertAccepted, stopText } from './stopped.js';

const defaultPrompt =
  'Write the final answer to the message of the user from the notes that an assistant made about it. Speak to the user directly, say everything that the notes have to say, add no facts, and do not mention the notes.';

/**
 * Another model writes the final text. With a schema and no parser model, it writes in that shape. `ending` is
 * that of the notes.
 */
export async function writeWithOutputModel(
  execution: AgentExecution,
  outputModel: ModelLike,
  notes: string,
  ending: Partial<AnswerEnding>,
): Promise<Answer> {
  const { agent, context, contentShape } = execution;
  const shape = agent.settings.parserModel === undefined ? contentShape : null;
  const model = resolveModel(outputModel);
  context.emit({ event: 'OutputModelResponseStarted' }, 'output-model:started');
  const record = await context.step(
    'output-model',
    { kind: 'auxiliary', name: 'output_model', record: auxiliaryRecord },
    async (scope) => ({
      ...(await write(execution, scope, model, requestOf(execution, model, notes, shape), shape)),
      role: 'output_model' as const,
      model: { id: model.id, provider: model.provider },
    }),
  );
  assertAccepted(agent.settings, model, record);
  const answer = await shaped(execution, shape, model, record, rewrittenEnding(record, ending));
  context.draft.content = record.content;
  context.emit({ event: 'OutputModelResponseCompleted' }, 'output-model:completed');
  return answer;
}

function requestOf(
  { agent, context, input }: AgentExecution,
  model: Model,
  notes: string,
  shape: OutputShape | null,
): ModelRequest {
  const messages = [
    plainMessage('system', agent.settings.outputModelPrompt ?? defaultPrompt),
    plainMessage('user', `<message>\n${input.content}\n</message>\n\n<notes>\n${notes}\n</notes>`),
  ];
  const asked = shape === null ? { messages } : withOutput(model, messages, shape.format);
  return { ...asked, tools: [], media: context.ports.media };
}

async function write(
  execution: AgentExecution,
  scope: StepScope,
  writer: Model,
  request: ModelRequest,
  shape: OutputShape | null,
): Promise<ModelRecord> {
  const { agent, context } = execution;
  const model = withTransforms(execution, withPace(context, writer), shape !== null);
  if (shape === null && context.options.stream && !isGuarded(agent.settings)) {
    const call = { model, request, isIntermediate: false };
    return promised((receiver) => streamed(execution, scope, call, receiver));
  }
  const begun = performance.now();
  const given = await withModel(context, model, () => model.generate(request, { signal: scope.signal }));
  const response = responseOf(model, given);
  context.guard?.hold(response.content.length);
  if (shape === null && !agent.settings.postHooks?.length) {
    const event = runContent(response.content, 'str', response.reasoningContent);
    context.emit(withNewReferences(execution, event), `${scope.key}:content`);
  }
  return modelRecordOf(response, elapsedSeconds(begun));
}

async function shaped(
  execution: AgentExecution,
  shape: OutputShape | null,
  mender: Model,
  record: AuxiliaryRecord,
  ending: Partial<AnswerEnding>,
): Promise<Answer> {
  const stopped = stopText(record);
  const text = stopped ?? record.content;
  const plain = { content: text, contentType: 'str', said: text, ending };
  if (stopped !== undefined) return showAnswer(execution, plain);
  if (shape === null) return plain;
  const written = { record, ending, mender, role: 'output_model', key: 'output-model:repair' } as const;
  const fitted = await fitOrMend(execution, shape, written);
  return showAnswer(execution, fitted === undefined ? plain : { said: text, ...fitted });
}
