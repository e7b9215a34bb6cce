import { AgentFactory } from '../../core/agents/agent-factory.js';
import { type Checkpoint, checkpointAt, checkpointsOf } from '../../core/agents/continuation/checkpoints.js';
import { continuationOf } from '../../core/agents/continuation/continuation.js';
import { snapshotAt } from '../../core/agents/continuation/snapshot.js';
import { errors } from '../../core/errors/errors.js';
import type { Json } from '../../core/json.js';
import type { Media } from '../../core/media/media.js';
import { RunReleased } from '../../core/runs/executable.js';
import type { CallApplication } from '../../core/runs/execution/code-owner.js';
import type { RunHandle } from '../../core/runs/execution/executor.js';
import { resumeRun } from '../../core/runs/resume/resume-run.js';
import type { Run, RunKind, RunStatus } from '../../core/runs/run.js';
import type { RunKey } from '../../core/runs/run-request.js';
import { teamContinuationOf } from '../../core/teams/team-continuation.js';
import { parseTraceParent, traceParentLength } from '../../core/traces/trace-parent.js';
import type { Caller } from '../../platform/auth/caller.js';
import { fixedBy } from '../../platform/auth/fixed-values.js';
import { userFor } from '../../platform/auth/named-user.js';
import { personsBehind } from '../../platform/auth/persons.js';
import { largestPage, offsetOf } from '../../platform/http/request/pagination.js';
import type { Spaces } from '../capability.js';
import type { ComponentsService } from '../components/service.js';
import { isUnfinishedSession, type ListedRun, listedRuns } from './bodies/listed-runs.js';
import type { RunView } from './bodies/run-body.js';
import { cancelRun } from './continuation/cancel-run.js';
import { continueRequestOf } from './continuation/continue-request.js';
import { resumeSite } from './continuation/continue-run.js';
import { forkSession, mayMean } from './continuation/fork-session.js';
import { type Followed, followRun } from './events/follow-run.js';
import { storedEvents } from './events/stored-events.js';
import { type BeforeRunOptions, beforeRun } from './request/before-run.js';
import { boundFor, boundForm, boundRequest, boundSession, claimsFor } from './request/bound-values.js';
import { checkKey, mayBeSecond, payloadHash, runUnderKey } from './request/idempotency.js';
import { preparedRun, type RunCaller } from './request/prepared-run.js';
import { newRunInput } from './request/run-request.js';
import {
  endOf,
  type FollowWishes,
  followWishes,
  type StartedRun,
  startedRun,
  streamOptionsOf,
} from './request/started-run.js';
import { type FoundComponent, RunLookup, type RunPlace } from './run-lookup.js';
import type { ContinueForm, CreateForm } from './schema.js';

export interface RunsServiceOptions extends BeforeRunOptions {
  readonly components: ComponentsService;
  readonly spaces: Spaces;
  readonly onDisconnect: 'continue' | 'cancel';
}

export interface RequestOptions {
  /** Asked for only when a run has to be prepared by application code: aborted when the client is gone. */
  readonly disconnected?: (() => AbortSignal) | undefined;
}

export interface CreateOptions extends RequestOptions {
  /** A key of the client's: the same key and the same form stand for the same run. */
  readonly idempotencyKey?: string | undefined;
  /** The trace that the client's own system began, as its header says; ignored when it is malformed. */
  readonly traceParent?: string | undefined;
}

export interface FollowPlace {
  readonly sessionId?: string | undefined;
  /** The index of the last event that the reader has; -1 for one who has none. */
  readonly after: number;
}

export interface ListRuns {
  readonly sessionId?: string;
  readonly status?: string;
  readonly limit?: number;
  readonly page?: number;
  /** Whether streamed runs come with their events. */
  readonly withEvents?: boolean;
  /** A session is not known before the first of its streamed runs has come to rest, as in the older interface. */
  readonly hidesUnfinished?: boolean;
}

/** The caller has been shown the run already. */
const everyone = { kind: 'all' } as const;

const componentListLimit = 20;

/** Starts runs, finds them again and lets them go on: the one way in for every interface. */
export class RunsService {
  private readonly lookup: RunLookup;

  constructor(private readonly options: RunsServiceOptions) {
    this.lookup = new RunLookup(options.components, options.spaces);
  }

