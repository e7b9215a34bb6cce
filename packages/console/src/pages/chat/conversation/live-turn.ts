import type { Kind, Kinds, RunStream, Runs, StreamOptions } from '@runyard/client';
import { RunFold } from '../run/run-fold.js';
import type { RunView } from '../run/run-view.js';
import type { Phase, Turn } from './turn.js';

/** What reads a run: how to open its stream. */
export type Open = (options: StreamOptions) => RunStream<Kind>;

export interface LiveTurnSite {
  readonly runs: Runs<Kind>;
  readonly componentId: string;
  readonly kind: Kind;
  readonly name: string;
  /** Something about the turn has changed. */
  changed(): void;
  /** The run was stored, has ended, or has paused. `isOwn`: this tab sent the request that made it do so. */
  reached(turn: LiveTurn, isOwn: boolean): void;
}

interface Reading {
  /** The events begin with the first of the run. */
  readonly isWhole?: boolean;
  /** Another tab or client may have sent the request that started or continued the run. */
  readonly isForeign?: boolean;
  /** There may be nothing to read: what is shown stays until an event comes. */
  readonly isQuiet?: boolean;
}

/** A turn whose run may be read: it follows the events until the run rests, and can be continued after that. */
export class LiveTurn {
  readonly #site: LiveTurnSite;
  #turn: Turn;
  #fold: RunFold | undefined;
  #stream: RunStream<Kind> | undefined;
  #reading: AbortController | undefined;
  #isViewOld = false;

  constructor(site: LiveTurnSite, turn: Turn) {
    this.#site = site;
    this.#turn = turn;
  }

  turn(): Turn {
    if (this.#isViewOld && this.#fold) {
      this.#turn = { ...this.#turn, view: this.#fold.view() };
      this.#isViewOld = false;
    }
    return this.#turn;
  }

  get runId(): string {
    return this.#turn.view.runId;
  }

  get isReading(): boolean {
    return this.#reading !== undefined;
  }

  change(change: Partial<Turn>): void {
    this.#turn = { ...this.turn(), ...change };
    this.#site.changed();
  }

  /** Reads from the first event on. */
  follow(reading: Reading = {}): Promise<void> {
    return this.read((options) => this.#site.runs.follow(this.#site.componentId, this.runId, options), {
      isForeign: true,
      ...reading,
      isWhole: true,
    });
  }

  /** Reads what came after the last event that is known. */
  catchUp(reading: Reading = {}): Promise<void> {
    const lastEventIndex = this.#stream?.lastEventIndex;
    if (this.#fold === undefined || lastEventIndex === undefined) return this.follow(reading);
    return this.read(
      (options) => this.#site.runs.follow(this.#site.componentId, this.runId, { ...options, lastEventIndex }),
      { isForeign: true, isQuiet: !this.#fold.isRunning(), ...reading },
    );
  }

  /** Shows the run as the service has stored it. The events that were read are part of that. */
  restore(view: RunView): void {
    this.#fold = undefined;
    this.#stream = undefined;
    this.change({ view, phase: 'settled', error: undefined });
  }

  /** Continues the run: with answers, or after a failure. */
  async continue(answers: Kinds[Kind]['answers']): Promise<void> {
    // the answer continues what is shown, so all that happened before must be known
    if (this.#stream === undefined) await this.follow();
    const stream = this.#stream;
    if (stream === undefined) return;
    try {
      await this.read((options) => stream.continue(answers, options));
    } catch (error) {
      // what was answered is still shown, and can be sent again
      if (this.#turn.phase === 'failed') this.change({ phase: 'settled', error: undefined });
      this.#stream = stream;
      throw error;
    }
  }

  async cancel(): Promise<void> {
    await this.#site.runs.cancel(this.#site.componentId, this.runId);
    // a stream that waits for the service has not heard of it
    if (!this.isReading) await this.catchUp({ isForeign: false });
  }

  close(): void {
    this.#reading?.abort();
    this.#reading = undefined;
  }

  /** Rejects if the request was refused; a stream that breaks later is shown with the turn. */
  async read(
    open: Open,
    { isWhole = false, isForeign = false, isQuiet = false }: Reading = {},
  ): Promise<void> {
    this.close();
    const reading = new AbortController();
    this.#reading = reading;
    const { signal } = reading;
    let began = false;
    const onReconnect = () => {
      if (began || !isQuiet) this.#show('reconnecting');
    };
    const stream = open({ signal, onReconnect });
    this.#stream = stream;
    const begin = () => {
      if (began) return;
      began = true;
      this.#begin(stream, isWhole);
      this.#site.reached(this, !isForeign);
    };
    if (!isQuiet) this.change({ phase: 'sending', error: undefined, sent: undefined });
    try {
      for await (const event of stream) {
        begin();
        this.#fold?.add(event);
        if (this.#turn.phase !== 'live') this.#show('live');
      }
      if (!isQuiet) begin();
      if (this.#fold?.isRunning()) await this.#askStatus(stream);
      this.#done(reading, 'settled');
      if (began) this.#site.reached(this, !isForeign);
    } catch (error) {
      if (signal.aborted) return;
      if (isQuiet && !began) this.close();
      else this.#done(reading, began ? 'settled' : 'failed', error);
      throw error;
    }
  }

  /** The stream has begun: the service has stored the run, and the id of a copy is known. */
  #begin(stream: RunStream<Kind>, isWhole: boolean): void {
    const { kind, name } = this.#site;
    if (this.#fold === undefined || isWhole || this.#fold.runId !== stream.runId)
      this.#fold = new RunFold(stream.runId, kind, name, () => {
        this.#isViewOld = true;
        this.#site.changed();
      });
    this.#isViewOld = true;
    this.change({ phase: 'live', error: undefined });
  }

  /** The stream ended without an event that says how the run did. */
  async #askStatus(stream: RunStream<Kind>): Promise<void> {
    const { status } = await stream.result();
    this.#fold?.end(status.toLowerCase());
  }

  #show(phase: Phase): void {
    this.change({ phase });
  }

  #done(reading: AbortController, phase: Phase, error?: unknown): void {
    if (this.#reading === reading) this.#reading = undefined;
    this.change({ phase, error });
  }
}
