import type { WebSocket } from 'ws';
import { errors } from '../../core/errors/errors.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { EventReader } from '../../platform/http/response/event-reader.js';
import type { StoppedRun } from './authenticate.js';
import { Delivery } from './delivery.js';
import type { SendQueue } from './send-queue.js';
import type { EventFormat } from './server-frame.js';

/** A run that a client follows, and who may. */
export interface FollowedRun {
  readonly runId: string;
  readonly isVisibleTo: (caller: Caller) => boolean;
}

/** How many runs one connection may follow at a time. */
const maxFollowed = 100;

/** The runs that one connection follows. */
export class Deliveries {
  readonly #open = new Map<string, { readonly run: FollowedRun; readonly delivery: Delivery }>();

  constructor(
    private readonly socket: WebSocket,
    private readonly sendQueue: SendQueue,
    private readonly onFailure: (error: unknown, runId: string) => void,
  ) {}

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  assertRoom(runId?: string): void {
    if (this.#open.size < maxFollowed || (runId !== undefined && this.#open.has(runId))) return;
    throw errors.tooManyFollowed(maxFollowed);
  }

  start(run: FollowedRun, reader: EventReader, format: EventFormat, sent: number): void {
    const { runId } = run;
    this.stop(runId);
    const delivery = new Delivery(reader, format, this.sendQueue, sent);
    this.#open.set(runId, { run, delivery });
    if (this.socket.readyState !== this.socket.OPEN) delivery.stop();
    const ended = () => {
      if (this.#open.get(runId)?.delivery === delivery) this.#open.delete(runId);
    };
    delivery.run().then(ended, (error: unknown) => {
      ended();
      if (this.socket.readyState === this.socket.OPEN) this.onFailure(error, runId);
    });
  }

  /** Answers with the index of the last event that was sent; -1 when the run was not followed. */
  stop(runId: string): number {
    const { delivery } = this.#open.get(runId) ?? {};
    delivery?.stop();
    this.#open.delete(runId);
    return delivery?.lastIndex ?? -1;
  }

  /** Answers with how far each one had come. */
  stopAll(): StoppedRun[] {
    return [...this.#open.keys()].map((runId) => ({ run_id: runId, last_event_index: this.stop(runId) }));
  }

  /** Those that a caller may not see. */
  hiddenFrom(caller: Caller): string[] {
    return [...this.#open.values()].filter(({ run }) => !run.isVisibleTo(caller)).map(({ run }) => run.runId);
  }
}