  async create(
    caller: Caller,
    kind: RunKind,
    componentId: string,
    given: CreateForm,
    options: CreateOptions = {},
  ): Promise<StartedRun> {
    const found = await this.lookup.component(kind, componentId, caller);
    const userId = userFor(caller, given.user_id);
    const bound = boundFor(caller, userId);
    const form = boundForm(given, bound);
    const wishes = followWishes(form, this.options.onDisconnect);
    const { space } = found;
    const { idempotencyKey, ...begun } = options;
    const runCaller = {
      userId,
      askers: personsBehind(caller),
      claims: claimsFor(caller, userId),
      fixed: fixedBy(bound),
    };
    const begin = (keyed?: RunKey) =>
      hideForeign(caller, () => this.begin(found, runCaller, form, wishes, { keyed, ...begun }));
    if (idempotencyKey === undefined) return startedRun(await begin(), wishes, { status: 'pending' });
    checkKey(idempotencyKey);
    const keyed = { userId, kind, componentId, key: idempotencyKey, payload: payloadHash(form) };
    const known = await runUnderKey(space, keyed);
    if (known !== undefined) return startedRun(known, wishes);
    try {
      return startedRun(await begin(keyed), wishes, { status: 'pending' });
    } catch (error) {
      // another request with this key came at the same time
      const first = mayBeSecond(error) ? await runUnderKey(space, keyed) : undefined;
      if (first === undefined) throw error;
      return startedRun(first, wishes);
    }
  }

  /** Lets a run go on: with answers to what it waits for, after a failure, or as a copy. */
  async continueRun(
    caller: Caller,
    kind: RunKind,
    componentId: string,
    runId: string,
    form: ContinueForm,
    { disconnected }: RequestOptions = {},
  ): Promise<StartedRun> {
    const found = await this.lookup.run(caller, { kind, componentId, runId });
    const { run, space } = found;
    const bound = boundFor(caller, run.userId);
    const { sessionId = form.session_id } = bound;
    const isMeant = sessionId === undefined || sessionId === run.sessionId;
    if (!isMeant || !mayMean(caller, form.user_id, run.userId)) throw errors.runNotFound();
    const { component } = found;
    if (component === undefined) throw errors.componentNotRegistered(run);
    await space.approvals.assertMayContinue(caller, run);
    const wishes = followWishes(form, this.options.onDisconnect);
    const request = boundRequest(await continueRequestOf(kind, form, streamOptionsOf(wishes)), bound);
    const site = resumeSite({ ...found, component }, caller, request, wishes.background, (factory, work) =>
      beforeRun(this.options, factory, disconnected, work),
    );
    const { handle, fromIndex } = await resumeRun(site, runId, request);
    if (wishes.stream) await handle.stored();
    return startedRun(handle, wishes, { fromIndex, continued: true });
  }

  /** Ends a run. The answer is the run if the process that executes it has not ended it yet. */
  cancel(
    caller: Caller,
    kind: RunKind,
    componentId: string,
    runId: string,
    sessionId?: string,
  ): Promise<Run | undefined> {
    return cancelRun(this.lookup, caller, { kind, componentId, runId, sessionId });
  }

  /** Finds a run for a client that wants the events after its last one; undefined if the run does not exist. */
  follow(
    caller: Caller,
    kind: RunKind,
    componentId: string,
    runId: string,
    { sessionId, after }: FollowPlace,
  ): Promise<Followed | undefined> {
    const place = { kind, componentId, runId, sessionId: boundSession(caller, kind, sessionId) };
    return followRun(this.lookup, caller, place, after);
  }

  /** Waits for the end of a run that was just started. */
  async ended(started: StartedRun): Promise<RunView> {
    const { handle, continued } = started;
    const { space } = await this.lookup.component(handle.run.kind, handle.run.componentId);
    try {
      const view = await endOf(space, handle);
      if (!continued) return view;
      return { ...view, events: await storedEvents(space.runs, view) };
    } catch (error) {
      throw error instanceof RunReleased ? errors.runHandedOn(handle.run) : error;
    }
  }

  async get(
    caller: Caller,
    kind: RunKind,
    componentId: string,
    runId: string,
    sessionId?: string,
  ): Promise<RunView> {
    const place = { kind, componentId, runId, sessionId: boundSession(caller, kind, sessionId) };
    const { space, run, steps } = await this.lookup.runWithSteps(caller, place);
    return { run, steps, events: await storedEvents(space.runs, { run, steps }) };
  }

