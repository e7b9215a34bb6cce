import { mediaBody, messageBody } from '../../../core/agents/agent-events.js';
import { endingFields } from '../../../core/agents/answer/ending.js';
import { modelOfRun } from '../../../core/agents/context/settings-of-run.js';
import { lastCheckpointOf } from '../../../core/agents/continuation/checkpoints.js';
import { referencesOf } from '../../../core/agents/knowledge/references.js';
import { pausedText } from '../../../core/agents/requirements/paused-text.js';
import { requirementBody } from '../../../core/agents/requirements/requirement-body.js';
import { teamRequirementsOf } from '../../../core/agents/requirements/team-requirements.js';
import { toolExecutionBody } from '../../../core/agents/requirements/tool-execution-body.js';
import { toolExecutionsOf } from '../../../core/agents/tool-executions.js';
import { messagesOf, withHistory } from '../../../core/agents/transcript.js';
import type { WorkflowEvent } from '../../../core/events/run-event.js';
import type { Json, JsonObject } from '../../../core/json.js';
import type { Media } from '../../../core/media/media.js';
import type { Message } from '../../../core/models/message.js';
import type { Run, StepRecord } from '../../../core/runs/run.js';
import { memberResponses } from '../../../core/teams/member-responses.js';
import { createdAtIn, statusIn, type WireFormat } from '../../../platform/http/response/wire-format.js';
import type { SoFar } from '../events/listed-events.js';
import { listedEnding, listedWorkflowRunOf, versionOf, workflowRunBodyOf } from './workflow-run-body.js';

export interface RunView {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
  /** Messages of earlier runs that the model was shown; only the caller of the run itself sees them. */
  readonly history?: readonly Message[];
  /** The stored events, content deltas left out; only for a stored run. */
  readonly events?: readonly WorkflowEvent[];
  /** What a workflow was given: an object when it has a schema for its input. */
  readonly input?: Json;
  /** What a run that is not over says and does at the moment; only in a list. */
  readonly soFar?: SoFar;
}

type Body = Record<string, unknown>;

/** The run body of the wire. Fields without a value are left out, apart from those that are always there. */
export function runBodyOf(view: RunView, media: RunMedia, format: WireFormat): Body {
  return view.run.kind === 'workflow'
    ? workflowRunBodyOf(view, producedFields(media.produced), format)
    : conversationBodyOf(view, media, format);
}

/** The body of a run of an agent or of a team. */
function conversationBodyOf(view: RunView, media: RunMedia, format: WireFormat): Body {
  const { run, history = [], events } = view;
  const { result, messages, tools, references, requirements } = restingView(view);
  const ended = result !== null;
  const model = modelOfRun(run, view.steps);
  const ending = endingFields(result ?? {});
  const isTeam = run.kind === 'team';
  const name = run.componentName ?? undefined;
  // few spreads, and late: V8 is slow to add a field after one
  return {
    run_id: run.runId,
    // at the top, `agent_id` names what ran, whatever it is
    agent_id: run.componentId,
    agent_name: isTeam ? undefined : name,
    team_id: isTeam ? run.componentId : undefined,
    team_name: isTeam ? name : undefined,
    version: versionOf(run),
    priority: run.input.options.priority,
    session_id: run.sessionId,
    user_id: run.userId,
    parent_run_id: run.parentRunId ?? undefined,
    content: ended ? result.content : '',
    content_type: result?.contentType,
    reasoning_content: result?.reasoningContent,
    model_provider_data: result?.modelProviderData,
    finish_reason: ending.finish_reason,
    finish_message: ending.finish_message,
    citations: ending.citations,
    model: model?.id,
    model_provider: model?.provider,
    session_state: shownState(run),
    created_at: createdAtIn(format, run),
    status: statusIn(format, run.status),
    metrics: result?.metrics,
    messages: ended ? withHistory(messages, history).map(messageBody) : undefined,
    tools: ended && (tools.length > 0 || events === undefined) ? tools : undefined,
    requirements: requirements.length > 0 ? shownRequirements(run, requirements) : undefined,
    input: { input_content: run.input.content, ...media.input },
    ...producedFields(media.produced),
    references: references.length > 0 ? references : undefined,
    metadata: result?.metadata,
    error_type: result?.error?.type,
    error_id: result?.error?.id,
    additional_data: result?.error?.additionalData,
    events,
    forked_from_run_id: run.lineage?.forkedFromRunId,
    forked_from_message_index: run.lineage?.forkedFromMessageIndex,
    forked_from_session_id: run.lineage?.forkedFromSessionId,
    regenerated_from: run.lineage?.regeneratedFrom,
    last_checkpoint_at_message_index: lastCheckpointOf(messages),
    ...result?.extra,
    ...(isTeam && { member_responses: membersOf(view, format) }),
  };
}

function membersOf({ run, steps }: RunView, format: WireFormat): readonly JsonObject[] {
  if (!isResting(run)) return [];
  return memberResponses(run, steps, (status) => statusIn(format, status));
}

/** For a team only when it is not empty. */
function shownState({ kind, result }: Run): JsonObject | undefined {
  const state = result?.sessionState;
  return kind === 'team' && Object.keys(state ?? {}).length === 0 ? undefined : state;
}

/** Agents keep what they waited for; teams only as long as they wait. */
function shownRequirements({ kind, status }: Run, requirements: readonly JsonObject[]) {
  return kind === 'team' && status !== 'paused' ? [] : requirements;
}

/** The messages of a run, also while it is running. */
export function messageBodiesOf({ run, steps }: RunView): Body[] {
  return messagesOf(run, steps).map(messageBody);
}

