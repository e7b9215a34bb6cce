import type { StreamOptions } from './event-stream.js';
import type { Kind, Kinds } from './kinds.js';
import type { RunStream } from './run-stream.js';
import type { RunOptions, Runs } from './runs.js';

/** A run as a page shows it. */
export interface RunState<K extends Kind> {
  /** `failed`: the request or its stream; a run that failed has the status `error`. */
  readonly status:
    | 'idle'
    | 'running'
    | 'reconnecting'
    | 'failed'
    | 'paused'
    | 'completed'
    | 'error'
    | (string & {});
  readonly runId: string | undefined;
  readonly sessionId: string | undefined;
  readonly events: readonly Kinds[K]['event'][];
  /** The answer so far. */
  readonly text: string;
  /** The run when it has ended or waits for an answer. */
  readonly run: Kinds[K]['run'] | undefined;
  /** Why it failed. */
  readonly error: unknown;
}

const frameMs = 16;

/** Reads one run after the other, and shows their state. Many events at once are one change. */
export class RunStore<K extends Kind> {
  readonly #runs: Runs<K>;
  readonly #id: string;
  readonly #listeners = new Set<() => void>();
  #state: RunState<K> = idle();
  #next: RunState<K> = this.#state;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stream: RunStream<K> | undefined;
  #text = new Text();
  #reading = new AbortController();

  constructor(runs: Runs<K>, id: string) {
    this.#runs = runs;
    this.#id = id;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): RunState<K> => this.#state;

  /** Starts a run. */
  readonly send = (
    input: Kinds[K]['input'],
    options?: Omit<RunOptions, keyof StreamOptions>,
  ): Promise<void> => this.#read((own) => this.#runs.stream(this.#id, input, { ...options, ...own }), idle());

  /** Shows a run that was started before. Does nothing if it is the one that is shown. */
  readonly follow = async (runId: string): Promise<void> => {
    if (this.#stream?.runId === runId && this.#next.status !== 'failed') return;
    await this.#read((own) => this.#runs.follow(this.#id, runId, own), idle());
  };

  /** Continues the run that is shown. */
  readonly answer = (answers: Kinds[K]['answers']): Promise<void> => {
    const stream = this.#stream;
    if (!stream) throw new Error('There is no run to continue.');
    return this.#read((own) => stream.continue(answers, own), this.#next);
  };

  /** Ends the run. */
  readonly cancel = async (): Promise<void> => {
    await this.#stream?.cancel();
  };

  /** Reads the rest of a run that `close` has left: React removes and restores the effects of what it hides. */
  readonly open = (): void => {
    const { runId, status, events } = this.#next;
    const isLeft = this.#reading.signal.aborted && (status === 'running' || status === 'reconnecting');
    if (!isLeft || runId === undefined) return;
    const lastEventIndex = events.at(-1)?.event_index ?? -1;
    void this.#read((own) => this.#runs.follow(this.#id, runId, { ...own, lastEventIndex }), this.#next);
  };

  /** Stops reading. The run continues. */
  readonly close = (): void => {
    this.#reading.abort();
    if (this.#timer !== undefined) this.#publish();
  };

  async #read(open: (options: StreamOptions) => RunStream<K>, from: RunState<K>): Promise<void> {
    this.close();
    this.#reading = new AbortController();
    const { signal } = this.#reading;
    const stream = open({
      signal,
      onReconnect: () => this.#show({ status: 'reconnecting' }),
      onConnect: () => this.#show({ status: 'running' }),
    });
    this.#stream = stream;
    if (from !== this.#next) this.#text = new Text();
    this.#next = from;
    const ids = () => ({ runId: stream.runId, sessionId: stream.sessionId });
    this.#show({ ...ids(), status: 'running', run: undefined, error: undefined });
    const events = [...from.events];
    const text = this.#text;
    try {
      for await (const event of stream) {
        // it may have been read just before another run was shown
        signal.throwIfAborted();
        events.push(event);
        if (event.run_id === stream.runId) text.add(event);
        this.#show({ ...ids(), status: 'running', events, text: text.value });
      }
      const run = await stream.result();
      signal.throwIfAborted();
      this.#show({ ...ids(), run, status: run.status.toLowerCase() }, 0);
    } catch (error) {
      if (!signal.aborted) this.#show({ error, status: 'failed' }, 0);
    }
  }

  #show(change: Partial<RunState<K>>, afterMs = frameMs): void {
    this.#next = { ...this.#next, ...change };
    if (afterMs === 0) clearTimeout(this.#timer);
    else if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#publish();
      for (const listener of this.#listeners) listener();
    }, afterMs);
  }

  #publish(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#state = { ...this.#next, events: [...this.#next.events] };
  }
}

function idle<K extends Kind>(): RunState<K> {
  return {
    status: 'idle',
    runId: undefined,
    sessionId: undefined,
    events: [],
    text: '',
    run: undefined,
    error: undefined,
  };
}

/** The texts of the events. What a model call said that is repeated counts once. */
class Text {
  value = '';
  /** How long it was when the last model call ended. */
  #kept = 0;

  add(event: { readonly event: string; readonly content?: unknown; readonly rebuilt?: true }): void {
    const name = event.event.replace(/^Team/, '');
    if (name === 'ModelRequestCompleted') this.#kept = this.value.length;
    if (name === 'RunStarted') this.value = this.value.slice(0, this.#kept);
    if (name !== 'RunContent' || typeof event.content !== 'string') return;
    this.value = event.rebuilt ? event.content : this.value + event.content;
  }
}
