import type { Services } from '../../capabilities/capability.js';
import { messagesOf } from '../../core/agents/transcript.js';
import type { Json, JsonObject } from '../../core/json.js';
import type { Message, ToolCall } from '../../core/models/message.js';
import { fieldsOf } from '../../core/objects.js';
import { parseArguments } from '../../core/tools/call/parse-arguments.js';
import { openRequirements } from '../common/answers/paused-run.js';
import { callQuestion } from '../common/answers/question.js';
import { callOf, outputOf } from './calls.js';
import type { RunJournal } from './chunk.js';
import { filesOf, metadataOf, sourcesOf } from './rest-chunks.js';
import { contentText } from './ui-parts.js';

/** A run as the messages of a page: what the user said, and what came of it. */
export async function shownMessages(runs: Services['runs'], view: RunJournal): Promise<JsonObject[]> {
  const { run } = view;
  if (run.status === 'regenerated') return [];
  const body = fieldsOf(await runs.body(view, 'runyard'));
  const { input_content: said, ...given } = fieldsOf(body.input ?? {});
  const kept = run.input.options.clientMessage?.messageId;
  const text = contentText(said ?? run.input.content);
  const files = filesOf({ ...given, audio: given.audios });
  const user: JsonObject = {
    id: typeof kept === 'string' ? kept : `${run.runId}:user`,
    role: 'user',
    parts: [...(text === '' ? [] : [{ type: 'text', text }]), ...files],
  };
  const parts = run.kind === 'workflow' ? workflowParts(body.content) : conversationParts(view, body);
  const made = run.status === 'completed' ? [...sourcesOf(body), ...filesOf(body)] : [];
  const answer: JsonObject = {
    id: run.runId,
    role: 'assistant',
    metadata: metadataOf(run, body),
    parts: [...parts, ...made],
  };
  // the stream of a run in progress brings its message
  const isInProgress = run.status === 'pending' || run.status === 'running';
  return [
    ...(user.parts === undefined || isEmpty(user.parts) ? [] : [user]),
    ...(isInProgress ? [] : [answer]),
  ];
}

function isEmpty(parts: Json): boolean {
  return Array.isArray(parts) && parts.length === 0;
}

function workflowParts(content: unknown): JsonObject[] {
  const text = contentText(content);
  return text === '' ? [] : [{ type: 'text', text, state: 'done' }];
}

function conversationParts(view: RunJournal, body: Readonly<Record<string, unknown>>): JsonObject[] {
  const messages = messagesOf(view.run, view.steps).filter(({ fromHistory }) => fromHistory !== true);
  const results = new Map(
    messages.flatMap((one) => (one.role === 'tool' ? [[one.toolCallId ?? '', one]] : [])),
  );
  const open = new Map(
    openRequirements(body).flatMap((one) =>
      'tool_execution' in one ? [[callOf(one.tool_execution).id, one]] : [],
    ),
  );
  return messages.flatMap(({ role, content, reasoningContent, toolCalls = [] }): JsonObject[] => {
    if (role !== 'assistant') return [];
    return [
      { type: 'step-start' },
      ...(reasoningContent ? [{ type: 'reasoning', text: reasoningContent, state: 'done' }] : []),
      ...(content === '' ? [] : [{ type: 'text', text: content, state: 'done' }]),
      ...toolCalls.map((call) => toolPart(call, results.get(call.id), open.get(call.id))),
    ];
  });
}

function toolPart(call: ToolCall, result: Message | undefined, question: JsonObject | undefined): JsonObject {
  const parsed = parseArguments(call.arguments);
  const part = { type: `tool-${call.name}`, toolCallId: call.id, input: parsed.ok ? parsed.args : {} };
  if (result !== undefined)
    return result.toolCallError
      ? { ...part, state: 'output-error', errorText: result.content }
      : { ...part, state: 'output-available', output: outputOf(result.content) };
  const { asked, needsApproval } = question ? callQuestion(structuredClone(question)) : nothingAsked;
  return asked.kind === 'confirmation' && !needsApproval
    ? { ...part, state: 'approval-requested', approval: { id: call.id } }
    : { ...part, state: 'input-available' };
}

const nothingAsked = { asked: { kind: 'result' }, needsApproval: false } as const;
