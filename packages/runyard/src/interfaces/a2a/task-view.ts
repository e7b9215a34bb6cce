import { pausedText } from '../../core/agents/requirements/paused-text.js';
import { requirementBody } from '../../core/agents/requirements/requirement-body.js';
import { teamRequirementsOf } from '../../core/agents/requirements/team-requirements.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { Media } from '../../core/media/media.js';
import type { Run, RunStatus, StepRecord } from '../../core/runs/run.js';
import { stepQuestionText } from '../../core/workflows/review/question-text.js';
import {
  type StepRequirementState,
  workflowRequirementsOf,
} from '../../core/workflows/review/workflow-requirements.js';
import type { Artifact, Part, Task, TaskMessage, TaskState } from './task.js';

/** A run with its journal. */
export interface RunJournal {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/** Reads the bytes of a file that a run made, as `RunsService.showMedia` does. */
export type ShowMedia = (media: Media) => Promise<string | undefined>;

const states: Readonly<Record<RunStatus, TaskState>> = {
  pending: 'submitted',
  running: 'working',
  paused: 'input-required',
  completed: 'completed',
  regenerated: 'completed',
  error: 'failed',
  cancelled: 'canceled',
};

/** The status of the runs that are tasks in a state; undefined: no run is. */
export function statusOf(state: TaskState): RunStatus | undefined {
  // 'completed' comes before 'regenerated'
  return (Object.keys(states) as RunStatus[]).find((status) => states[status] === state);
}

export function stateOf({ status }: Pick<Run, 'status'>): TaskState {
  return states[status];
}

/** A task with the files that its run made. */
export async function taskOf(view: RunJournal, show: ShowMedia): Promise<Task> {
  const artifacts: Artifact[] = [];
  const counts = new Map<string, number>();
  for (const media of view.run.result?.media ?? []) {
    const position = counts.get(media.kind) ?? 0;
    counts.set(media.kind, position + 1);
    const part = await filePart(media, show);
    const artifactId = `${media.kind}_${position}`;
    if (part !== undefined) artifacts.push({ artifactId, name: media.filename ?? artifactId, parts: [part] });
  }
  return { ...taskHead(view), artifacts };
}

/** The same without files. */
export function taskHead({ run, steps }: RunJournal): Task {
  const { runId, sessionId, result, updatedAt } = run;
  const state = stateOf(run);
  return {
    id: runId,
    contextId: sessionId,
    state,
    timestamp: new Date(updatedAt).toISOString(),
    message: statusMessage(run, steps),
    input: inputMessage(run),
    answer: answerMessage(run, state),
    artifacts: [],
    metadata: result?.metadata,
  };
}

/** The message that started a run, as its client wrote it. A run that came another way has one, too. */
function inputMessage({ runId, userId, input }: Run): TaskMessage {
  const { messageId = `${runId}-input`, parts } = keptMessage(input.options.clientMessage);
  const files = input.media.flatMap((media): Part[] =>
    media.url === undefined ? [] : [{ url: media.url, mediaType: media.mimeType, filename: media.filename }],
  );
  return {
    messageId,
    role: 'user',
    parts: [...(parts ?? [{ text: input.content }]), ...files],
    metadata: userId === null ? undefined : { userId },
  };
}

/** What `keptMessageOf` wrote. The parts are left out for a message that is one text. */
function keptMessage(kept: JsonObject = {}): {
  readonly messageId?: string;
  readonly parts?: readonly Part[];
} {
  const { messageId, parts } = kept;
  return {
    ...(typeof messageId === 'string' && { messageId }),
    ...(Array.isArray(parts) && { parts: parts.filter(isKeptPart) }),
  };
}

function isKeptPart(part: Json): part is Part & JsonObject {
  return isJsonObject(part) && (typeof part.text === 'string' || part.data !== undefined);
}

function answerMessage({ runId, userId, result }: Run, state: TaskState): TaskMessage | undefined {
  if (result === null || state === 'failed' || state === 'input-required') return undefined;
  const { content, metrics } = result;
  const isEmpty = content === null || content === '';
  if (isEmpty && state !== 'completed') return undefined;
  const part: Part = typeof content === 'string' ? { text: content } : { data: content };
  return {
    messageId: `${runId}-answer`,
    role: 'agent',
    parts: isEmpty ? [{ text: '' }] : [part],
    metadata: { ...(userId !== null && { userId }), ...(metrics !== undefined && { metrics }) },
  };
}

function statusMessage(run: Run, steps: readonly StepRecord[]): TaskMessage | undefined {
  const parts = statusParts(run, steps);
  if (parts === undefined) return undefined;
  // a run that pauses again asks something else
  return { messageId: `${run.runId}-status-${run.nextEventIndex}`, role: 'agent', parts };
}

function statusParts(run: Run, steps: readonly StepRecord[]): readonly Part[] | undefined {
  const { status, result } = run;
  if (status === 'error') {
    const { type, message } = result?.error ?? { type: 'error', message: String(result?.content ?? '') };
    return [{ text: message }, { data: { error_type: type } }];
  }
  if (status !== 'paused') return undefined;
  const { text, requirements } = openQuestions({ run, steps });
  return [{ text }, { data: { requirements: [...requirements] } }];
}

/** A step asks for itself, or an agent that executes it asks about its calls. */
function stepText({ body, calls }: StepRequirementState): string {
  const open = calls.filter(({ state }) => state.answer === null).map(({ state }) => state.requirement);
  return open.length > 0 ? pausedText(open) : stepQuestionText(body);
}

/** What a paused run waits for: in words, and as the run API has it. */
export function openQuestions({ run, steps }: RunJournal): {
  readonly text: string;
  readonly requirements: readonly JsonObject[];
} {
  if (run.kind === 'workflow') {
    const { open } = workflowRequirementsOf(run, steps);
    return { text: open.map(stepText).join('\n'), requirements: open.map(({ body }) => body) };
  }
  const open = teamRequirementsOf(run, steps).filter(({ answer }) => answer === null);
  return {
    text: pausedText(open.map(({ requirement }) => requirement)),
    requirements: open.map(requirementBody),
  };
}

async function filePart(media: Media, show: ShowMedia): Promise<Part | undefined> {
  const facts = { mediaType: media.mimeType, filename: media.filename };
  if (media.url !== undefined) return { url: media.url, ...facts };
  const shown = await show(media);
  if (shown === undefined) return undefined;
  // documents of text are shown as text
  const isText = media.kind === 'file' && media.mimeType?.startsWith('text/');
  return { raw: isText ? Buffer.from(shown, 'utf8').toString('base64') : shown, ...facts };
}
