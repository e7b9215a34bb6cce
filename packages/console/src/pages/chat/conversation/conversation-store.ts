import {
  ConflictError,
  type Kind,
  type Kinds,
  NotFoundError,
  type Runs,
  type RunyardClient,
} from '@runyard/client';
import { asksSame } from '../pause/requirement.js';
import { type Fields, isActive, type RunView } from '../run/run-view.js';
import { type StoredRun, storedRuns } from '../run/stored-run.js';
import { type EarlierAnswers, newestAnswers } from './answers.js';
import { Frames } from './frames.js';
import { LiveTurn } from './live-turn.js';
import { newId } from './new-id.js';
import { SessionChannel } from './session-channel.js';
import { type Input, isWorking, type Turn } from './turn.js';

export interface ConversationPlace {
  readonly client: RunyardClient;
  readonly kind: Kind;
  readonly componentId: string;
  /** Of the component, and of its members. They may be known later. */
  nameOf(id: string): string;
  /** Of the component; services with several databases need it. */
  readonly dbId: string | undefined;
  readonly sessionId: string;
  /** Whether the session begins with the first message. */
  readonly isNew: boolean;
  /** A run was stored, has ended or paused: lists of sessions have changed. */
  onActivity(): void;
}

export interface ConversationState {
  readonly turns: readonly Turn[];
  readonly earlier: EarlierAnswers;
  /** Of what the service has stored: `partial` while there is more before the first turn. */
  readonly history: 'loading' | 'partial' | 'whole' | 'failed';
  readonly historyError: unknown;
}

/** What a person sends. */
export interface Outgoing {
  readonly message: string | Fields;
  readonly files: readonly File[];
  /** Further fields of the request. */
  readonly options: Partial<Kinds[Kind]['input']>;
  /** Called when the service has stored the message. */
  onStored?(): void;
}

const pageSize = 20;
const syncedRuns = 5;
const syncMs = 5_000;

