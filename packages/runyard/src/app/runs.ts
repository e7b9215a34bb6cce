import type { z } from 'zod';
import type {
  listedRun,
  listedTeamRun,
  listedWorkflowRun,
} from '../capabilities/runs/bodies/listed-run-schema.js';
import type { runBody, teamRunBody, workflowRunBody } from '../capabilities/runs/bodies/response-schema.js';
import type { StartedRun } from '../capabilities/runs/request/started-run.js';
import type {
  ContinueForm,
  CreateForm,
  eventBody,
  eventReceipt,
  listRunsQuery,
} from '../capabilities/runs/schema.js';
import { decodedEvents } from '../core/components/started-run.js';
import { errors } from '../core/errors/errors.js';
import type { EventsOf } from '../core/events/run-event.js';
import type { JsonObject } from '../core/json.js';
import type { RunKind } from '../core/runs/run.js';
import type { AdmittedCall, Calls } from './calls.js';
import type { Query } from './given.js';
import { Listing } from './listing.js';

/** The body of a run, by what it is a run of. */
export interface RunBodies {
  readonly agent: z.output<typeof runBody>;
  readonly team: z.output<typeof teamRunBody>;
  readonly workflow: z.output<typeof workflowRunBody>;
}

interface Listed {
  readonly agent: z.output<typeof listedRun>;
  readonly team: z.output<typeof listedTeamRun>;
  readonly workflow: z.output<typeof listedWorkflowRun>;
}

/** Names one component. */
export interface ComponentNames {
  readonly agent: { readonly agent_id: string };
  readonly team: { readonly team_id: string };
  readonly workflow: { readonly workflow_id: string };
}

/** The fields of `POST /agents/{agent_id}/runs` and its siblings; objects where a form has them as text. */
export interface RunFields {
  readonly message: string | JsonObject;
  readonly session_id?: string;
  readonly user_id?: string;
  /** Refused when a run has it. */
  readonly run_id?: string;
  /** Stores the run before it begins. */
  readonly background?: boolean;
  readonly session_state?: JsonObject;
  readonly dependencies?: JsonObject;
  readonly metadata?: JsonObject;
  readonly knowledge_filters?: JsonObject | readonly JsonObject[];
  readonly output_schema?: JsonObject;
  readonly add_history_to_context?: boolean;
  readonly images?: readonly JsonObject[];
  readonly audio?: readonly JsonObject[];
  readonly videos?: readonly JsonObject[];
  readonly input_files?: readonly JsonObject[];
  readonly factory_input?: JsonObject;
  /** Of a stored component. */
  readonly version?: number;
  /** Of a workflow. */
  readonly additional_data?: string;
}

/** The fields of `POST …/runs/{run_id}/continue`. */
export interface ContinueFields {
  /** Those of the paused run, with the answers filled in. */
  readonly tools?: readonly object[];
  readonly requirements?: readonly object[];
  readonly step_requirements?: readonly object[];
  readonly error_requirements?: readonly object[];
  readonly input?: string;
  readonly continue_from?: 'end' | 'last_user' | number;
  readonly fork?: boolean;
  readonly regenerate?: boolean;
  readonly replace_original?: boolean;
  readonly additional_instructions?: string;
  readonly background?: boolean;
  readonly dependencies?: JsonObject;
  readonly metadata?: JsonObject;
}

/** The body of `POST /workflows/{workflow_id}/runs/{run_id}/events`. */
export type EventFields = z.input<typeof eventBody>;
export type SentEventBody = z.output<typeof eventReceipt>;

type ListQuery = Query<typeof listRunsQuery>;
type ListOf<Kind extends RunKind> = Listing<readonly Listed[Kind][], Listed[Kind]>;

interface Place {
  readonly kind: RunKind;
  readonly params: Readonly<Record<string, string>>;
}

/** A run that a caller has started or continued. */
export class ServiceRun<Kind extends RunKind = RunKind> {
  readonly runId: string;
  readonly sessionId: string;

  constructor(
    private readonly runs: Runs,
    private readonly started: StartedRun,
    private readonly ended: () => Promise<unknown>,
  ) {
    const { runId, sessionId } = started.handle.run;
    this.runId = runId;
    this.sessionId = sessionId;
  }

  /** Yields its events as the API streams them, until it ends or pauses. Leaving the loop does not cancel it. */
  events({ after }: { readonly after?: number } = {}): AsyncGenerator<EventsOf[Kind], void, void> {
    const { handle, fromIndex } = this.started;
    return decodedEvents<Kind>(handle.events(after === undefined ? fromIndex : after + 1));
  }

  /** The body of the run when it has ended or paused. */
  async result(): Promise<RunBodies[Kind]> {
    await this.ended();
    // it is the run of this component, whose kind the caller named
    return this.runs.get(this.runId) as Promise<RunBodies[Kind]>;
  }

  cancel(): Promise<void> {
    return this.runs.cancel(this.runId);
  }
}

/** Runs, as the operations at `/agents/{agent_id}/runs` and its siblings show, start and change them. */
export class Runs {
  constructor(private readonly calls: Calls) {}

