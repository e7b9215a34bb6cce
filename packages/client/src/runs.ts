import { ApiError, isTransient } from './errors.js';
import type { StreamOptions } from './event-stream.js';
import type { Kind, Kinds } from './kinds.js';
import { pathOf } from './path.js';
import {
  type Begin,
  type Component,
  type ContinueWith,
  type KnownRun,
  RunStream,
  runPath,
} from './run-stream.js';
import type { CallOptions, Request, Transport } from './transport.js';
import type { ReportProgress } from './upload.js';
import { backOffMs, pause } from './waiting.js';

export interface RunOptions extends StreamOptions {
  /** Called while the request is sent. */
  readonly onUploadProgress?: ReportProgress;
  /** Further fields of the request, which hooks and functions of workflows can read. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Runs of agents, of teams or of workflows. */
export class Runs<K extends Kind> {
  readonly #transport: Transport;
  readonly #kind: K;

  constructor(transport: Transport, kind: K) {
    this.#transport = transport;
    this.#kind = kind;
  }

  /** Runs a component. Returns the run when it has ended or waits for an answer, also if the service restarts meanwhile. */
  run(id: string, input: Kinds[K]['input'], options?: RunOptions): Promise<Kinds[K]['run']> {
    return this.stream(id, input, options).result();
  }

  /** Runs a component. Gives its events. */
  stream(id: string, input: Kinds[K]['input'], options: RunOptions = {}): RunStream<K> {
    const start = this.#starting(id, input, options);
    const begin: Begin = async (_stream, connect) => {
      const request = start.request({ stream: true });
      if (!options.onUploadProgress) return this.#transport.repeated(request, () => connect(request));
      // who reports progress cannot read a stream
      await this.#transport.value(start.request({ background: true, stream: false }));
      return undefined;
    };
    return this.#streamOf(id, start.run, options, begin);
  }

  /** Starts a run in the background. Returns when the service has stored it. */
  async start(id: string, input: Kinds[K]['input'], options: RunOptions = {}): Promise<RunStream<K>> {
    const start = this.#starting(id, input, options);
    await this.#transport.value(start.request({ background: true, stream: false }));
    return this.#streamOf(id, start.run, options);
  }

  /** The events of a run that was started before, after the event with this index; all of them without one. */
  follow(
    id: string,
    runId: string,
    options: StreamOptions & { readonly lastEventIndex?: number } = {},
  ): RunStream<K> {
    return this.#streamOf(id, { runId, lastEventIndex: options.lastEventIndex }, options);
  }

  /** Continues a run, for example with the answers that it waits for. Returns it when it has ended or waits again. */
  continue(
    id: string,
    runId: string,
    answers: Kinds[K]['answers'],
    options?: StreamOptions,
  ): Promise<Kinds[K]['run']> {
    return this.continueStream(id, runId, answers, options).result();
  }

  /** Continues a run. Gives the events from there on. */
  continueStream(
    id: string,
    runId: string,
    answers: Kinds[K]['answers'],
    options: StreamOptions = {},
  ): RunStream<K> {
    return this.#continued(id, { runId }, answers, options);
  }

  /** Ends a run. One that has ended stays as it is. */
  async cancel(id: string, runId: string, options: CallOptions<{ session_id?: string }> = {}): Promise<void> {
    const path = `${runPath(this.#component(id), runId)}/cancel`;
    await this.#transport.value({ ...options, method: 'POST', path, repeatable: true });
  }

  #component(id: string): Component {
    return { transport: this.#transport, kind: this.#kind, id };
  }

  #streamOf(id: string, run: KnownRun, options: StreamOptions, begin?: Begin): RunStream<K> {
    const continueWith: ContinueWith<K> = (...words) => this.#continued(id, ...words);
    return new RunStream<K>(this.#component(id), run, options, continueWith, begin);
  }

  /** With ids and a key that the client chooses: a request that is sent twice starts one run. */
  #starting(id: string, input: Kinds[K]['input'], { fields, headers, signal, onUploadProgress }: RunOptions) {
    const key = newId();
    const run = { runId: input.run_id ?? newId(), sessionId: input.session_id ?? newId() };
    const request = (mode: { readonly stream: boolean; readonly background?: boolean }): Request => ({
      method: 'POST',
      path: pathOf(`/${this.#kind}s/{id}/runs`, id),
      body: { ...fields, ...input, run_id: run.runId, session_id: run.sessionId, ...mode },
      headers: { 'idempotency-key': key, ...headers },
      repeatable: true,
      ...(signal && { signal }),
      ...(onUploadProgress && { onUploadProgress }),
    });
    return { run, request };
  }

  #continued(id: string, run: KnownRun, answers: Kinds[K]['answers'], options: StreamOptions): RunStream<K> {
    const { headers, signal } = options;
    const path = runPath(this.#component(id), run.runId);
    const shared = { ...(headers && { headers }), ...(signal && { signal }) };
    // the response of this operation has this type
    const read = () => this.#transport.value({ method: 'GET', path, ...shared }) as Promise<Kinds[K]['run']>;
    const body = { ...answers, stream: true };
    const begin: Begin = async (stream, connect) => {
      if (stream.lastEventIndex < 0) stream.lastEventIndex = lastIndexIn(await read());
      for (let failures = 0; ; failures += 1) {
        try {
          return await connect({ method: 'POST', path: `${path}/continue`, body, ...shared });
        } catch (error) {
          // an attempt before this one has arrived
          if (failures > 0 && error instanceof ApiError && taken.has(error.errorCode)) return undefined;
          if (!hasAnswers(answers) || failures >= this.#transport.retries || !isTransient(error)) throw error;
          await pause(backOffMs(failures, error), signal);
          // the service takes an answer once; a run that continues or has ended has it
          if ((await read()).status.toLowerCase() !== 'paused') return undefined;
        }
      }
    };
    return this.#streamOf(id, run, options, begin);
  }
}

/** Without answers, a run is copied or tried again: a request that may have arrived must not do that twice. */
function hasAnswers(answers: object): boolean {
  const lists = ['tools', 'requirements', 'step_requirements', 'error_requirements'];
  return Object.entries(answers).some(([name, list]) => lists.includes(name) && list?.length > 0);
}

const taken = new Set(['cannot_continue', 'unresolved_requirements']);

function lastIndexIn({ events = [] }: { readonly events?: readonly object[] }): number {
  return Math.max(
    -1,
    ...events.slice(-1).map((event) => ('event_index' in event ? Number(event.event_index) : -1)),
  );
}

/** Pages that are not served over HTTPS have no `randomUUID`. */
function newId(): string {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