/** A run in a list: every key but `events` is there, with nulls. Media are described, not carried. */
export function listedRunOf(view: RunView, media: RunMedia, format: WireFormat): Body {
  return view.run.kind === 'workflow'
    ? listedWorkflowRunOf(view, producedFields(media.produced), format)
    : listedConversationOf(view, media, format);
}

function listedConversationOf(view: RunView, media: RunMedia, format: WireFormat): Body {
  const { run } = view;
  const { lineage } = run;
  const { result, messages, references, requirements } = restingView(view);
  const tools = listedTools(view);
  const content = result?.content ?? contentSoFar(view);
  return {
    run_id: run.runId,
    parent_run_id: run.parentRunId ?? '',
    [`${run.kind}_id`]: run.componentId,
    user_id: run.userId ?? '',
    status: statusIn(format, run.status),
    run_input: run.input.content,
    content,
    run_response_format: typeof content === 'object' && content !== null ? 'json' : 'text',
    reasoning_content: result?.reasoningContent ?? '',
    reasoning_steps: [],
    metrics: result?.metrics ?? {},
    messages: messages.length > 0 ? messages.map(messageBody) : null,
    tools: tools.length > 0 ? tools : null,
    requirements: requirements.length > 0 ? shownRequirements(run, requirements) : null,
    created_at: new Date(run.createdAt).toISOString(),
    references,
    ...listedEnding(result),
    reasoning_messages: [],
    session_state: result?.sessionState ?? null,
    images: [],
    videos: [],
    audio: [],
    files: [],
    ...producedFields(media.produced),
    response_audio: null,
    input_media: { images: [], videos: [], audios: [], files: [], ...media.input },
    followups: null,
    forked_from_run_id: lineage?.forkedFromRunId ?? null,
    forked_from_message_index: lineage?.forkedFromMessageIndex ?? null,
    forked_from_session_id: lineage?.forkedFromSessionId ?? null,
    regenerated_from: lineage?.regeneratedFrom ?? null,
    last_checkpoint_at_message_index: lastCheckpointOf(messages) ?? null,
    error_type: result?.error?.type ?? null,
    error_id: result?.error?.id ?? null,
    additional_data: result?.error?.additionalData ?? null,
    ...result?.extra,
  };
}

/** The tool calls of a run, those included that are being executed. */
function listedTools({ run, steps, soFar }: RunView): readonly JsonObject[] {
  const known = toolExecutionsOf(shownSteps(run, steps)).map(toolExecutionBody);
  if (!isUnfinished(run)) return known;
  const ids = new Set(known.map(({ tool_call_id: id }) => id));
  return [...known, ...(soFar?.tools ?? []).filter(({ tool_call_id: id }) => !ids.has(id))];
}

/** What a run has said that has no result yet, or what a run within a paused run waits for. */
function contentSoFar({ run, steps, soFar }: RunView): Json {
  if (soFar?.text) return soFar.text;
  if (run.status !== 'paused') return null;
  const open = teamRequirementsOf(run, steps).filter(({ answer }) => answer === null);
  return pausedText(open.map(({ requirement }) => requirement));
}

/** What to show of a run that no process executes; a run in progress has its own output so far. */
function restingView({ run, steps }: RunView) {
  if (!isResting(run)) return { result: null, messages: [], tools: [], references: [], requirements: [] };
  const shown = shownSteps(run, steps);
  return {
    result: run.result,
    messages: messagesOf(run, steps),
    tools: toolExecutionsOf(shown).map(toolExecutionBody),
    references: referencesOf(steps),
    requirements: teamRequirementsOf(run, shown).map(requirementBody),
  };
}

/** A cancelled run's questions can no longer be answered. */
function shownSteps({ status }: Run, steps: readonly StepRecord[]): readonly StepRecord[] {
  return status === 'cancelled' ? steps.filter((step) => !isOpenQuestion(step)) : steps;
}

function isUnfinished({ status }: Run): boolean {
  return status === 'pending' || status === 'running';
}

function isResting({ status, result }: Run): boolean {
  return result !== null && status !== 'pending' && status !== 'running';
}

function isOpenQuestion({ kind, status }: StepRecord): boolean {
  return kind === 'wait' && status === 'running';
}

/** Media by the names that a run's input has for them; a name without media is absent. */
type MediaBodies = Partial<Record<'images' | 'videos' | 'audios' | 'files', JsonObject[]>>;

/** The media that a run was given, and those that it made. */
export interface RunMedia {
  readonly input: MediaBodies;
  readonly produced: MediaBodies;
}

/** What a run made has one name of its own. */
function producedFields(produced: MediaBodies): Body {
  const { audios, ...others } = produced;
  return audios === undefined ? produced : { ...others, audio: audios };
}

export const noMedia: RunMedia = { input: {}, produced: {} };

export function hasMedia({ input, result }: Run): boolean {
  return input.media.length > 0 || (result?.media?.length ?? 0) > 0;
}

const wireNames = { image: 'images', video: 'videos', audio: 'audios', file: 'files' } as const;

/** `content` answers with the bytes of stored media as the wire carries them, or undefined to leave them out. */
export async function runMediaOf(
  { input, result }: Run,
  content: (media: Media) => Promise<string | undefined>,
): Promise<RunMedia> {
  return {
    input: await mediaBodiesOf(input.media, content),
    produced: await mediaBodiesOf(result?.media ?? [], content),
  };
}

async function mediaBodiesOf(
  media: readonly Media[],
  content: (media: Media) => Promise<string | undefined>,
): Promise<MediaBodies> {
  const bodies: MediaBodies = {};
  for (const item of media) {
    const name = wireNames[item.kind];
    bodies[name] ??= [];
    bodies[name].push(mediaBody(item, await content(item)));
  }
  return bodies;
}
