import { messagesOf } from '../../core/agents/transcript.js';
import type { JsonObject } from '../../core/json.js';
import type { Message } from '../../core/models/message.js';
import type { Run, StepRecord } from '../../core/runs/run.js';
import type { AguiCall } from './call.js';
import { type AguiMessage, answerId, contentText, resultText } from './events/agui-event.js';
import { madeMedia } from './made-media.js';

interface RunJournal {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/** More runs than a client shows. Older ones are left out of a snapshot. */
const mostRuns = 100;

/** The runs of a thread, newest first. */
export function runsOfThread({ services, caller, target, input }: AguiCall, limit = mostRuns) {
  const place = { ...target, sessionId: input.threadId };
  return services.runs.page(caller, place, { limit });
}

/** The messages of a thread, oldest first: those before a run, or all. */
export async function threadMessages(call: AguiCall, beforeRun?: string): Promise<AguiMessage[]> {
  const { runs } = await runsOfThread(call);
  const found: AguiMessage[][] = [];
  let isBefore = beforeRun === undefined;
  for await (const view of runs) {
    if (isBefore && view.run.status !== 'regenerated') {
      const made = await madeMedia(call, view.run);
      found.push([...runMessages(view), ...(made ? [{ ...made, role: 'activity' }] : [])]);
    }
    if (view.run.runId === beforeRun) isBefore = true;
  }
  return found.reverse().flat();
}

/** A run as messages, with the ids that its stream gives them. */
function runMessages(view: RunJournal): AguiMessage[] {
  return [userMessage(view.run), ...answerMessages(view)];
}

export function userMessage({ runId, input }: Run): AguiMessage {
  const { messageId } = input.options.clientMessage ?? {};
  const id = typeof messageId === 'string' ? messageId : `${runId}-input`;
  const links = input.media.flatMap(({ kind, url, mimeType }): JsonObject[] => {
    if (url === undefined) return [];
    const source = { type: 'url', value: url, ...(mimeType !== undefined && { mimeType }) };
    return [{ type: kind === 'file' ? 'document' : kind, source }];
  });
  const parts = [{ type: 'text', text: input.content }, ...links];
  return { id, role: 'user', content: links.length === 0 ? input.content : parts };
}

/** What the model said in the run, or what the workflow answered. */
function answerMessages({ run, steps }: RunJournal): AguiMessage[] {
  if (run.kind === 'workflow') {
    const text = run.status === 'paused' ? '' : contentText(run.result?.content);
    return text === '' ? [] : [{ id: answerId(run.runId, 0), role: 'assistant', content: text }];
  }
  let position = 0;
  return ownMessages({ run, steps }).flatMap((message): AguiMessage[] => {
    if (message.role === 'tool') return [toolMessage(message)];
    const id = answerId(run.runId, position++);
    const toolCalls = (message.toolCalls ?? []).map(({ id: callId, name, arguments: args }) => ({
      id: callId,
      type: 'function',
      function: { name, arguments: args },
    }));
    const content = contentText(message.content);
    if (content === '' && toolCalls.length === 0) return [];
    return [
      {
        id,
        role: 'assistant',
        ...(content !== '' && { content }),
        ...(toolCalls.length > 0 && { toolCalls }),
      },
    ];
  });
}

/** How many answers of the model a run has had. */
export function answersIn(view: RunJournal): number {
  if (view.run.kind === 'workflow') return 0;
  return ownMessages(view).filter(({ role }) => role === 'assistant').length;
}

function ownMessages({ run, steps }: RunJournal): readonly Message[] {
  return messagesOf(run, steps).filter(
    ({ role, fromHistory }) => (role === 'assistant' || role === 'tool') && fromHistory !== true,
  );
}

function toolMessage({ toolCallId = '', content }: Message): AguiMessage {
  return { id: toolCallId, role: 'tool', toolCallId, content: resultText(contentText(content)) };
}
