import { backOffMs } from '../../core/async/back-off.js';
import { PollLoop } from '../../core/async/poll-loop.js';
import { isReported as isKnownFault } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { Log } from '../../core/log.js';
import type { Timers } from '../../core/timers.js';
import type { SlackStore, StoredDelivery } from './store.js';
import type { SlackLane } from './tables.js';

/**
 * How an attempt ended. `retry`: it is to be repeated; the reason holds no secrets. `unreachable`: Slack could not be
 * reached, which says nothing about the delivery.
 */
export type DeliveryOutcome =
  | { readonly kind: 'done'; readonly note?: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly unreachable?: boolean };

/** A delivery while this process works on it. */
export interface HeldDelivery extends StoredDelivery {
  /** Aborts when the process stops or another one has the delivery. */
  readonly signal: AbortSignal;
  /** There will be no further attempt. */
  readonly isLast: boolean;
  /** Both reject when another process has the delivery. */
  save(progress: string): Promise<void>;
  assign(runId: string, threadKey: string, place: string): Promise<void>;
}

/** How an interface processes what it received. It may be called again for the same delivery, in any process. */
export type DeliveryHandler = (delivery: HeldDelivery) => Promise<DeliveryOutcome>;

export interface DeliveriesOptions {
  readonly store: SlackStore;
  /** By where they are mounted. Empty: nothing is processed here. */
  readonly handlers: ReadonlyMap<string, DeliveryHandler>;
  readonly timers: Timers;
  readonly log: Log;
}

/** How many answers a process writes at once, and how many buttons and commands it handles beside them. */
const atOnce: Readonly<Record<SlackLane, number>> = { work: 200, control: 100 };
const claimedAtOnce = 20;
const leaseMs = 30_000;
/** How long to wait for the next look when nothing is due; another process may have left something. */
const longestWaitMs = 5_000;
const mostAttempts = 10;
const retryMs = { delayMs: 1_000, maximumMs: 300_000 };
/** How long a delivery waits until Slack can be reached. Its answer is of no use after that. */
const reachableWithinMs = 86_400_000;
/** Slack repeats a delivery for a day at most. */
const keptMs = 3 * 86_400_000;
const removeEveryMs = 600_000;
/** How long to keep what is known of a run that does not exist, and of one that nobody has answered. */
const goneMs = 3_600_000;
const unusedMs = 180 * 86_400_000;
const removedAtOnce = 500;

interface Work {
  readonly delivery: StoredDelivery;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** Another process has the delivery, or this one has to stop. */
class DeliveryLost extends Error {}

/**
 * Processes what Slack delivered. The rows are the queue: a process holds a lease on each that it works on, and what a
 * process leaves behind is taken by another one when the lease ends.
 */
export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #works = new Map<string, Work>();
  readonly #poll: PollLoop;
  #stopTimers: readonly (() => void)[] = [];

  constructor(options: DeliveriesOptions) {
    this.#options = options;
    const { timers } = options;
    this.#poll = new PollLoop({ timers, look: () => this.#look(), leastWaitMs: 250 });
  }

