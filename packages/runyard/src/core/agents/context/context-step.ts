import { type RunContext, recordedStep } from '../../runs/context.js';
import { read } from '../../runs/journal/codec.js';
import type { AgentSettings } from '../definition.js';
import type { AgentExecution } from '../execution.js';
import { earlierTexts } from '../hooks/said-texts.js';
import { contextRecord } from '../journal-records.js';
import { searchForContext } from '../knowledge/knowledge-in-context.js';
import { recalledForContext } from '../recall/recall.js';
import { contextMessages, shownHistory, shownToModel, withHistory } from '../transcript.js';
import { memoryForContext } from '../working-memory/known-working-memory.js';
import { systemPrompt, userPrompt } from './prompt.js';

/** How many runs of a chat the model is shown. */
const runsOfChat = 100;

/** Builds what the model sees first. It is recorded, so that an execution after a crash sees the same. */
export async function buildContext(execution: AgentExecution): Promise<void> {
  const { agent, context, messages } = execution;
  const { settings } = agent;
  const earlier = await earlierRuns(execution);
  await searchForContext(execution);
  const additional = (settings.additionalInput ?? []).map(({ role, content }) => ({ role, content }));
  if (additional.length > 0) execution.extra.additional_input = additional;
  await context.step('context', { kind: 'context', name: 'context', record: contextRecord }, async () => {
    const shown = earlier.map(({ run }) => run.runId);
    const workingMemory = await memoryForContext(agent, context);
    const recalled = await recalledForContext(execution, shown);
    return {
      system: await systemPrompt(execution, { workingMemory, recalled }),
      user: userPrompt(execution),
      ...(additional.length > 0 && { additional }),
      history: shown,
      ...othersIn(earlier, context.run),
      ...boundsOf(settings),
      ...(settings.sendMediaToModel === false && { withoutMedia: true as const }),
      ...(workingMemory !== undefined && { workingMemory }),
      ...changedConversation(execution),
    };
  });
  const built = recordedStep(context, 'context');
  const history = shownHistory(built, earlier);
  context.shown.history = history;
  const own = contextMessages(context.run, built, context.steps('knowledge'));
  messages.push(...withHistory(own, history).map((message) => shownToModel(built, message)));
}

/** The runs that another component executed: the model has not their tools, and providers may refuse calls of such. */
function othersIn(
  earlier: Awaited<ReturnType<RunContext['history']>>,
  { kind, componentId }: RunContext['run'],
) {
  const others = earlier.filter(({ run }) => run.kind !== kind || run.componentId !== componentId);
  return others.length === 0 ? {} : { ofOthers: others.map(({ run }) => run.runId) };
}

function boundsOf({ numHistoryMessages, maxToolCallsFromHistory }: AgentSettings) {
  if (numHistoryMessages === undefined && maxToolCallsFromHistory === undefined) return {};
  return {
    bounds: {
      ...(numHistoryMessages !== undefined && { messages: numHistoryMessages }),
      ...(maxToolCallsFromHistory !== undefined && { toolCalls: maxToolCallsFromHistory }),
    },
  };
}

/** The messages of the client's conversation that hooks have changed. The instructions are in the system message. */
function changedConversation({ context, input: { conversation } }: AgentExecution) {
  const given = context.options.callerInput?.conversation;
  if (conversation === given) return {};
  const [, ...texts] = earlierTexts(conversation);
  return { conversation: texts };
}

/** What the model is shown of the session. An execution that comes later shows it the same runs. */
async function earlierRuns({ agent, context }: AgentExecution): ReturnType<RunContext['history']> {
  const { settings } = agent;
  const recorded = context.recorded('context');
  if (recorded?.status === 'completed') {
    const { history } = read(recorded, contextRecord);
    return history.length === 0 ? [] : context.runs(history);
  }
  const { conversation, isChat } = context.options.callerInput ?? {};
  if (conversation?.messages !== undefined) return [];
  const asked = context.options.addHistoryToContext ?? settings.addHistoryToContext ?? isChat;
  return asked ? context.history(runsShown(settings, isChat), settings.historyFrom) : [];
}

/** A bound of messages alone decides how many runs they come from. */
function runsShown({ numHistoryRuns, numHistoryMessages }: AgentSettings, isChat = false): number {
  if (numHistoryRuns !== undefined) return numHistoryRuns;
  // a run says two at the least
  if (numHistoryMessages !== undefined) return Math.min(runsOfChat, Math.ceil(numHistoryMessages / 2));
  return isChat ? runsOfChat : 3;
}
