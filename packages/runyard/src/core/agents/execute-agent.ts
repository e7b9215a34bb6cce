import { ModelError } from '../models/model-error.js';
import type { RunContext } from '../runs/context.js';
import { RunFailed } from '../runs/executable.js';
import type { RunResult, StepRecord } from '../runs/run.js';
import { runContent, runContentCompleted, runStarted } from './agent-events.js';
import type { AgentDefinition } from './definition.js';
import type { AgentExecution } from './execution.js';
import type { ContextRecord, ModelRecord } from './journal-records.js';
import { metricsOf } from './metrics.js';
import { callModel } from './model-step.js';
import { outputShapeOf } from './output-format.js';
import { systemPrompt, userPrompt } from './prompt.js';
import { runToolCalls } from './tool-steps.js';
import { assistantMessage, contextMessages, historyMessages, toolMessage } from './transcript.js';

/** Runs an agent over the journal: the context, then model and tool steps in turns until the model is done. */
export async function executeAgent(agent: AgentDefinition, context: RunContext): Promise<RunResult> {
  const { options } = context.run.input;
  const execution: AgentExecution = {
    agent,
    context,
    messages: [],
    output: outputShapeOf(options),
    dependencies: { ...agent.settings.dependencies, ...options.dependencies },
    metadata: { ...options.metadata, ...agent.settings.metadata },
  };
  context.emit(runStarted(agent.model), `started:${context.run.attempt}`);
  await buildContext(execution);
  try {
    return await turns(execution);
  } catch (error) {
    context.draft.metrics = metricsOf(agent.model, context);
    if (error instanceof ModelError) throw modelFailure(error);
    throw error;
  }
}

async function turns(execution: AgentExecution): Promise<RunResult> {
  const { context, messages } = execution;
  const shown: string[] = [];
  for (let turn = 0; ; turn += 1) {
    const answer = await callModel(execution, turn);
    messages.push(assistantMessage(stepOf(context, `model:${turn}`)));
    if (answer.toolCalls === undefined) return complete(execution, answer, shown);
    const { stop, results } = await runToolCalls(execution, turn, answer.toolCalls);
    for (const step of results.steps) messages.push(toolMessage(step));
    shown.push(...results.shown);
    if (stop) return complete(execution, answer, shown);
  }
}

async function complete(
  execution: AgentExecution,
  answer: ModelRecord,
  shown: readonly string[],
): Promise<RunResult> {
  const { agent, context, metadata, output } = execution;
  const text = [...shown, answer.content].filter((part) => part !== '').join('\n');
  const read = output === null ? undefined : await output.read(answer.content);
  const { content, contentType } = read ?? { content: text, contentType: 'str' };
  if (output !== null) context.emit(runContent(content, contentType), 'content');
  context.emit(runContentCompleted, 'content-completed');
  return {
    content,
    contentType,
    ...(answer.reasoning !== undefined && { reasoningContent: answer.reasoning }),
    ...(answer.providerData !== undefined && { modelProviderData: answer.providerData }),
    metrics: metricsOf(agent.model, context),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    sessionState: context.state.all(),
  };
}

/** Builds what the model sees first. It is recorded, so that an execution after a crash sees the same. */
async function buildContext(execution: AgentExecution): Promise<void> {
  const { agent, context, messages } = execution;
  const { settings } = agent;
  const { options } = context.run.input;
  const wanted =
    (options.addHistoryToContext ?? settings.addHistoryToContext) ? (settings.numHistoryRuns ?? 3) : 0;
  const earlier = wanted > 0 ? await context.history(wanted) : [];
  const record = await context.step<ContextRecord>(
    'context',
    { kind: 'context', name: 'context' },
    async () => ({
      system: systemPrompt({
        settings,
        values: {
          state: context.state.all(),
          dependencies: execution.dependencies,
          metadata: execution.metadata,
          userId: context.run.userId,
        },
        showState: options.addSessionStateToContext ?? settings.addSessionStateToContext ?? false,
        promptedOutput:
          agent.model.capabilities.structuredOutput === 'prompted'
            ? (execution.output?.format ?? null)
            : null,
      }),
      user: userPrompt(
        context.run.input.content,
        (options.addDependenciesToContext ?? settings.addDependenciesToContext)
          ? execution.dependencies
          : null,
      ),
      history: earlier.map(({ run }) => run.runId),
    }),
  );
  const own = contextMessages(context.run, stepOf(context, 'context'));
  const history = earlier
    .filter(({ run }) => record.history.includes(run.runId))
    .flatMap(({ run, steps }) => historyMessages(run, steps));
  context.shown.history = history;
  const [first, ...rest] = own;
  if (first?.role === 'system') messages.push(first, ...history, ...rest);
  else messages.push(...history, ...own);
}

function stepOf(context: RunContext, key: string): StepRecord {
  const step = context.recorded(key);
  if (step === undefined) throw new Error(`Step ${key} is not in the journal`);
  return step;
}

function modelFailure(error: ModelError): RunFailed {
  return new RunFailed({ type: 'model_provider_error', message: error.message }, { cause: error });
}
