import { type Checkpoint, checkpointAt, checkpointsOf } from '../../core/agents/continuation/checkpoints.js';
import { snapshotAt } from '../../core/agents/continuation/snapshot.js';
import { isPromise } from '../../core/async/promises.js';
import { errorCode } from '../../core/errors/error-code.js';
import { errors } from '../../core/errors/errors.js';
import { ComponentFactory } from '../../core/factories/component-factory.js';
import { type Json, type JsonObject, parseJson } from '../../core/json.js';
import type { Media } from '../../core/media/media.js';
import { RunReleased } from '../../core/runs/executable.js';
import { resumeRun } from '../../core/runs/resume/resume-run.js';
import type { EndedRun, Run, RunKind, RunStatus } from '../../core/runs/run.js';
import { type EventReceipt, sendEvent } from '../../core/workflows/send-event.js';
import { anonymousCaller, type Caller } from '../../platform/auth/caller.js';
import { fixedStateKeys, without } from '../../platform/auth/fixed-values.js';
import { personsBehind } from '../../platform/auth/persons.js';
import { largestPage, offsetOf } from '../../platform/http/request/pagination.js';
import type { WireFormat } from '../../platform/http/response/wire-format.js';
import type { Spaces } from '../capability.js';
import type { ComponentsService } from '../components/service.js';
import { isUnfinishedSession, journalsOf, type ListedRun, listedRuns } from './bodies/listed-runs.js';
import { hasMedia, noMedia, type RunView, runBodyOf, runMediaOf } from './bodies/run-body.js';
import { type SettledRun, settledRun } from './bodies/settled-run.js';
import { cancelRun } from './continuation/cancel-run.js';
import { continueRequestOf } from './continuation/continue-request.js';
import { resumeSite } from './continuation/continue-run.js';
import { forkSession, mayMean, type SessionPlace } from './continuation/fork-session.js';
import { type Followed, followRun } from './events/follow-run.js';
import { storedEvents } from './events/stored-events.js';
import { boundFor, boundPlace } from './request/bound-values.js';
import { prepareDraftSession } from './request/draft-session.js';
import { type FormContext, runRequestOf } from './request/run-request.js';
import { type BeforeRunOptions, beforeRun, startOnce, startRun } from './request/start-run.js';
import { attachedTo, endOf, followingOf, type StartedRun, startedRun } from './request/started-run.js';
import { type FoundRun, RunLookup, type RunPlace, type RunsPlace } from './run-lookup.js';
import type { ContinueForm, CreateForm } from './schema.js';
import type { RunFilter } from './storage/store.js';

export type { RunPlace } from './run-lookup.js';

export interface RunsServiceOptions extends BeforeRunOptions {
  readonly components: ComponentsService;
  readonly spaces: Spaces;
  readonly onDisconnect: 'continue' | 'cancel';
}

export interface SentEvent {
  readonly name: string;
  readonly data: Json;
  readonly eventId?: string | undefined;
}

export interface ListRuns {
  readonly status?: string;
  readonly limit?: number;
  readonly page?: number;
  /** Whether streamed runs come with their events. */
  readonly withEvents?: boolean;
  /** A session is unknown until the first of its streamed runs has paused or ended, as in the older interface. */
  readonly hidesUnfinished?: boolean;
}

/** A page of runs by creation, newest first. */
export interface PageOfRuns extends Pick<RunFilter, 'status' | 'changedAfter' | 'before'> {
  readonly limit: number;
}

export interface RunsOfPage {
  readonly runs: AsyncIterable<RunView>;
  /** How many there are on all pages. */
  readonly total: number;
  /** The next page begins before the last run of this one. */
  readonly hasMore: boolean;
}

type RunBody = Record<string, unknown>;

/** The caller has been shown the run already. */
const everyone = { kind: 'all' } as const;

const componentListLimit = 20;

/** Starts runs, finds them again and continues them: the one way in for every interface. */
export class RunsService {
  private readonly lookup: RunLookup;

  constructor(private readonly options: RunsServiceOptions) {
    this.lookup = new RunLookup(options.components, options.spaces);
  }

  async create(
    caller: Caller,
    place: RunsPlace,
    form: CreateForm,
    context: FormContext = {},
  ): Promise<StartedRun> {
    const { version } = form;
    const finding = this.lookup.component(place, caller, { version, configs: context.configs });
    const found = isPromise(finding) ? await finding : finding;
    const following = followingOf(form, this.options.onDisconnect);
    const { kind, componentId } = place;
    const { component } = found;
    const request = await runRequestOf(caller, { kind, componentId, component }, form, following, context);
    return await startOnce(found.space, request, async () => {
      if (request.sessionId !== undefined) await prepareDraftSession(caller, found, request);
      try {
        const handle = await startRun(this.options, found, request);
        return startedRun(found.space, handle, request, { status: 'pending' });
      } catch (error) {
        throw hideForeign(caller, error);
      }
    });
  }

