import { type EventSourceAt, EventStream, type StreamOptions } from './event-stream.js';
import type { Kind, Kinds } from './kinds.js';
import { pathOf } from './path.js';
import type { Request, Transport } from './transport.js';

/** A component whose runs are meant. */
export interface Component {
  readonly transport: Transport;
  readonly kind: Kind;
  readonly id: string;
}

/** What the client knows of a run. */
export interface KnownRun {
  readonly runId: string;
  readonly sessionId?: string | undefined;
  readonly lastEventIndex?: number | undefined;
}

/** Sends what starts or continues a run. The response is its stream; undefined if the stream has to be opened. */
export type Begin = (
  stream: { lastEventIndex: number },
  connect: (request: Request) => Promise<Response>,
) => Promise<Response | undefined>;

/** Continues a run with answers: its next stream. */
export type ContinueWith<K extends Kind> = (
  run: KnownRun,
  answers: Kinds[K]['answers'],
  options: StreamOptions,
) => RunStream<K>;

/**
 * A run: its events, and what becomes of it. The request is sent when the events or the result are asked for.
 */
export class RunStream<K extends Kind> extends EventStream<Kinds[K]['event']> {
  readonly #component: Component;
  readonly #continueWith: ContinueWith<K>;
  #begin: Begin | undefined;
  /** Ends when the service has the run, or the request has failed. */
  #beginning: Promise<unknown> | undefined;
  #runId: string;
  #sessionId: string | undefined;

  constructor(
    component: Component,
    run: KnownRun,
    options: StreamOptions,
    continueWith: ContinueWith<K>,
    begin?: Begin,
  ) {
    super(component.transport, { path: '' }, options, run.lastEventIndex);
    this.#component = component;
    this.#continueWith = continueWith;
    this.#runId = run.runId;
    this.#sessionId = run.sessionId;
    this.#begin = begin;
  }

  /** The client chooses it, so it is known before the run starts. A continued run that is copied gets another one. */
  get runId(): string {
    return this.#runId;
  }

  /** Known from the start of a new run; of another one, after its first event. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** The run when it has ended or waits for an answer, after all events. A run that failed has the status `error`. */
  async result(): Promise<Kinds[K]['run']> {
    await this.drain();
    const { signal, headers } = this.options;
    const path = runPath(this.#component, this.#runId);
    const shared = { ...(signal && { signal }), ...(headers && { headers }) };
    const run = await this.transport.value({ method: 'GET', path, ...shared });
    // the response of this operation has this type
    return run as Kinds[K]['run'];
  }

  /** The same as `result`, for a run in the background. */
  wait(): Promise<Kinds[K]['run']> {
    return this.result();
  }

  /** Ends the run. The stream then has its last events. */
  async cancel(): Promise<void> {
    // a run that the service does not have yet cannot be cancelled
    await this.#beginning?.catch(() => {});
    const { headers } = this.options;
    const path = `${runPath(this.#component, this.#runId)}/cancel`;
    await this.transport.value({ method: 'POST', path, repeatable: true, ...(headers && { headers }) });
  }

  /** Continues the run after a pause, a failure or its end. */
  continue(answers: Kinds[K]['answers'], options: StreamOptions = this.options): RunStream<K> {
    const { runId, sessionId, lastEventIndex } = this;
    return this.#continueWith({ runId, sessionId, lastEventIndex }, answers, options);
  }

  protected override get source(): EventSourceAt {
    return { path: `${runPath(this.#component, this.#runId)}/events` };
  }

  protected override async begin(): Promise<Response | undefined> {
    const begun = this.#begin?.(this, (request) => this.connect(request));
    this.#beginning = begun;
    const response = await begun;
    this.#begin = undefined;
    const runId = response?.headers.get('x-run-id');
    if (runId && decodeURIComponent(runId) !== this.#runId) {
      this.#runId = decodeURIComponent(runId);
      this.lastEventIndex = -1;
    }
    return response;
  }

  protected override isLast(event: Kinds[K]['event']): boolean {
    this.#sessionId = event.session_id;
    const isOwn = event.run_id === this.#runId;
    return isOwn && /^((Team)?Run|Workflow)(Completed|Error|Paused)$/.test(event.event);
  }
}

export function runPath({ kind, id }: Component, runId: string): string {
  return pathOf(`/${kind}s/{id}/runs/{run}`, id, runId);
}
