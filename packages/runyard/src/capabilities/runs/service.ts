import { AgentFactory } from '../../core/agents/agent-factory.js';
import { errors } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import type { Media } from '../../core/media.js';
import type { EventReader } from '../../core/runs/event-reader.js';
import { type Executable, RunReleased } from '../../core/runs/executable.js';
import type { RunHandle } from '../../core/runs/executor.js';
import { decodeBlock, type LoggedEvent } from '../../core/runs/logged-event.js';
import type { Run, RunKind, RunStatus } from '../../core/runs/run.js';
import { ownSession, startRun } from '../../core/runs/start-run.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { ComponentsService, RegisteredAgent } from '../components/service.js';
import { factoryInputOf } from './factory-input.js';
import type { RunView } from './run-body.js';
import { runInputOf } from './run-request.js';
import type { RunSpace, RunSpaces } from './run-spaces.js';
import type { CreateRunForm } from './schema.js';

export interface RunsServiceOptions {
  readonly components: ComponentsService;
  readonly spaces: RunSpaces;
  readonly onDisconnect: 'continue' | 'cancel';
}

export interface StartedRun {
  readonly handle: RunHandle;
  readonly stream: boolean;
  readonly background: boolean;
  /** What the reader of the stream is to be shown. */
  events(): EventReader;
}

export interface ListRuns {
  readonly sessionId?: string;
  readonly status?: string;
  readonly limit?: number;
  readonly page?: number;
}

const sessionListLimit = 1000;
const componentListLimit = 20;

/** What `stream_events=false` leaves: the content, and what a reader must not miss. */
const contentEvents = new Set(['RunContent', 'RunPaused', 'RunError']);

/** The pieces of content and thinking: whole, they stand in the run's body. */
const pieceEvents = new Set(['RunContent', 'RunIntermediateContent', 'ReasoningContentDelta']);

/** Starts runs and finds them again: the one way in for every interface. */
export class RunsService {
  constructor(private readonly options: RunsServiceOptions) {}

  async create(caller: Caller, kind: RunKind, componentId: string, form: CreateRunForm): Promise<StartedRun> {
    const { component, space } = await this.component(kind, componentId);
    const background = form.background ?? false;
    const stream = form.stream ?? !background;
    const userId = userOf(caller, form.user_id);
    const { executable, sessionId, factoryInput } = await this.hideForeign(caller, () =>
      prepared(component, space, userId, form),
    );
    const message = (await executable.acceptInput?.(form.message)) ?? form.message;
    const input = await runInputOf({ ...form, message }, space.media, stream || background, factoryInput);
    const handle = await this.hideForeign(caller, () =>
      startRun(space.engine, space.runs, {
        executable,
        input,
        userId,
        background,
        ...(sessionId !== undefined && { sessionId }),
        ...(form.run_id !== undefined && { runId: form.run_id }),
      }),
    );
    const filter =
      form.stream_events === false ? (event: LoggedEvent) => contentEvents.has(event.name) : undefined;
    const cancels = !background && (form.on_disconnect ?? this.options.onDisconnect) === 'cancel';
    return { handle, stream, background, events: () => streamOf(handle, cancels, filter) };
  }

  /** Waits for the end of a run that was just started. */
  async ended(started: StartedRun): Promise<RunView> {
    const { handle } = started;
    try {
      return await handle.ended;
    } catch (error) {
      throw error instanceof RunReleased ? errors.runHandedOn(handle.runId) : error;
    }
  }

  async get(
    caller: Caller,
    kind: RunKind,
    componentId: string,
    runId: string,
    sessionId?: string,
  ): Promise<RunView> {
    const { space } = await this.component(kind, componentId);
    const run = await space.runs.find(caller.scope, runId);
    const matches = run?.kind === kind && run.componentId === componentId;
    if (!matches || (sessionId !== undefined && run.sessionId !== sessionId)) throw errors.runNotFound();
    const [steps, events] = await Promise.all([space.runs.steps([runId]), this.storedEvents(space, run)]);
    return { run, steps: steps.get(runId) ?? [], events };
  }

