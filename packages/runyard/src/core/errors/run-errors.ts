import { componentInWords, type Difference, differenceInWords } from '../runs/journal/journal-match.js';
import type { Run } from '../runs/run.js';
import { define, defineForRun, RunyardError } from './runyard-error.js';

const componentNames = { agent: 'Agent', team: 'Team', workflow: 'Workflow' } as const;
type ComponentKind = keyof typeof componentNames;

export interface HandedOnRun {
  readonly runId: string;
  readonly sessionId: string;
  readonly kind: ComponentKind;
  readonly componentId: string;
}

const mostIds = 20;

function firstOf(ids: readonly string[]): string {
  const more = ids.length > mostIds ? ` and ${ids.length - mostIds} more` : '';
  return `${ids.slice(0, mostIds).join(', ')}${more}`;
}

/** Components, runs and sessions, and what happens in them. */
export const runErrors = {
  /** `ids`: those of this kind that the caller may see. */
  componentNotFound: (kind: ComponentKind, ids: readonly string[] = []) =>
    new RunyardError(`${kind}_not_found`, 404, `${componentNames[kind]} not found`, {
      ...(ids.length > 0 && { fields: { hint: `${componentNames[kind]}s here: ${firstOf(ids)}` } }),
    }),
  componentNotRegistered: ({ runId, kind, componentId }: Pick<Run, 'runId' | 'kind' | 'componentId'>) =>
    new RunyardError(
      'component_not_registered',
      409,
      `The ${kind} '${componentId}' of this run is not registered in this service. Register it again to continue the run, or cancel the run or delete its session.`,
      { fields: { run_id: runId } },
    ),
  /** `reason` names the component, and each reference that means nothing here. */
  componentNotBuilt: define('component_not_built', 422, (reason: string) => reason),
  /** What exists, but not as it is asked for. Contract: the same without its model or version, or with a step of an unknown type. */
  componentUnusable: (kind: ComponentKind, reason: string) =>
    new RunyardError(`${kind}_not_found`, 404, `${componentNames[kind]} not found`, {
      fields: { hint: reason },
    }),
  factoryNotCopied: define(
    'factory_not_copied',
    422,
    (kind: ComponentKind, id: string) =>
      `The ${kind} '${id}' is built for each run by a factory. Only what has fixed settings has a config.`,
  ),
  configGone: define(
    'config_gone',
    409,
    (kind: ComponentKind, id: string, version: number, revision: number) =>
      `The run began with revision ${revision} of version ${version} of the ${kind} '${id}', which no longer exists. Start a new run.`,
  ),
  notForDrafts: define(
    'session_not_for_drafts',
    409,
    (sessionId: string, kind: ComponentKind, id: string, version: number) =>
      `Version ${version} of the ${kind} '${id}' is a draft, and session ${sessionId} is not a session of drafts. Leave out session_id for a new session.`,
  ),
  runNotFound: define('run_not_found', 404, (text?: string) => text ?? 'Run not found'),
  /** The contract has several wordings. */
  sessionNotFound: define('session_not_found', 404, (text?: string) => text ?? 'Session not found'),
  sessionExists: define(
    'session_exists',
    409,
    (id: string) => `Session with id '${id}' already exists. Use PATCH /sessions/${id} to update it.`,
  ),
  /** It may belong to another user: nothing is revealed about it. */
  sessionIdRefused: define(
    'session_id_refused',
    409,
    (id: string) => `The id '${id}' cannot be used for a session. Omit session_id, or choose another.`,
  ),
  sessionListsDiffer: define(
    'session_lists_differ',
    400,
    () => 'Session IDs and session types must have the same length',
  ),
  runExists: defineForRun(
    'run_exists',
    409,
    (runId: string) => `Run ${runId} already exists. Omit run_id, or choose another.`,
  ),
  eventTooLarge: define(
    'event_too_large',
    413,
    (length: number, most: number) =>
      `The data of an event may have ${most} characters as JSON, and has ${length}.`,
  ),
  eventToEndedRun: defineForRun(
    'run_ended',
    409,
    (runId: string, status: string) => `Run ${runId} has ended (${status}): it receives no events.`,
  ),
  tooManyReceivedEvents: defineForRun(
    'too_many_received_events',
    409,
    (runId: string, most: number) =>
      `Run ${runId} has received ${most} events, which is the most a run can have.`,
  ),
  eventIdTaken: define(
    'event_id_taken',
    409,
    (eventId: string) =>
      `The run has received another event with the id '${eventId}'. Choose another event_id.`,
  ),
  jobInputTooLarge: define(
    'job_input_too_large',
    413,
    (kind: string, length: number, most: number) =>
      `The input of a job of the kind '${kind}' may have ${most} characters as JSON, and has ${length}.`,
  ),
  jobNotFound: define('job_not_found', 404, (jobId: string) => `There is no job '${jobId}'.`),
  foreignSession: define(
    'session_of_another_user',
    409,
    (sessionId: string) =>
      `Session ${sessionId} belongs to another user. Use that user_id, or another session_id.`,
  ),
  reservedUser: define(
    'reserved_user',
    403,
    (userId: string) => `The user id '${userId}' is reserved. Use another user_id.`,
  ),
  invalidFactoryInput: define('invalid_factory_input', 400, (text: string) => text),
  factoryRefused: define('factory_refused', 403, (text: string) => text),
  /** What an application's code threw is for the log: it may hold anything. */
  factoryFailed: (kind: ComponentKind, cause: unknown) =>
    new RunyardError(
      'factory_failed',
      500,
      `Error in ${kind} factory: the ${kind} could not be built. The log has the details.`,
      { cause },
    ),
  preparationTimeout: define(
    'preparation_timeout',
    503,
    (what: string, withinMs: number) =>
      `${what} did not return within ${withinMs / 1000} s, so the run was not started. Try again; if the error persists, fix the application.`,
  ),
  emptyFile: define('empty_file', 400, () => 'Empty file'),
  unsupportedFileType: define('unsupported_file_type', 400, () => 'Unsupported file type'),

  runHandedOn: ({ runId, sessionId, kind, componentId }: HandedOnRun) =>
    new RunyardError(
      'run_handed_on',
      503,
      `The service is stopping; run ${runId} is stored and continues when the service is back. Get it by its run_id.`,
      { fields: { run_id: runId, session_id: sessionId, [`${kind}_id`]: componentId } },
    ),

  endNotStored: (runId: string) =>
    new RunyardError(
      'database_unavailable',
      503,
      `Run ${runId} has ended, but the database, which is slow or unavailable, has not stored that yet. Get the run by its run_id in a few seconds.`,
      { headers: { 'retry-after': '2' }, fields: { run_id: runId }, reported: true },
    ),
  notStorable: (runId: string, cause: Error) =>
    new RunyardError(
      'not_storable',
      500,
      'The database rejected the output of this run. The log of the service has the reason under this run_id.',
      { fields: { run_id: runId }, cause },
    ),
  runInterrupted: (runId: string, cause: Error) =>
    new RunyardError(
      'database_unavailable',
      503,
      `Run ${runId} is interrupted because the database does not respond. It is stored and continues when the database is back. Get the run by its run_id in a few seconds.`,
      { headers: { 'retry-after': '2' }, fields: { run_id: runId }, cause, reported: true },
    ),
  tooManyRuns: (waiting: number) =>
    new RunyardError(
      'too_many_runs',
      503,
      `${waiting} runs are already waiting, which is the limit (setting maxWaitingRuns). Try again in a few seconds.`,
      { headers: { 'retry-after': '5' } },
    ),
  tooManyEvents: define(
    'too_many_events',
    500,
    (bytes: number) =>
      `The run sent custom events faster than they could be stored: more than ${bytes / 1_048_576} MiB were waiting. Wait for each event: await emit(…).`,
  ),
  cannotContinue: defineForRun(
    'cannot_continue',
    409,
    (runId: string, status: string, why = `is ${status}`) => `Cannot continue run ${runId}: run ${why}`,
  ),
  definitionChanged: defineForRun(
    'definition_changed',
    409,
    (_runId: string, run: Pick<Run, 'kind' | 'componentId'>, difference: Difference) =>
      `The ${componentInWords(run)} has changed since this run was last executed: ${differenceInWords(difference)}. Deploy the earlier definition to continue the run, or start a new run.`,
  ),
  toolMessagesNotKept: defineForRun(
    'tool_messages_not_kept',
    409,
    (runId: string) =>
      `Run ${runId} has not kept the results of its tool calls (storeToolMessages is false), so it cannot continue after them. Continue it from an earlier message: continue_from=last_user makes the calls again. Or start a new run.`,
  ),
  mediaNotKept: defineForRun(
    'media_not_kept',
    409,
    (runId: string) =>
      `Run ${runId} does not keep its media (storeMedia is false), so it, or a copy of it, cannot continue from there. Start a new run with the media.`,
  ),
  noSuchMessage: define(
    'no_such_message',
    400,
    (field: 'continue_from' | 'message_index', last: number) => `${field} must be between 0 and ${last}`,
  ),
  notPaused: define('run_not_paused', 409, (status: string) => `Run is not paused (status=${status})`),
  answeredBefore: defineForRun(
    'answered_before',
    409,
    (runId: string) =>
      `Run ${runId} no longer waits for one of these answers. Get the run to see what it waits for.`,
  ),
  /** The run is named where it is known: keys are the caller's own, and so are the runs behind them. */
  idempotencyKeyTaken: (runId?: string) =>
    new RunyardError(
      'idempotency_key_taken',
      409,
      'Another run was started with this Idempotency-Key. Use a new key for another run.',
      runId === undefined ? {} : { fields: { run_id: runId } },
    ),

  /** Contract: the tools of the MCP server. */
  oneComponentNeeded: define(
    'one_component_needed',
    400,
    () => 'Provide exactly one of agent_id, team_id, or workflow_id',
  ),
  resultTooLarge: define(
    'result_too_large',
    400,
    (most: number) =>
      `The result has more than ${most} characters, which is the limit. Send a smaller limit.`,
  ),
  invalidContinue: define('invalid_continue', 400, (text: string) => text),
  unresolvedRequirements: define(
    'unresolved_requirements',
    400,
    (parameter: 'requirements' | 'step_requirements' = 'requirements') =>
      `Run has unresolved HITL requirements. Provide the \`${parameter}\` parameter (or resolve an admin approval first).`,
  ),
  nothingToFork: define('nothing_to_fork', 400, () => 'Source session has no runs to fork.'),

  invalidAnswer: define('invalid_answer', 400, (text: string) => text),

  illegalTransition: defineForRun(
    'illegal_transition',
    409,
    (runId: string, from: string, to: string) => `Run ${runId} is ${from}; it cannot become ${to}.`,
  ),
  newerVersion: (runId: string) =>
    new RunyardError(
      'newer_version',
      503,
      `A newer version of Runyard has executed run ${runId}, and this process may not be able to read it. Send the request again: a process of that version can answer it.`,
      { fields: { run_id: runId }, headers: { 'retry-after': '2' } },
    ),

  fenced: defineForRun(
    'run_fenced',
    409,
    (runId: string) => `Run ${runId} was taken over by another process.`,
  ),
} as const;