  /** Continues a run: with answers to what it waits for, after a failure, or as a copy. */
  async continueRun(
    caller: Caller,
    place: RunPlace,
    form: ContinueForm,
    { disconnected }: FormContext = {},
  ): Promise<StartedRun> {
    const found = await this.lookup.run(caller, place);
    const { run, space } = found;
    const component = await this.options.components.ofRun(run);
    const bound = boundFor(caller, run.userId, component);
    const { sessionId = form.session_id } = bound;
    const isMeant = sessionId === undefined || sessionId === run.sessionId;
    if (!isMeant || !mayMean(caller, form.user_id, run.userId)) throw errors.runNotFound();
    if (component === undefined) throw errors.componentNotRegistered(run);
    await space.approvals.assertMayContinue(caller, run);
    const following = followingOf(form, this.options.onDisconnect);
    const request = await continueRequestOf(run.kind, form, following, bound);
    const site = resumeSite({ ...found, component }, caller, request, async (factory, work) =>
      beforeRun(this.options, factory, disconnected, work, (executable) => executable.done?.()),
    );
    const { handle, fromIndex } = await resumeRun(site, run.runId, request);
    if (request.stream) await handle.stored();
    return startedRun(space, handle, request, { fromIndex, continued: true });
  }

  /** Sends an event to a run that waits for it, or will. */
  async sendEvent(caller: Caller, place: RunPlace, event: SentEvent): Promise<EventReceipt> {
    const { run, space } = await this.lookup.run(caller, boundPlace(caller, place));
    const { engine, runs: journal } = space;
    const site = { engine, journal, receivedEvents: journal.receivedEvents, askers: personsBehind(caller) };
    const { name, data, eventId } = event;
    return sendEvent(site, run.runId, name, data, eventId === undefined ? {} : { eventId });
  }

  /** Ends a run. The answer is the run if the process that executes it has not ended it yet. */
  cancel(caller: Caller, place: RunPlace): Promise<Run | undefined> {
    return cancelRun(this.lookup, caller, place);
  }

  /** The events of a run after the last one that a reader has (-1: none); undefined if the run does not exist. */
  follow(caller: Caller, place: RunPlace, after: number): Promise<Followed | undefined> {
    return followRun(this.lookup, caller, boundPlace(caller, place), after);
  }

  /** Waits for the end of a run that was just started. */
  async ended(started: StartedRun): Promise<RunView> {
    const { handle, continued, space } = started;
    try {
      const view = await endOf(space, handle);
      if (!continued) return view;
      return { ...view, events: await storedEvents(space.runs, view) };
    } catch (error) {
      throw error instanceof RunReleased ? errors.runHandedOn(handle.run) : error;
    }
  }

  /** Waits for the end of a run that was started before, wherever it is executed; one that pauses has ended, too. */
  async end(caller: Caller, place: RunPlace): Promise<EndedRun> {
    const { space, run } = await this.lookup.run(caller, place);
    return endOf(space, attachedTo(space, run));
  }

  /**
   * A run once it has paused or ended, wherever it is executed; undefined if there is none. It is for the service
   * itself, which started the run. Rejects when the signal aborts.
   */
  async settled(place: RunPlace, signal: AbortSignal): Promise<SettledRun | undefined> {
    const found = await this.lookup.find(anonymousCaller, place);
    return found && settledRun(found.space, place.runId, signal);
  }

  /** The run at a place, and where it is stored. Throws when the caller sees none there. */
  find(caller: Caller, place: RunPlace): Promise<FoundRun> {
    return this.lookup.run(caller, boundPlace(caller, place));
  }

  async get(caller: Caller, place: RunPlace): Promise<RunView> {
    const { space, run, steps } = await this.lookup.runWithSteps(caller, boundPlace(caller, place));
    return { run, steps, events: await storedEvents(space.runs, { run, steps }) };
  }

  /** The same without its events. */
  async journal(caller: Caller, place: RunPlace): Promise<RunView> {
    const { run, steps } = await this.lookup.runWithSteps(caller, boundPlace(caller, place));
    return { run, steps };
  }