  async list(caller: Caller, kind: RunKind, componentId: string, query: ListRuns): Promise<RunView[]> {
    const { space } = await this.component(kind, componentId);
    const { sessionId } = query;
    if (sessionId !== undefined) await space.sessions.get(caller.scope, sessionId);
    const limit = query.limit ?? (sessionId === undefined ? componentListLimit : sessionListLimit);
    const runs = await space.runs.list(caller.scope, {
      kind,
      componentId,
      sessionId,
      status: query.status?.toLowerCase() as RunStatus | undefined,
      limit,
      offset: limit * ((query.page ?? 1) - 1),
      order: sessionId === undefined ? 'desc' : 'asc',
    });
    return this.withSteps(space, runs);
  }

  /** Media of a run's input as the wire carries them. */
  async showMedia(run: Run, media: Media): Promise<string | undefined> {
    const { space } = await this.component(run.kind, run.componentId);
    return space.media.show(media);
  }

  private async component(
    kind: RunKind,
    id: string,
  ): Promise<{ component: RegisteredAgent; space: RunSpace }> {
    const component = this.options.components.find(kind, id);
    if (component === undefined) throw errors.componentNotFound(kind);
    return { component, space: await this.options.spaces.get(component.settings.database) };
  }

  private async withSteps(space: RunSpace, runs: readonly Run[]): Promise<RunView[]> {
    const steps = await space.runs.steps(runs.map(({ runId }) => runId));
    return runs.map((run) => ({ run, steps: steps.get(run.runId) ?? [] }));
  }

  /** All events up to what the record knows of, except the single pieces of the content: one consistent picture. */
  private async storedEvents(space: RunSpace, { runId, nextEventIndex }: Run): Promise<JsonObject[]> {
    const events: JsonObject[] = [];
    for (let from = 0; ; ) {
      const blocks = await space.runs.eventBlocks(runId, from, 100);
      if (blocks.length === 0) return events;
      for (const block of blocks) {
        for (const event of decodeBlock(block.firstIndex, block.payload)) {
          if (event.index >= nextEventIndex) return events;
          if (!pieceEvents.has(event.name)) events.push(JSON.parse(event.data) as JsonObject);
        }
        from = block.firstIndex + block.count;
      }
    }
  }

  /** To a caller who sees only their own, somebody else's session does not exist. */
  private async hideForeign<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (caller.scope.kind === 'user' && isForeign(error)) throw errors.sessionNotFound();
      throw error;
    }
  }
}

interface PreparedRun {
  readonly executable: Executable;
  readonly sessionId?: string;
  readonly factoryInput?: JsonObject;
}

/** What executes a run: the component itself, or what a factory builds for this caller and this session. */
async function prepared(
  component: RegisteredAgent,
  { runs }: RunSpace,
  userId: string | null,
  form: CreateRunForm,
): Promise<PreparedRun> {
  if (!(component instanceof AgentFactory)) return { executable: component, sessionId: form.session_id };
  const input = factoryInputOf(form.factory_input);
  const sessionId = form.session_id ?? newId();
  // only the state of a session of the user's own reaches the factory
  const session = form.session_id === undefined ? undefined : await ownSession(runs, sessionId, userId);
  const state = { ...session?.state, ...form.session_state };
  const executable = await component.build({ input, userId, sessionId, state });
  return { executable, sessionId, factoryInput: input };
}

function isForeign(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'session_of_another_user';
}

/** A token's subject always wins; an anonymous caller may name any user but the reserved ones. */
function userOf(caller: Caller, named: string | undefined): string | null {
  if (caller.userId !== null) return caller.userId;
  if (named !== undefined && (named.startsWith('sa:') || named === '__scheduler__'))
    throw errors.reservedUser(named);
  return named ?? null;
}

function streamOf(
  handle: RunHandle,
  cancels: boolean,
  filter?: (event: LoggedEvent) => boolean,
): EventReader {
  const reader = handle.events(0, filter);
  if (cancels) reader.onClosed(() => handle.cancel('The client left the stream'));
  return reader;
}
