import { mediaBody, mediaFields, messageBody } from '../agents/agent-events.js';
import { endingFields } from '../agents/answer/ending.js';
import { modelOfRun } from '../agents/context/settings-of-run.js';
import { referencesOf } from '../agents/knowledge/references.js';
import { pausedText } from '../agents/requirements/paused-text.js';
import { requirementBody } from '../agents/requirements/requirement-body.js';
import { teamRequirementsOf } from '../agents/requirements/team-requirements.js';
import { toolExecutionBody } from '../agents/requirements/tool-execution-body.js';
import { toolExecutionsOf } from '../agents/tool-executions.js';
import { messagesOf } from '../agents/transcript.js';
import type { JsonObject } from '../json.js';
import type { Media } from '../media/media.js';
import { type ChildView, childrenOf } from '../runs/execution/child-run.js';
import type { Run, RunStatus, StepRecord } from '../runs/run.js';

/** How a status is written; the wire of older clients has capitals. */
export type StatusText = (status: RunStatus) => string;

const plainStatus: StatusText = (status) => status;

/** The run bodies of the members that a run asked, in the order in which they were asked. */
export function memberResponses(
  run: Run,
  steps: readonly StepRecord[],
  statusText: StatusText = plainStatus,
): JsonObject[] {
  return (
    childrenOf(run, steps)
      // the body of a workflow has another form
      .filter((child) => child.run.kind !== 'workflow')
      .map((child) => nestedRunBody(child, statusText))
  );
}

/** The run body of an agent or a team that ran within another run. Fields without a value are left out. */
export function nestedRunBody(child: ChildView, statusText: StatusText = plainStatus): JsonObject {
  const { run, steps } = child;
  const { result } = run;
  const isTeam = run.kind === 'team';
  const states = teamRequirementsOf(run, steps);
  const shown = run.status === 'paused' ? states.filter(({ answer }) => answer === null) : [];
  const tools = toolExecutionsOf(steps).map(toolExecutionBody);
  const references = referencesOf(steps);
  const model = modelOfRun(run, steps);
  const { sessionState } = result ?? {};
  return present({
    run_id: run.runId,
    [isTeam ? 'team_id' : 'agent_id']: run.componentId,
    [isTeam ? 'team_name' : 'agent_name']: run.componentName,
    session_id: run.sessionId,
    user_id: run.userId,
    parent_run_id: run.parentRunId,
    content: result?.content ?? pausedText(shown.map(({ requirement }) => requirement)),
    content_type: result?.contentType,
    reasoning_content: result?.reasoningContent,
    model_provider_data: result?.modelProviderData,
    ...endingFields(result ?? {}),
    model: model?.id,
    model_provider: model?.provider,
    session_state: isTeam && Object.keys(sessionState ?? {}).length === 0 ? undefined : sessionState,
    created_at: Math.floor(run.createdAt / 1000),
    status: statusText(run.status),
    metrics: result?.metrics,
    messages: messagesOf(run, steps).map((message) => present(messageBody(message))),
    tools: tools.length > 0 ? tools : undefined,
    requirements: requirementsField(run, states.map(requirementBody)),
    input: { input_content: run.input.content, ...inputMedia(run.input.media) },
    references: references.length > 0 ? references : undefined,
    metadata: result?.metadata,
    error_type: result?.error?.type,
    error_id: result?.error?.id,
    additional_data: result?.error?.additionalData,
    ...mediaFields(result?.media ?? []),
    ...result?.extra,
    ...(isTeam && { member_responses: memberResponses(run, steps, statusText) }),
  });
}

/** Agents keep what they waited for; teams only as long as they wait. */
function requirementsField({ kind, status }: Run, bodies: JsonObject[]): JsonObject[] | undefined {
  if (kind === 'team' && status !== 'paused') return bodies.length > 0 ? [] : undefined;
  return bodies.length > 0 ? bodies : undefined;
}

const inputNames = { image: 'images', video: 'videos', audio: 'audios', file: 'files' } as const;

/** Described: their bytes stand once in the body of the run that was given them. */
function inputMedia(media: readonly Media[]): JsonObject {
  const fields: Record<string, JsonObject[]> = {};
  for (const item of media) {
    const name = inputNames[item.kind];
    fields[name] ??= [];
    fields[name].push(mediaBody(item));
  }
  return fields;
}

function present(fields: Readonly<Record<string, unknown>>): JsonObject {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  // they are all made above, of data; those of their own fields that are undefined are not written
  return Object.fromEntries(entries) as JsonObject;
}
