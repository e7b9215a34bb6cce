import { type ContinueForm, type CreateForm, resumeForm, runForms } from '../../capabilities/runs/schema.js';
import type { RunsService } from '../../capabilities/runs/service.js';
import { errors } from '../../core/errors/errors.js';
import type { Run, RunKind } from '../../core/runs/run.js';
import { type Caller, isWithin } from '../../platform/auth/caller.js';
import type { Rights } from '../../platform/auth/rights.js';
import { type ClientFrame, optionalText, readForm, requiredText } from './client-frame.js';
import type { Action, Connection } from './connection.js';
import type { FollowedRun } from './deliveries.js';
import { plainEvent } from './server-frame.js';

/** A run outlives the connection that asks for it: it continues like a background run, and is followed. */
const followedRun = { background: 'true', stream: 'true' };

/** What a client of the components of one kind may ask for, once it is known who it is. */
export function actionsOf(runs: RunsService, kind: RunKind): ReadonlyMap<string, Action> {
  const actions = new RunActions(runs, kind);
  return new Map<string, Action>([
    [`start-${kind}`, (...given) => actions.start(...given)],
    [`continue-${kind}`, (...given) => actions.continue(...given)],
    [`cancel-${kind}`, (...given) => actions.cancel(...given)],
    ['reconnect', (...given) => actions.reconnect(...given)],
  ]);
}

type StartedRun = Awaited<ReturnType<RunsService['create']>>;

class RunActions {
  private readonly idField: string;
  private readonly resource: string;

  constructor(
    private readonly runs: RunsService,
    private readonly kind: RunKind,
  ) {
    this.idField = `${kind}_id`;
    this.resource = `${kind}s`;
  }

  async start(connection: Connection, frame: ClientFrame, caller: Caller): Promise<void> {
    const componentId = requiredText(frame, this.idField);
    this.assertMayRun(caller, componentId, 'run');
    const others = [this.idField, 'idempotency_key'];
    const form: CreateForm = readForm(frame, runForms[this.kind].create, others, followedRun);
    const idempotencyKey = optionalText(frame, 'idempotency_key');
    connection.assertRoom();
    const place = { kind: this.kind, componentId };
    const started = await this.runs.create(caller, place, form, { idempotencyKey });
    await this.followStarted(connection, caller, started);
  }

  async continue(connection: Connection, frame: ClientFrame, caller: Caller): Promise<void> {
    const componentId = requiredText(frame, this.idField);
    this.assertMayRun(caller, componentId, 'continue');
    const runId = requiredText(frame, 'run_id');
    const others = [this.idField, 'run_id'];
    const form: ContinueForm = readForm(frame, runForms[this.kind].continue, others, followedRun);
    connection.assertRoom(runId);
    const place = { kind: this.kind, componentId, runId, sessionId: form.session_id };
    const found = await this.runs.follow(caller, place, -1);
    if (found === undefined) throw errors.runNotFound();
    // a finished run continues as a copy: only when that is what the client asks for
    const asksForMore = form.fork || form.regenerate || (form.input ?? form.continue_from) !== undefined;
    const isRetried = found.status === 'error' && this.kind !== 'workflow';
    if (!asksForMore && found.status !== 'paused' && !isRetried) throw errors.notPaused(found.status);
    const started = await this.runs.continueRun(caller, place, form);
    await this.followStarted(connection, caller, started);
  }

  /** A connection that has not been sent all of the run's earlier events yet continues with those. */
  private async followStarted(connection: Connection, caller: Caller, started: StartedRun): Promise<void> {
    const { run } = started.handle;
    const { kind, componentId, runId } = run;
    const sent = connection.unfollow(runId);
    const further =
      sent === -1 ? undefined : await this.runs.follow(caller, { kind, componentId, runId }, sent);
    const events = (further ?? started).events();
    connection.follow(this.followed(run), events, connection.ownFormat, sent);
  }

  async cancel(connection: Connection, frame: ClientFrame, caller: Caller): Promise<void> {
    const componentId = requiredText(frame, this.idField);
    this.assertMayRun(caller, componentId, 'cancel');
    const runId = requiredText(frame, 'run_id');
    const { session_id: sessionId } = readForm(frame, resumeForm, []);
    await this.runs.cancel(caller, { kind: this.kind, componentId, runId, sessionId });
    connection.send({ event: 'cancel_requested', run_id: runId });
  }

  async reconnect(connection: Connection, frame: ClientFrame, caller: Caller): Promise<void> {
    const runId = requiredText(frame, 'run_id');
    const form = readForm(frame, resumeForm, []);
    connection.assertRoom(runId);
    const componentId = await this.reconnectedComponent(frame, caller, runId);
    if (componentId === undefined) throw errors.runNotFound();
    const place = { kind: this.kind, componentId, runId, sessionId: form.session_id };
    const asked = form.last_event_index ?? -1;
    const found = await this.runs.follow(caller, place, asked);
    if (found === undefined) throw errors.runNotFound();
    // what this very connection was sent while it followed the run is not sent twice
    const sent = connection.unfollow(runId);
    const further = sent > asked ? ((await this.runs.follow(caller, place, sent)) ?? found) : found;
    const frames = further.frames(connection.options.format);
    connection.follow(this.followed(found.run), frames, plainEvent, sent);
  }

  /** The component that the client names, or else that of the run; one that may not be seen has no runs. */
  private async reconnectedComponent(
    frame: ClientFrame,
    { rights, ...caller }: Caller,
    runId: string,
  ): Promise<string | undefined> {
    const named = frame.fields[this.idField] == null ? undefined : requiredText(frame, this.idField);
    if (!this.mayFollow(rights, named)) throw errors.actionNotAllowed('reconnect to', this.kind);
    if (named !== undefined) return named;
    const componentId = await this.runs.componentOf({ ...caller, rights }, this.kind, runId);
    return componentId !== undefined && this.mayFollow(rights, componentId) ? componentId : undefined;
  }

  private assertMayRun({ rights }: Caller, componentId: string, doing: string): void {
    if (!rights.may(`${this.resource}:run`, componentId)) throw errors.actionNotAllowed(doing, this.kind);
  }

  /** To read or to run suffices, as over HTTP; without a component: whether there can be one. */
  private mayFollow(rights: Rights, componentId: string | undefined): boolean {
    return ['read', 'run'].some((action) => {
      const instances = rights.instances(this.resource, action);
      if (instances === 'all') return true;
      return componentId === undefined ? instances.size > 0 : instances.has(componentId);
    });
  }

  private followed({ runId, userId, componentId }: Run): FollowedRun {
    return {
      runId,
      isVisibleTo: ({ scope, rights }) => isWithin(scope, userId) && this.mayFollow(rights, componentId),
    };
  }
}
