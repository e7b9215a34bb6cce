import { backOffMs } from '../../core/async/back-off.js';
import { PollLoop } from '../../core/async/poll-loop.js';
import { isReported as isKnownFault } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { Log } from '../../core/log.js';
import type { EndedRun, Run } from '../../core/runs/run.js';
import type { Timers } from '../../core/timers.js';
import type { PushConfig, PushSender, RestingRun } from './push-config.js';
import type { Delivered } from './send.js';
import { isReported, type PushOutcome, type PushStore, restOf } from './store.js';

export interface DatabasePushesOptions {
  readonly store: PushStore;
  /** A stored run with its steps. */
  readonly load: (runId: string) => Promise<RestingRun | undefined>;
  /** The interfaces of this process that write to clients, by where they are mounted. Empty: nothing is sent here. */
  readonly senders: ReadonlyMap<string, PushSender>;
  readonly timers: Timers;
  readonly log: Log;
}

/** How many notifications are sent at once. Slow receivers wait for each other, and for nobody else. */
const sentAtOnce = 8;
/** How many runs that came to rest are looked up together, and how many wait for that in memory. */
const notedTogether = 100;
const mostWaiting = 10_000;
/** Beside what a receiver may take: for building the notification and noting how it went. */
const leaseMarginMs = 20_000;
/** How long to wait for the next look when nothing is due; another process may have left something. */
const longestWaitMs = 15_000;
const longestRetryMs = 3_600_000;
/** How often to look at all runs, for what a process could not note before it ended. */
const lookMs = 300_000;
/** How long the config of a run that does not exist is kept, and one that nothing is sent to. */
const goneMs = 3_600_000;
const unusedMs = 30 * 86_400_000;
const removedAtOnce = 500;

/**
 * Delivers notifications of the runs of one database. What is to be sent is not kept anywhere: it follows from the stored
 * run and from what was last reported of it. So a notification survives every crash, and of several rests of a run that
 * follow each other closely the last one is reported.
 */
export class DatabasePushes {
  readonly #options: DatabasePushesOptions;
  readonly #stopping = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  #rested: string[] = [];
  #noting: Promise<void> | undefined;
  readonly #poll: PollLoop;
  #stopTimer = () => {};

  constructor(options: DatabasePushesOptions) {
    this.#options = options;
    const { timers } = options;
    this.#poll = new PollLoop({ timers, look: () => this.#look(), leastWaitMs: 50 });
  }

  /** Called for each run that pauses or ends here: it only remembers which. */
  rested({ run }: Pick<EndedRun, 'run'>): void {
    if (this.#options.senders.size === 0 || run.parentRunId !== null || !isReported(run)) return;
    // what is beyond the bound is found by the next look at all runs
    if (this.#rested.length >= mostWaiting || this.#stopping.signal.aborted) return;
    this.#rested.push(run.runId);
    this.#noting ??= this.#note().finally(() => {
      this.#noting = undefined;
    });
  }