  /** Finds the runs before it answers; they are read as they are taken. */
  async list(caller: Caller, place: RunsPlace, query: ListRuns): Promise<AsyncIterable<ListedRun>> {
    const within = boundPlace(caller, place);
    const { sessionId } = within;
    const space = await this.lookup.spaceWith(caller.scope, within, caller);
    if (sessionId !== undefined) {
      await space.sessions.get(caller.scope, sessionId);
      if (query.hidesUnfinished && (await isUnfinishedSession(space, sessionId)))
        throw errors.sessionNotFound();
    }
    const limit = query.limit ?? (sessionId === undefined ? componentListLimit : largestPage);
    // a text that is no status matches no run
    const status = query.status?.toLowerCase() as RunStatus | undefined;
    const runIds = await space.runs.listedIds(caller.scope, {
      ...within,
      status,
      limit,
      offset: offsetOf({ limit, page: query.page ?? 1 }),
      order: sessionId === undefined ? 'desc' : 'asc',
    });
    return listedRuns(space, runIds, query.withEvents ?? true, ({ run }) => {
      return status === undefined || run.status === status;
    });
  }

  /** A page of runs, newest first. They are read as they are taken. None is missing: requests are answered with what it holds. */
  async page(caller: Caller, place: RunsPlace, query: PageOfRuns): Promise<RunsOfPage> {
    const { limit, before, ...filter } = query;
    const within = { ...boundPlace(caller, place), ...filter };
    const space = await this.lookup.spaceWith(caller.scope, within, caller);
    const total = await space.runs.count(caller.scope, within);
    const page = { ...within, before, limit: limit + 1, offset: 0, order: 'desc' } as const;
    const runIds = await space.runs.ids(caller.scope, page);
    return { runs: journalsOf(space, runIds.slice(0, limit)), total, hasMore: runIds.length > limit };
  }

  /** Where the run can continue from. */
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
    const { messageIndex: kept, ...view } = snapshotAt(run, steps, messageIndex);
    return { view, checkpoint: checkpointAt(run, steps, kept) };
  }

  /** Copies a session with its finished runs, and answers with the id of the copy. */
  forkSession(caller: Caller, place: SessionPlace): Promise<string> {
    return forkSession(this.lookup, caller, place);
  }

  /** Which component a run that the caller may see belongs to. */
  async componentOf(caller: Caller, kind: RunKind, runId: string): Promise<string | undefined> {
    return (await this.placeOf(caller, runId, kind))?.componentId;
  }

  /** Where a run that the caller may see is, for a protocol that names runs by their ids alone. */
  async placeOf(caller: Caller, runId: string, kind?: RunKind): Promise<RunPlace | undefined> {
    for (const space of await this.options.spaces.all()) {
      const run = await this.lookup.visibleIn(space, caller, runId);
      if (run !== undefined && (kind === undefined || run.kind === kind))
        return { kind: run.kind, componentId: run.componentId, runId };
    }
    return undefined;
  }

  /** The input of a run: an object where the component has a schema for it, else the text. */
  async inputOf(run: Run): Promise<Json> {
    const { content } = run.input;
    const component = await this.options.components.shownOf(run);
    const isObject =
      component?.settings.inputSchema !== undefined && !(component instanceof ComponentFactory);
    return isObject ? jsonOrText(content) : content;
  }

  /** The whole body of a run as the wire shows it, media included. */
  body(view: RunView, format: WireFormat): RunBody | Promise<RunBody> {
    const { run, steps, history, events } = view;
    // the body of a conversation shows its message as it came
    return hasMedia(run) || run.kind === 'workflow'
      ? this.bodyWithInput(view, format)
      : runBodyOf({ run, steps, history, events, input: undefined }, noMedia, format);
  }

  private async bodyWithInput(view: RunView, format: WireFormat): Promise<RunBody> {
    const { run, steps, history, events } = view;
    const media = hasMedia(run) ? await runMediaOf(run, (item) => this.showMedia(run, item)) : noMedia;
    const input = run.kind === 'workflow' ? await this.inputOf(run) : undefined;
    return runBodyOf({ run, steps, history, events, input }, media, format);
  }

  /** The stored state of a session whose run the caller was shown, without what the caller's token fixes. */
  async sessionState(caller: Caller, place: RunsPlace & { readonly sessionId: string }): Promise<JsonObject> {
    const space = await this.lookup.spaceWith(everyone, place);
    const { state } = (await space.runs.session(place.sessionId)) ?? {};
    return without(state, fixedStateKeys(caller)) ?? {};
  }

  /** Media of a run's input as the wire carries them. */
  async showMedia(run: Run, media: Media): Promise<string | undefined> {
    const space = await this.lookup.spaceWith(everyone, run);
    return space.media.show(media);
  }
}

/** For a caller who sees only their own, sessions of other users do not exist. */
function hideForeign({ scope }: Caller, error: unknown): unknown {
  const isForeign = scope.kind !== 'all' && errorCode(error) === 'session_of_another_user';
  return isForeign ? errors.sessionNotFound() : error;
}

/** A run may be older than the schema. */
function jsonOrText(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