  start(): void {
    const { handlers, timers } = this.#options;
    if (handlers.size === 0 || this.#poll.isStarted) return;
    this.#poll.start();
    this.#stopTimers = [
      timers.every(leaseMs / 3, () => void this.#quietly(() => this.#renew())),
      timers.every(removeEveryMs, () => void this.#quietly(() => this.#removeOld())),
    ];
    // what a start does first must not wait for it
    timers.soon(() => this.look());
  }

  /** Takes nothing more, and gives back what is not done in time, for another process. */
  async stop(graceMs: number): Promise<void> {
    const looked = this.#poll.stop();
    const { timers } = this.#options;
    const all = Promise.all([looked, ...[...this.#works.values()].map(({ ended }) => ended)]);
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = timers.after(graceMs, resolve);
    });
    await Promise.race([all, late]);
    cancel();
    for (const stop of this.#stopTimers) stop();
    for (const { stop } of this.#works.values()) stop.abort(new DeliveryLost('The process stops.'));
    await Promise.all([looked, ...[...this.#works.values()].map(({ ended }) => ended)]);
  }

  /** Takes what is due. */
  look(): void {
    this.#poll.look();
  }

  async #look(): Promise<number> {
    let waitMs = longestWaitMs;
    await this.#quietly(async () => {
      for (const [mount, handler] of this.#options.handlers) {
        for (const lane of ['control', 'work'] as const) await this.#take(mount, lane, handler);
        waitMs = Math.min(waitMs, (await this.#options.store.dueInMs(mount)) ?? longestWaitMs);
      }
    });
    return waitMs;
  }

  async #take(mount: string, lane: SlackLane, handler: DeliveryHandler): Promise<void> {
    while (this.#poll.isStarted) {
      const busy = [...this.#works.values()].filter(({ delivery }) => delivery.lane === lane).length;
      const free = Math.min(atOnce[lane] - busy, claimedAtOnce);
      if (free <= 0) return;
      const claimed = await this.#options.store.claim(mount, lane, newId(), leaseMs, free);
      for (const delivery of claimed) this.#begin(delivery, handler);
      if (claimed.length < free) return;
    }
  }

  #begin(delivery: StoredDelivery, handler: DeliveryHandler): void {
    const key = `${delivery.mount}\n${delivery.deliveryId}`;
    const stop = new AbortController();
    const ended = this.#quietly(() => this.#process(delivery, handler, stop.signal)).finally(() => {
      if (this.#works.get(key)?.stop === stop) this.#works.delete(key);
      this.look();
    });
    // a lease that ended while the database could not be reached
    this.#works.get(key)?.stop.abort(new DeliveryLost('The lease ended.'));
    this.#works.set(key, { delivery, stop, ended });
  }

  async #process(delivery: StoredDelivery, handler: DeliveryHandler, signal: AbortSignal): Promise<void> {
    const { store, log } = this.#options;
    const facts = { mount: delivery.mount, delivery: delivery.deliveryId, run_id: delivery.runId };
    const isLast = delivery.attempts >= mostAttempts;
    // the process ended in each attempt: one more could end it again
    if (delivery.attempts > mostAttempts) {
      log.warn(facts, 'a delivery of Slack was given up: no attempt came to its end');
      return void (await store.finish(delivery, 'No attempt came to its end.'));
    }
    let outcome: DeliveryOutcome;
    try {
      outcome = await handler(this.#held(delivery, isLast, signal));
    } catch (error) {
      if (signal.aborted || error instanceof DeliveryLost) return store.release(delivery);
      log.error({ ...facts, err: error }, 'a delivery of Slack could not be processed');
      outcome = { kind: 'retry', reason: 'An error of the service: see its log.' };
    }
    if (signal.aborted && outcome.kind === 'retry') return store.release(delivery);
    if (outcome.kind === 'done') {
      const { note = null } = outcome;
      if (note !== null) log.warn({ ...facts, note }, 'a delivery of Slack was not answered');
      return void (await store.finish(delivery, note));
    }
    const { reason, unreachable = false } = outcome;
    if (unreachable && delivery.ageMs < reachableWithinMs) {
      // the longer it has waited, the rarer it is attempted
      const { delayMs, maximumMs } = retryMs;
      const inMs = Math.min(maximumMs, Math.max(delayMs, delivery.ageMs / 4));
      return void (await store.defer(delivery, Math.round(inMs), reason));
    }
    if (isLast || unreachable) {
      log.warn({ ...facts, reason }, 'a delivery of Slack was given up');
      return void (await store.finish(delivery, reason));
    }
    await store.retry(delivery, backOffMs(retryMs, delivery.attempts - 1), reason);
  }

  #held(delivery: StoredDelivery, isLast: boolean, signal: AbortSignal): HeldDelivery {
    const { store } = this.#options;
    const sure = async (work: () => Promise<boolean>) => {
      if (signal.aborted || !(await work())) throw new DeliveryLost('Another process has the delivery.');
    };
    return {
      ...delivery,
      signal,
      isLast,
      save: (progress) => sure(() => store.save(delivery, progress)),
      assign: (runId, threadKey, place) => sure(() => store.assign(delivery, runId, threadKey, place)),
    };
  }

  async #renew(): Promise<void> {
    const works = [...this.#works.values()];
    const leases = [...new Set(works.map(({ delivery }) => delivery.leaseId))];
    if (leases.length === 0) return;
    const held = await this.#options.store.renew(leases, leaseMs);
    for (const { delivery, stop } of works)
      if (!held.has(delivery.leaseId)) stop.abort(new DeliveryLost('The lease ended.'));
  }

  async #removeOld(): Promise<void> {
    const { store } = this.#options;
    while (this.#poll.isStarted) if ((await store.removeOld(keptMs, removedAtOnce)) < removedAtOnce) break;
    while (this.#poll.isStarted)
      if ((await store.removeOldRuns(goneMs, unusedMs, removedAtOnce)) < removedAtOnce) break;
  }

  /** A failure of the database loses nothing: the next look finds what was not done. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isKnownFault(error) && this.#poll.isStarted)
        this.#options.log.warn(
          { err: error },
          'deliveries of Slack could not be processed; trying again later',
        );
    }
  }
}