  /** Starts a run of a registered or stored component: `start({ agent_id: 'clerk', message: 'Hello' })`. */
  start(given: ComponentNames['agent'] & RunFields): Promise<ServiceRun<'agent'>>;
  start(given: ComponentNames['team'] & RunFields): Promise<ServiceRun<'team'>>;
  start(given: ComponentNames['workflow'] & RunFields): Promise<ServiceRun<'workflow'>>;
  async start(given: RunFields): Promise<ServiceRun> {
    const { kind, id, fields } = componentIn('app.runs.start()', given);
    const body = { ...fields, stream: true };
    const call = await this.calls.admit(`create_${kind}_run`, { params: { [`${kind}_id`]: id }, body });
    const place = { kind, componentId: id };
    // the schema of the route has read it
    return this.#run(
      call,
      await call.services.runs.create(call.caller, place, call.request.body as CreateForm),
    );
  }

  /** Continues a run: with answers to what it waits for, with the decisions on its approvals, or as a copy. */
  async continue(runId: string, fields: ContinueFields = {}): Promise<ServiceRun> {
    const { kind, params } = await this.#place(runId);
    const body = { ...fields, stream: true };
    const call = await this.calls.admit(`continue_${kind}_run`, { params, body });
    const place = { kind, componentId: String(params[`${kind}_id`]), runId };
    // as above
    const form = call.request.body as ContinueForm;
    return this.#run(call, await call.services.runs.continueRun(call.caller, place, form));
  }

  async get(runId: string): Promise<RunBodies[RunKind]> {
    const { kind, params } = await this.#place(runId);
    return this.calls.body<z.ZodType<RunBodies[RunKind]>>(`get_${kind}_run`, { params });
  }

  /** The runs of a component, newest first; with `session_id`, those in this session, oldest first. */
  list(query: ComponentNames['agent'] & ListQuery): ListOf<'agent'>;
  list(query: ComponentNames['team'] & ListQuery): ListOf<'team'>;
  list(query: ComponentNames['workflow'] & ListQuery): ListOf<'workflow'>;
  list(query: ListQuery): ListOf<RunKind> {
    const { kind, id, fields } = componentIn('app.runs.list()', query);
    const read = (page?: number) =>
      this.calls.body<z.ZodType<readonly Listed[RunKind][]>>(`list_${kind}_runs`, {
        params: { [`${kind}_id`]: id },
        query: page === undefined ? fields : { ...fields, page },
      });
    const entriesOf = (entries: readonly Listed[RunKind][]) => ({ entries, isLast: entries.length === 0 });
    return new Listing({ read, entriesOf }, query.page);
  }

  /** Cancels a run, wherever it is executed. One that has ended stays as it is. */
  async cancel(runId: string): Promise<void> {
    const { kind, params } = await this.#place(runId);
    await this.calls.body(`cancel_${kind}_run`, { params });
  }

  /** Sends an event to a run of a workflow that waits for it, or will. */
  async sendEvent(runId: string, event: EventFields): Promise<SentEventBody> {
    const { kind, params } = await this.#place(runId);
    if (kind !== 'workflow') throw errors.runNotFound();
    return this.calls.body<typeof eventReceipt>('send_workflow_run_event', { params, body: event });
  }

  /** Follows a run, wherever it is executed, until it ends or pauses. `after`: the last event that the reader has. */
  async *events(
    runId: string,
    { after = -1 }: { readonly after?: number } = {},
  ): AsyncGenerator<EventsOf[RunKind], void, void> {
    const { kind, params } = await this.#place(runId);
    const { caller, services } = await this.calls.admit(`follow_${kind}_run_events`, { params });
    const place = { kind, componentId: String(params[`${kind}_id`]), runId };
    const followed = await services.runs.follow(caller, place, after);
    if (followed === undefined) throw errors.runNotFound();
    yield* decodedEvents(followed.events());
  }

  #run({ services }: AdmittedCall, started: StartedRun): ServiceRun {
    return new ServiceRun(this, started, () => services.runs.ended(started));
  }

  /** The wire names a run by its component too. */
  async #place(runId: string): Promise<Place> {
    const { caller, services } = await this.calls.site();
    const found = await services.runs.placeOf(caller, runId);
    if (found === undefined) throw errors.runNotFound();
    const { kind, componentId } = found;
    return { kind, params: { [`${kind}_id`]: componentId, run_id: runId } };
  }
}

const kinds = ['agent', 'team', 'workflow'] as const;

function componentIn(
  method: string,
  given: object,
): { kind: RunKind; id: string; fields: Record<string, unknown> } {
  const fields: Record<string, unknown> = { ...given };
  const named = kinds.filter((kind) => fields[`${kind}_id`] !== undefined);
  const [kind, ...others] = named;
  const id = kind && fields[`${kind}_id`];
  if (kind === undefined || others.length > 0 || typeof id !== 'string')
    throw errors.invalidConfig(`${method} needs one of agent_id, team_id and workflow_id.`);
  delete fields[`${kind}_id`];
  return { kind, id, fields };
}