/** A conversation: the turns of a session, those included that other tabs and clients add. */
export class ConversationStore {
  readonly #place: ConversationPlace;
  readonly #runs: Runs<Kind>;
  readonly #frames = new Frames(() => this.#emit());
  readonly #listeners = new Set<() => void>();
  readonly #channel: SessionChannel;
  readonly #closed = new AbortController();
  readonly #onStored = new Map<LiveTurn, () => void>();
  #turns: LiveTurn[] = [];
  #state: ConversationState;
  #pages = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(place: ConversationPlace) {
    this.#place = place;
    this.#runs = place.client[`${place.kind}s`];
    this.#state = {
      turns: [],
      earlier: new Map(),
      history: place.isNew ? 'whole' : 'loading',
      historyError: undefined,
    };
    this.#channel = new SessionChannel(place.sessionId, () => void this.#sync());
  }

  get sessionId(): string {
    return this.#place.sessionId;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): ConversationState => this.#state;

  /** Loads what there is and follows it. Returns when the newest turns are there. */
  async open(): Promise<void> {
    this.#channel.open();
    this.#timer ??= setInterval(() => {
      if (!document.hidden) void this.#sync();
    }, syncMs);
    if (this.#state.history === 'loading' || this.#state.history === 'failed') await this.loadOlder();
  }

  /** Stops reading. The runs continue. */
  close(): void {
    this.#closed.abort();
    this.#channel.close();
    clearInterval(this.#timer);
    this.#frames.close();
    for (const turn of this.#turns) turn.close();
  }

  /** Loads the page of turns before those that are shown. */
  async loadOlder(): Promise<void> {
    if (this.#state.history === 'whole') return;
    try {
      const { runs, isLast } = await this.#load(this.#pages + 1, pageSize);
      this.#pages += 1;
      const known = this.#runIds();
      const older = runs.filter(({ view }) => !known.has(view.runId)).map((run) => this.#restored(run));
      this.#turns = [...older.reverse(), ...this.#turns];
      this.#change({ history: isLast ? 'whole' : 'partial', historyError: undefined });
      for (const turn of older) this.#resume(turn);
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      // it was deleted, or its first message did not arrive: the next message begins it
      const isAbsent = error instanceof NotFoundError && this.#pages === 0;
      this.#change({ history: isAbsent ? 'whole' : 'failed', historyError: error });
    }
  }

  /** Adds a turn. The promise is rejected if the service did not take it; the turn then shows why. */
  async send(outgoing: Outgoing): Promise<void> {
    const { message, files, options } = outgoing;
    const input: Input = { message, files, createdAt: new Date().toISOString() };
    const turn = new LiveTurn(this.#site(), this.#newTurn(newId(), input));
    this.#turns = [...this.#turns, turn];
    await this.#start(turn, outgoing, { message, ...options });
  }

  /** Sends the message of a failed turn again. */
  async resend(key: string, outgoing: Outgoing): Promise<void> {
    const turn = this.#byKey(key);
    if (turn === undefined) return;
    const { message, options } = outgoing;
    try {
      await this.#start(turn, outgoing, { message, ...options });
    } catch (error) {
      // the request before this one did arrive
      if (!(error instanceof ConflictError)) throw error;
      await turn.follow();
    }
  }

  remove(key: string): void {
    const turn = this.#byKey(key);
    turn?.close();
    this.#turns = this.#turns.filter((one) => one !== turn);
    this.#frames.request();
  }

  /** Reads a run again whose connection was given up. */
  async follow(key: string): Promise<void> {
    await this.#byKey(key)?.catchUp();
  }

  /** Continues a paused run with answers, or tries a failed one again. */
  async continue(key: string, answers: Kinds[Kind]['answers']): Promise<void> {
    const turn = this.#byKey(key);
    if (turn === undefined) return;
    try {
      await turn.continue(answers);
    } catch (error) {
      // another tab was faster
      if (!(error instanceof ConflictError)) throw error;
      await turn.catchUp();
    }
  }

  /** Answers again. The new answer takes the place of the old one. */
  async regenerate(key: string): Promise<void> {
    const old = this.#byKey(key);
    if (old === undefined) return;
    const { view, input } = old.turn();
    const turn = new LiveTurn(this.#site(), {
      ...this.#newTurn(newId(), input),
      regeneratedFrom: view.runId,
    });
    this.#turns = [...this.#turns, turn];
    try {
      const { componentId } = this.#place;
      await turn.read((options) =>
        this.#runs.continueStream(componentId, view.runId, { regenerate: true }, options),
      );
    } catch (error) {
      if (turn.turn().phase === 'failed') this.remove(turn.turn().key);
      throw error;
    }
  }

  /** Ends the runs that are in progress. */
  async stop(): Promise<void> {
    const working = this.#turns.filter((turn) => isWorking(turn.turn()));
    await Promise.all(working.map((turn) => turn.cancel()));
  }

  async cancel(key: string): Promise<void> {
    await this.#byKey(key)?.cancel();
  }

  async #start(turn: LiveTurn, outgoing: Outgoing, input: Kinds[Kind]['input']): Promise<void> {
    const { files, onStored } = outgoing;
    if (onStored) this.#onStored.set(turn, onStored);
    const { componentId, sessionId } = this.#place;
    const body = {
      ...input,
      session_id: sessionId,
      run_id: turn.runId,
      ...(files.length > 0 && { files: [...files] }),
    };
    await turn.read((options) =>
      this.#runs.stream(componentId, body, {
        ...options,
        ...(files.length > 0 && {
          onUploadProgress: ({ loaded, total }) => turn.change({ sent: total > 0 ? loaded / total : 1 }),
        }),
      }),
    );
  }

  #site() {
    const { kind, componentId } = this.#place;
    return {
      ...{ runs: this.#runs, kind, componentId, name: this.#name() },
      changed: () => this.#frames.request(),
      reached: (turn: LiveTurn, isOwn: boolean) => {
        this.#onStored.get(turn)?.();
        this.#onStored.delete(turn);
        // tabs that announced what they only read would answer one another without end
        if (isOwn) this.#channel.tell();
        this.#place.onActivity();
      },
    };
  }

  #newTurn(runId: string, input: Input): Turn {
    const { kind } = this.#place;
    const view: RunView = { runId, kind, name: this.#name(), status: 'pending', parts: [] };
    return { key: runId, view, input, phase: 'sending' };
  }

  #restored({ view, input, inputMedia, createdAt, regeneratedFrom }: StoredRun): LiveTurn {
    return new LiveTurn(this.#site(), {
      key: view.runId,
      view,
      input: { message: messageOf(input), files: [], media: inputMedia, createdAt },
      phase: 'settled',
      regeneratedFrom,
    });
  }

  /** A run that is in progress is read from its first event: all of it is shown as if it had been watched. */
  #resume(turn: LiveTurn): void {
    const { status } = turn.turn().view;
    if (isActive(status) || status === 'paused') turn.follow().catch(() => undefined);
  }

  /** Other tabs and clients add turns, answer questions and end runs. */
  async #sync(): Promise<void> {
    if (this.#pages === 0 && this.#turns.length === 0) return;
    const before = new Map(this.#turns.map((turn) => [turn, turn.turn()]));
    const found = await this.#load(1, syncedRuns).catch(() => undefined);
    if (found === undefined || this.#closed.signal.aborted) return;
    const byId = new Map(this.#turns.map((turn) => [turn.runId, turn]));
    // the id of a new answer is known when its stream begins
    const sending = this.#turns.map((turn) => turn.turn()).filter(({ phase }) => phase === 'sending');
    const beingMade = new Set<string | undefined>(
      sending.flatMap(({ regeneratedFrom = [] }) => regeneratedFrom),
    );
    for (const run of found.runs.toReversed()) {
      const turn = byId.get(run.view.runId);
      if (turn === undefined && beingMade.has(run.regeneratedFrom)) continue;
      if (turn === undefined) {
        const added = this.#restored(run);
        this.#turns = [...this.#turns, added];
        this.#resume(added);
        // what was read while the list was on its way is newer than the list
      } else if (!turn.isReading && turn.turn() === before.get(turn)) this.#compare(turn, run);
    }
    this.#frames.request();
  }

  #compare(turn: LiveTurn, { view }: StoredRun): void {
    const shown = turn.turn().view;
    const isSame = shown.status === view.status;
    // another client continued it, its stream broke, or the list is a moment old: what is shown stays until that is known
    if (isActive(view.status) || (isSame && view.status === 'paused' && !asksSame(shown.pause, view.pause)))
      turn.catchUp({ isQuiet: true }).catch(() => undefined);
    // its last events were not read here
    else if (!isSame) turn.restore(view);
  }

  async #load(page: number, limit: number): Promise<{ runs: StoredRun[]; isLast: boolean }> {
    const { client, sessionId, dbId } = this.#place;
    const listed = await client.sessions.getRuns(
      sessionId,
      { limit, page, sort_order: 'desc', include_events: false, ...(dbId && { db_id: dbId }) },
      { signal: this.#closed.signal },
    );
    const runs = storedRuns(listed, (id) => this.#place.nameOf(id));
    return { runs, isLast: runs.length < limit };
  }

  #name(): string {
    return this.#place.nameOf(this.#place.componentId);
  }

  #runIds(): ReadonlySet<string> {
    return new Set(this.#turns.map(({ runId }) => runId));
  }

  #byKey(key: string): LiveTurn | undefined {
    return this.#turns.find((turn) => turn.turn().key === key);
  }

  #change(change: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...change };
    this.#frames.request();
  }

  #emit(): void {
    const all = this.#turns.map((turn) => turn.turn());
    this.#state = { ...this.#state, ...newestAnswers(all, this.#state.earlier) };
    for (const listener of this.#listeners) listener();
  }
}

/** The list gives objects as JSON. */
function messageOf(text: string): Input['message'] {
  if (!text.startsWith('{')) return text;
  try {
    // it is an object if it is valid: it begins as one
    return JSON.parse(text) as Fields;
  } catch {
    return text;
  }
}
