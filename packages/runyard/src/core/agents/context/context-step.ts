import type { Writable } from '../../objects.js';
import { type RunContext, recordedStep, type StepSpec } from '../../runs/context.js';
import { read } from '../../runs/journal/codec.js';
import type { Shaped } from '../../runs/journal/shapes.js';
import type { AgentSettings } from '../definition.js';
import { type AgentExecution, addExtra, type StageWork } from '../execution.js';
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
  const { agent, context } = execution;
  const { settings } = agent;
  const loading = earlierRuns(execution);
  const earlier = loading === undefined ? noRuns : await loading;
  const searching = searchForContext(execution);
  if (searching !== undefined) await searching;
  const additional = settings.additionalInput?.map(({ role, content }) => ({ role, content })) ?? [];
  if (additional.length > 0) addExtra(execution, 'additional_input', additional);
  await context.step('context', contextStep, async () => {
    const shown = earlier.length === 0 ? noIds : earlier.map(({ run }) => run.runId);
    const reading = memoryForContext(agent, context);
    const workingMemory = reading && (await reading);
    const recalling = recalledForContext(execution, shown);
    const recalled = recalling && (await recalling);
    const system = await systemPrompt(execution, { workingMemory, recalled });
    const user = userPrompt(execution);
    const record: Writable<ContextRecord> =
      additional.length === 0
        ? { system, user, history: shown }
        : { system, user, additional, history: shown };
    const ofOthers = othersIn(earlier, context.run);
    if (ofOthers.length > 0) record.ofOthers = ofOthers;
    const bounds = boundsOf(settings);
    if (bounds !== undefined) record.bounds = bounds;
    if (settings.sendMediaToModel === false) record.withoutMedia = true;
    if (workingMemory !== undefined) record.workingMemory = workingMemory;
    const conversation = changedConversation(execution);
    if (conversation !== undefined) record.conversation = conversation;
    return record;
  });
  const built = recordedStep(context, 'context');
  const history = shownHistory(built, earlier);
  context.shown.history = history;
  const own = contextMessages(context.run, built, context.steps('knowledge'));
  execution.messages = withHistory(own, history).map((message) => shownToModel(built, message));
}

type ContextRecord = Shaped<typeof contextRecord.shape>;

const contextStep: StepSpec<ContextRecord> = { kind: 'context', name: 'context', record: contextRecord };

type EarlierRuns = Awaited<ReturnType<RunContext['history']>>;

const noRuns: EarlierRuns = [];
/** One list for all runs that begin a session. */
const noIds: string[] = [];

/** The runs that another component executed: the model has not their tools, and providers may refuse calls of such. */
function othersIn(earlier: EarlierRuns, { kind, componentId }: RunContext['run']): string[] {
  const others = earlier.filter(({ run }) => run.kind !== kind || run.componentId !== componentId);
  return others.map(({ run }) => run.runId);
}

function boundsOf({ numHistoryMessages, maxToolCallsFromHistory }: AgentSettings): ContextRecord['bounds'] {
  if (numHistoryMessages === undefined && maxToolCallsFromHistory === undefined) return undefined;
  return {
    ...(numHistoryMessages !== undefined && { messages: numHistoryMessages }),
    ...(maxToolCallsFromHistory !== undefined && { toolCalls: maxToolCallsFromHistory }),
  };
}

/** The messages of the client's conversation if hooks have changed it. The instructions are in the system message. */
function changedConversation({ context, input: { conversation } }: AgentExecution): string[] | undefined {
  const given = context.options.callerInput?.conversation;
  if (conversation === given) return undefined;
  const [, ...texts] = earlierTexts(conversation);
  return texts;
}

/** What the model is shown of the session. An execution that comes later shows it the same runs. */
function earlierRuns({ agent, context }: AgentExecution): StageWork<EarlierRuns> {
  const { settings } = agent;
  const recorded = context.recorded('context');
  if (recorded?.status === 'completed') {
    const { history } = read(recorded, contextRecord);
    return history.length === 0 ? undefined : context.runs(history);
  }
  const { callerInput, addHistoryToContext } = context.options;
  if (callerInput?.conversation?.messages !== undefined) return undefined;
  const asked = addHistoryToContext ?? settings.addHistoryToContext ?? callerInput?.isChat;
  return asked ? context.history(runsShown(settings, callerInput?.isChat), settings.historyFrom) : undefined;
}

/** A bound of messages alone decides how many runs they come from. */
function runsShown({ numHistoryRuns, numHistoryMessages }: AgentSettings, isChat = false): number {
  if (numHistoryRuns !== undefined) return numHistoryRuns;
  // a run says two at the least
  if (numHistoryMessages !== undefined) return Math.min(runsOfChat, Math.ceil(numHistoryMessages / 2));
  return isChat ? runsOfChat : 3;
}
