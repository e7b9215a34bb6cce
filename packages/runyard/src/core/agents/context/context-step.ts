import type { AgentExecution } from '../execution.js';
import type { ContextRecord } from '../journal-records.js';
import { contextMessages, historyMessages, withHistory } from '../transcript.js';
import { systemPrompt, userPrompt } from './prompt.js';

/** Builds what the model sees first. It is recorded, so that an execution after a crash sees the same. */
export async function buildContext(execution: AgentExecution): Promise<void> {
  const { agent, context, messages } = execution;
  const { settings } = agent;
  const { options } = context.run.input;
  const asked = options.addHistoryToContext ?? settings.addHistoryToContext;
  const earlier = asked ? await context.history(settings.numHistoryRuns ?? 3) : [];
  const additional = (settings.additionalInput ?? []).map(({ role, content }) => ({ role, content }));
  if (additional.length > 0) execution.extra.additional_input = additional;
  const record = await context.step<ContextRecord>(
    'context',
    { kind: 'context', name: 'context' },
    async () => ({
      system: await systemPrompt(execution),
      user: userPrompt(execution),
      ...(additional.length > 0 && { additional }),
      history: earlier.map(({ run }) => run.runId),
    }),
  );
  const history = earlier
    .filter(({ run }) => record.history.includes(run.runId))
    .flatMap(({ run, steps }) => historyMessages(run, steps));
  context.shown.history = history;
  messages.push(...withHistory(contextMessages(context.run, context.recorded('context')!), history));
}