  /** Finds the runs before it answers; they are read as they are taken. */
  async list(
    caller: Caller,
    kind: RunKind,
    componentId: string,
    query: ListRuns,
  ): Promise<AsyncIterable<ListedRun>> {
    const sessionId = boundSession(caller, kind, query.sessionId);
    const space = await this.lookup.spaceWith(caller.scope, { kind, componentId, sessionId }, caller);
    if (sessionId !== undefined) {
      await space.sessions.get(caller.scope, sessionId);
      if (query.hidesUnfinished && (await isUnfinishedSession(space, sessionId)))
        throw errors.sessionNotFound();
    }
    const limit = query.limit ?? (sessionId === undefined ? componentListLimit : largestPage);
    const status = query.status?.toLowerCase() as RunStatus | undefined;
    const runIds = await space.runs.ids(caller.scope, {
      kind,
      componentId,
      sessionId,
      status,
      limit,
      offset: offsetOf({ limit, page: query.page ?? 1 }),
      order: sessionId === undefined ? 'desc' : 'asc',
    });
    return listedRuns(space, runIds, query.withEvents ?? true, ({ run }) => {
      return status === undefined || run.status === status;
    });
  }

  /** Where the run can go on from. */
  async checkpoints(caller: Caller, place: RunPlace): Promise<{ run: Run; checkpoints: Checkpoint[] }> {
    const { run, steps } = await this.lookup.runWithSteps(caller, place);
    return { run, checkpoints: checkpointsOf(run, steps) };
  }

  /** The place after so many messages, or a few less, and the run as it was there. */
  async checkpoint(
    caller: Caller,
    place: RunPlace,
    messageIndex: number,
  ): Promise<{ view: RunView; checkpoint: Checkpoint }> {
    const { run, steps } = await this.lookup.runWithSteps(caller, place);
    const cut = run.kind === 'team' ? teamContinuationOf : continuationOf;
    const { messageIndex: kept, ...view } = snapshotAt(run, steps, messageIndex, cut);
    return { view, checkpoint: checkpointAt(run, steps, kept) };
  }

  /** Copies a session with its finished runs, and answers with the id of the copy. */
  forkSession(
    caller: Caller,
    kind: RunKind,
    componentId: string,
    sessionId: string,
    userId?: string,
  ): Promise<string> {
    return forkSession(this.lookup, caller, { kind, componentId, sessionId, userId });
  }

  /** Which component a run that the caller may see belongs to. */
  async componentOf(caller: Caller, kind: RunKind, runId: string): Promise<string | undefined> {
    for (const space of await this.options.spaces.all()) {
      const run = await this.lookup.visibleIn(space, caller, runId);
      if (run?.kind === kind) return run.componentId;
    }
    return undefined;
  }

  /** What a run was given: an object where the component has a schema for it, else the text. */
  inputOf({ kind, componentId, input }: Run): Json {
    const component = this.options.components.find(kind, componentId);
    const isObject = component?.settings.inputSchema !== undefined && !(component instanceof AgentFactory);
    return isObject ? jsonOrText(input.content) : input.content;
  }

  /** Media of a run's input as the wire carries them. */
  async showMedia(run: Run, media: Media): Promise<string | undefined> {
    const space = await this.lookup.spaceWith(everyone, run);
    return space.media.show(media);
  }

  private async begin(
    { component, space }: FoundComponent,
    caller: RunCaller,
    form: CreateForm,
    wishes: FollowWishes,
    { keyed, traceParent, disconnected }: { readonly keyed?: RunKey | undefined } & CreateOptions,
  ): Promise<RunHandle> {
    const prepare = async (call: CallApplication) => {
      const prepared = await preparedRun(component, space, caller, form, call);
      const message = (await prepared.executable.acceptInput?.(form.message, call)) ?? form.message;
      return { ...prepared, said: { ...form, message } };
    };
    const prepared = await beforeRun(this.options, component, disconnected, prepare);
    const { executable, sessionId, factory, said } = prepared;
    const given = await newRunInput(executable.kind, said, space.media, streamOptionsOf(wishes), factory);
    const { fixed } = caller;
    const input = fixed === undefined ? given : { ...given, options: { ...given.options, fixed } };
    const handle = await space.engine.start(executable, {
      input,
      userId: caller.userId,
      askers: caller.askers,
      background: wishes.background,
      sessionId,
      runId: form.run_id,
      idempotency: keyed,
      ...(traceParent !== undefined && traceOf(traceParent)),
    });
    // the head of a stream names the run: a client that has read it must find the run again, whatever happens here
    if (wishes.stream) await handle.stored();
    return handle;
  }
}

/** For a caller who sees only their own, sessions of other users do not exist. */
async function hideForeign<T>({ scope }: Caller, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (scope.kind !== 'all' && isForeign(error)) throw errors.sessionNotFound();
    throw error;
  }
}

/** A run may be older than the schema. */
function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function isForeign(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'session_of_another_user';
}

function traceOf(header: string): { traceParent?: string } {
  return parseTraceParent(header) === undefined ? {} : { traceParent: header.slice(0, traceParentLength) };
}
