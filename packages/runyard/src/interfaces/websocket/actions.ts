import {
  type ContinueForm,
  type CreateForm,
  continueRunForm,
  continueWorkflowRunForm,
  createRunForm,
  createWorkflowRunForm,
  resumeForm,
} from '../../capabilities/runs/schema.js';
import type { RunsService } from '../../capabilities/runs/service.js';
import { errors, RunyardError } from '../../core/errors.js';
import type { RunKind } from '../../core/runs/run.js';
import type { Caller } from '../../platform/auth/caller.js';
import { type ClientFrame, optionalText, readForm, requiredText } from './client-frame.js';
import type { Action, Connection } from './connection.js';
import { plainEvent } from './server-frame.js';

/** A run outlives the connection that asks for it: it goes on like a background run, and is followed. */
const followedRun = { background: 'true', stream: 'true' };

/** What a client of the components of one kind may ask for. */
export function actionsOf(runs: RunsService, kind: RunKind): ReadonlyMap<string, Action> {
  const actions = new RunActions(runs, kind);
  return new Map<string, Action>([
    ['authenticate', authenticate],
    ['ping', (connection) => connection.send({ event: 'pong' })],
    [`start-${kind}`, (connection, frame) => actions.start(connection, frame)],
    [`continue-${kind}`, (connection, frame) => actions.continue(connection, frame)],
    [`cancel-${kind}`, (connection, frame) => actions.cancel(connection, frame)],
    ['reconnect', (connection, frame) => actions.reconnect(connection, frame)],
  ]);
}

async function authenticate(connection: Connection, { fields: { token } }: ClientFrame): Promise<void> {
  if (typeof token !== 'string' || token === '') {
    connection.send({ event: 'auth_error', error: 'Token is required' });
    return;
  }
  try {
    const { userId } = await connection.callerWith(token);
    connection.token = token;
    connection.send({
      event: 'authenticated',
      message: 'Authentication successful. You can now send commands.',
      ...(userId !== null && { user_id: userId }),
    });
  } catch (error) {
    if (!(error instanceof RunyardError)) throw error;
    connection.send({ event: 'auth_error', error: error.message, error_code: error.code });
  }
}

type StartedRun = Awaited<ReturnType<RunsService['create']>>;

class RunActions {
  private readonly idField: string;

  constructor(
    private readonly runs: RunsService,
    private readonly kind: RunKind,
  ) {
    this.idField = `${kind}_id`;
  }

  async start(connection: Connection, frame: ClientFrame): Promise<void> {
    const componentId = requiredText(frame, this.idField);
    const createForm = this.kind === 'workflow' ? createWorkflowRunForm : createRunForm;
    const others = [this.idField, 'idempotency_key'];
    const form: CreateForm = readForm(frame, createForm, others, followedRun);
    const idempotencyKey = optionalText(frame, 'idempotency_key');
    connection.assertRoom();
    const caller = await connection.callerWith();
    const started = await this.runs.create(caller, this.kind, componentId, form, { idempotencyKey });
    await this.followStarted(connection, caller, componentId, started);
  }

  async continue(connection: Connection, frame: ClientFrame): Promise<void> {
    const componentId = requiredText(frame, this.idField);
    const runId = requiredText(frame, 'run_id');
    const continueForm = this.kind === 'workflow' ? continueWorkflowRunForm : continueRunForm;
    const form: ContinueForm = readForm(frame, continueForm, [this.idField, 'run_id'], followedRun);
    connection.assertRoom(runId);
    const caller = await connection.callerWith();
    const place = { sessionId: form.session_id, after: -1 };
    const found = await this.runs.follow(caller, this.kind, componentId, runId, place);
    if (found === undefined) throw errors.runNotFound();
    // a finished run goes on as a copy: only when that is what the client asks for
    const asksForMore = form.fork || form.regenerate || (form.input ?? form.continue_from) !== undefined;
    const isRetried = found.status === 'error' && this.kind !== 'workflow';
    if (!asksForMore && found.status !== 'paused' && !isRetried) throw errors.notPaused(found.status);
    const started = await this.runs.continueRun(caller, this.kind, componentId, runId, form);
    await this.followStarted(connection, caller, componentId, started);
  }

  /** A connection that has not been sent all of the run's earlier events yet goes on with those. */
  private async followStarted(
    connection: Connection,
    caller: Caller,
    componentId: string,
    started: StartedRun,
  ): Promise<void> {
    const { runId } = started.handle;
    const sent = connection.unfollow(runId);
    const further =
      sent === -1
        ? undefined
        : await this.runs.follow(caller, this.kind, componentId, runId, { after: sent });
    connection.follow(runId, (further ?? started).events(), connection.ownFormat, sent);
  }

  async cancel(connection: Connection, frame: ClientFrame): Promise<void> {
    const componentId = requiredText(frame, this.idField);
    const runId = requiredText(frame, 'run_id');
    const { session_id: sessionId } = readForm(frame, resumeForm, []);
    await this.runs.cancel(await connection.callerWith(), this.kind, componentId, runId, sessionId);
    connection.send({ event: 'cancel_requested', run_id: runId });
  }

  async reconnect(connection: Connection, frame: ClientFrame): Promise<void> {
    const runId = requiredText(frame, 'run_id');
    const form = readForm(frame, resumeForm, []);
    connection.assertRoom(runId);
    const caller = await connection.callerWith();
    const componentId =
      frame.fields[this.idField] == null
        ? await this.runs.componentOf(caller, this.kind, runId)
        : requiredText(frame, this.idField);
    const look = async (after: number) =>
      componentId === undefined
        ? undefined
        : this.runs.follow(caller, this.kind, componentId, runId, { sessionId: form.session_id, after });
    const asked = form.last_event_index ?? -1;
    const found = await look(asked);
    if (found === undefined) throw errors.runNotFound();
    // what this very connection was sent while it followed the run is not sent twice
    const sent = connection.unfollow(runId);
    const followed = sent > asked ? ((await look(sent)) ?? found) : found;
    connection.follow(runId, followed.frames(connection.options.format), plainEvent, sent);
  }
}