  start(): void {
    const { senders, timers } = this.#options;
    if (senders.size === 0) {
      // what was registered while notifications were on holds secrets
      this.#stopTimer = timers.every(lookMs, () => void this.#quietly(() => this.#removeOld()));
      return;
    }
    this.#poll.start();
    this.#stopTimer = timers.every(lookMs, () => void this.#lookAtAll());
    // what a start does first must not wait for it
    timers.soon(() => void this.#lookAtAll());
  }

  /** Gives up what is being sent, for another process to send. */
  async stop(): Promise<void> {
    this.#stopTimer();
    const looked = this.#poll.stop();
    this.#stopping.abort();
    await Promise.all([this.#noting, looked]);
    await Promise.all(this.#sending);
  }

  /** A client has registered an address for a run, which may rest already. */
  async registered(runId: string): Promise<void> {
    if (await this.#options.store.open([runId])) this.#poll.look();
  }

  async #note(): Promise<void> {
    // the turn in which a run ends is the run's
    await new Promise<void>((resolve) => this.#options.timers.soon(resolve));
    while (this.#rested.length > 0) {
      const some = this.#rested.splice(0, notedTogether);
      await this.#quietly(async () => {
        if (await this.#options.store.open(some)) this.#poll.look();
      });
    }
  }

  async #lookAtAll(): Promise<void> {
    await this.#quietly(async () => {
      await this.#options.store.openAll();
      await this.#removeOld();
    });
    this.#poll.look();
  }

  async #removeOld(): Promise<void> {
    const { store } = this.#options;
    while (!this.#stopping.signal.aborted)
      if ((await store.removeOld(goneMs, unusedMs, removedAtOnce)) < removedAtOnce) return;
  }

  async #look(): Promise<number> {
    const { senders, store } = this.#options;
    let waitMs = longestWaitMs;
    await this.#quietly(async () => {
      for (const [mount, sender] of senders) {
        await this.#sendDue(mount, sender);
        // the end of one of them causes another look
        if (this.#sending.size >= sentAtOnce) return;
        waitMs = Math.min(waitMs, (await store.dueInMs(mount)) ?? longestWaitMs);
      }
    });
    return waitMs;
  }

  async #sendDue(mount: string, sender: PushSender): Promise<void> {
    const leaseMs = sender.timeoutMs + leaseMarginMs;
    while (this.#poll.isStarted) {
      const free = sentAtOnce - this.#sending.size;
      // the end of one causes another look
      if (free <= 0) return;
      const leaseId = newId();
      const claimed = await this.#options.store.claim(mount, leaseId, leaseMs, free);
      for (const config of claimed) {
        const sent = this.#quietly(() => this.#attempt(config, sender, leaseId)).finally(() => {
          this.#sending.delete(sent);
          this.#poll.look();
        });
        this.#sending.add(sent);
      }
      if (claimed.length < free) return;
    }
  }

  async #attempt(config: PushConfig, sender: PushSender, leaseId: string): Promise<void> {
    const { store, load } = this.#options;
    const resting = await load(config.runId);
    // of a run that continues, or was deleted, there is nothing to say
    let outcome: PushOutcome = { state: 'waiting', error: null };
    if (resting !== undefined && isReported(resting.run)) {
      const result = await this.#send(config, resting, sender);
      if (this.#stopping.signal.aborted && !result.ok) return store.release(config, leaseId);
      outcome = outcomeOf(result, config, resting.run, sender);
    }
    if (!(await store.settle(config, leaseId, outcome))) return;
    this.#report(config, outcome);
    // it may have come to rest since it was loaded
    await store.open([config.runId]);
  }

  async #send(config: PushConfig, resting: RestingRun, sender: PushSender): Promise<Delivered> {
    // an attempt counts from its beginning: this one was begun before, and its process did not survive it
    if (config.delivery.attempts > sender.maxAttempts)
      return {
        ok: false,
        reason: 'The processes that sent the notification ended before the receiver answered.',
      };
    try {
      const message = await sender.message(config, resting);
      // a service that notifies nobody never loads it
      const { deliver } = await import('./send.js');
      const { allowedHosts, timeoutMs } = sender;
      return await deliver(config.url, message, { allowedHosts, timeoutMs, signal: this.#stopping.signal });
    } catch (error) {
      this.#options.log.error({ ...facts(config), err: error }, 'a push notification could not be built');
      return { ok: false, reason: 'The notification could not be built.' };
    }
  }

  #report(config: PushConfig, { state, error }: PushOutcome): void {
    const { log } = this.#options;
    if (state === 'failed')
      log.warn({ ...facts(config), reason: error }, 'a push notification was given up; it was not delivered');
    else if (state === 'delivered') log.debug(facts(config), 'a push notification was delivered');
    else if (state === 'pending')
      log.debug({ ...facts(config), reason: error }, 'a push notification failed; trying again later');
  }

  /** A failure of the database loses nothing: the next look finds what was not done. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isKnownFault(error) && !this.#stopping.signal.aborted)
        this.#options.log.warn(
          { err: error },
          'push notifications could not be delivered; trying again later',
        );
    }
  }
}

function outcomeOf(result: Delivered, config: PushConfig, run: Run, sender: PushSender): PushOutcome {
  if (result.ok) return { state: 'delivered', reported: restOf(run), error: null };
  const { attempts } = config.delivery;
  if (result.final || attempts >= sender.maxAttempts)
    return { state: 'failed', reported: restOf(run), error: result.reason };
  const waitMs = backOffMs({ delayMs: sender.retryMs, maximumMs: longestRetryMs }, attempts - 1);
  const retryInMs = Math.min(Math.max(waitMs, result.retryAfterMs ?? 0), longestRetryMs);
  return { state: 'pending', error: result.reason, retryInMs };
}

/** Of the address only its host: the rest may be a secret. */
function facts({ runId, configId, url, delivery }: PushConfig) {
  return {
    run_id: runId,
    push_config: configId,
    host: URL.canParse(url) ? new URL(url).host : null,
    attempts: delivery.attempts,
  };
}
