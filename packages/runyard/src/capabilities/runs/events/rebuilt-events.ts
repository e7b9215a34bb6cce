import {
  endEvents as agentEndEvents,
  runContent,
  runStarted,
  toolCallCompleted,
  toolCallError,
  toolCallStarted,
} from '../../../core/agents/agent-events.js';
import { textOf } from '../../../core/agents/answer/answer-record.js';
import { type ToolExecution, toolExecutionsOf } from '../../../core/agents/tool-executions.js';
import { messagesOf } from '../../../core/agents/transcript.js';
import { standIn } from '../../../core/components/stand-in.js';
import type { RunEvent } from '../../../core/events/run-event.js';
import { eventHead, outermostOrigin } from '../../../core/runs/events/event-origin.js';
import { type LoggedEvent, serialiseEvent } from '../../../core/runs/events/logged-event.js';
import type { RunEnd } from '../../../core/runs/executable.js';
import { ownSteps } from '../../../core/runs/journal/child-steps.js';
import { read } from '../../../core/runs/journal/codec.js';
import { LongTexts } from '../../../core/runs/journal/long-texts.js';
import {
  inheritedAttempt,
  type Run,
  type RunResult,
  type StepRecord,
  terminalStatuses,
} from '../../../core/runs/run.js';
import { teamEndEvents } from '../../../core/teams/team-events.js';
import { endEvents as workflowEndEvents } from '../../../core/workflows/end-events.js';
import { foldNode } from '../../../core/workflows/fold/node-view.js';
import { chatRunOf } from '../../../core/workflows/fold/workflow-fold.js';
import { isTopLevel, nodeInput } from '../../../core/workflows/journal-records.js';
import { stepCompleted, workflowStarted } from '../../../core/workflows/workflow-events.js';

interface Journal {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/** When it happened, in milliseconds, and what. */
type TimedEvent = readonly [number, RunEvent];

/**
 * The events of an ended run, rebuilt from its journal for readers who come after the sent ones were removed. The
 * whole text is in one event. The events have the last indices that the run gave out: a reader who had seen
 * the end gets nothing new, and one who had seen a part gets the text and the end.
 */
export function rebuiltEvents(journal: Journal): LoggedEvent[] {
  const { run } = journal;
  if (!terminalStatuses.has(run.status)) return [];
  const rebuilt = run.kind === 'workflow' ? workflowEvents(journal) : conversationEvents(journal);
  // a run that gave out fewer indices has room for fewer events: its end matters most
  const events = run.nextEventIndex === 0 ? [] : rebuilt.slice(-run.nextEventIndex);
  const first = run.nextEventIndex - events.length;
  const texts = new LongTexts(run.attempt);
  const origin = outermostOrigin(run, standIn(run).eventFields);
  return events.map(([at, event], position) => {
    const head = { ...eventHead(event, origin, run.sessionId, at), rebuilt: true };
    return serialiseEvent(first + position, event, head, null, texts);
  });
}

/** What an agent did, or the leader of a team. */
function conversationEvents(journal: Journal): TimedEvent[] {
  const { run, steps } = journal;
  const end = endOf(run);
  const model = { id: run.model ?? '', provider: run.modelProvider ?? '' };
  const context = { run, allSteps: () => [...steps] };
  const last = run.kind === 'team' ? teamEndEvents(end, context) : agentEndEvents(end, steps);
  return [
    [run.createdAt, runStarted(model)],
    ...toolExecutionsOf(steps.filter(isOwnWork)).flatMap(toolEvents),
    ...contentEvents(journal),
    ...last.map((event): TimedEvent => [run.updatedAt, event]),
  ];
}

function toolEvents(tool: ToolExecution): TimedEvent[] {
  if (tool.endedAt === null) return [];
  const started: ToolExecution = { ...tool, error: null, result: null, endedAt: null };
  return [
    [tool.startedAt, toolCallStarted(started)],
    [tool.endedAt, tool.error ? toolCallError(tool) : toolCallCompleted(tool)],
  ];
}

function contentEvents({ run, steps }: Journal): TimedEvent[] {
  const { result, status } = run;
  const hasAnswer = status === 'cancelled' ? result?.partial === true : status !== 'error';
  const content = hasAnswer ? (result?.content ?? '') : saidBefore({ run, steps });
  if (content === '') return [];
  const { contentType = 'str', reasoningContent }: Partial<RunResult> = (hasAnswer && result) || {};
  return [[run.updatedAt, runContent(content, contentType, reasoningContent)]];
}

/** What the model had said when the run failed or was cancelled. */
function saidBefore({ run, steps }: Journal): string {
  return messagesOf(run, steps.filter(isOwnWork))
    .filter(({ role, fromHistory }) => role === 'assistant' && fromHistory !== true)
    .map(({ content }) => content)
    .join('');
}

function workflowEvents({ run, steps }: Journal): TimedEvent[] {
  const isChat = chatRunOf(run, steps) !== undefined;
  const answersItself = run.result?.metadata?.agent_direct_response === true;
  const context = { run, allSteps: () => [...steps] };
  return [
    ...(isChat ? [[run.createdAt, { event: 'WorkflowAgentStarted' }] as const] : []),
    ...(answersItself ? [] : [[run.createdAt, workflowStarted(false)] as const]),
    ...stepEvents(steps),
    ...workflowEndEvents(endOf(run), context, isChat).map((event): TimedEvent => [run.updatedAt, event]),
  ];
}

/** The steps at the top, each with its whole result. The end event has the results of groups of steps. */
function stepEvents(steps: readonly StepRecord[]): TimedEvent[] {
  const own = ownSteps(steps);
  const byKey = new Map(own.map((step) => [step.key, step]));
  return own
    .filter(({ key, status }) => status === 'completed' && isTopLevel(key))
    .flatMap((step) => {
      const { node, step_id, index, executor } = read(step, nodeInput);
      if (node !== 'Step') return [];
      const fields = { step_id, step_name: step.name, step_index: index };
      const { output, last } = foldNode((key) => byKey.get(key), step.key);
      if (last === undefined) return [];
      const at = step.endedAt ?? step.startedAt;
      return [
        [step.startedAt, { event: 'StepStarted', ...fields }] as const,
        ...(executor?.type === 'function'
          ? [[at, { event: 'StepOutput', ...fields, step_output: output }] as const]
          : []),
        ...(output.success && !output.stop
          ? [[at, stepCompleted(fields, output, last.contentType)] as const]
          : []),
      ];
    });
}

/** How the run ended, as far as it was kept: of one that was broken off while it spoke, not why. */
function endOf({ status, result: kept }: Run): RunEnd {
  const result: RunResult = kept ?? { content: '', contentType: 'str' };
  if (status === 'error') {
    const failure = result.error ?? { type: 'Error', message: textOf(result.content) };
    return { status, result, failure };
  }
  if (status !== 'cancelled') return { status: 'completed', result };
  const reason = result.partial ? '' : textOf(result.content);
  return { status, result, reason: reason || 'The run was cancelled' };
}

/** The original run emitted what a run was copied with. */
function isOwnWork({ attempt }: StepRecord): boolean {
  return attempt !== inheritedAttempt;
}
