import { FairQueue, type InLine } from '../../collections/fair-queue.js';
import { levelOf, type Priority, priorities } from '../../runs/leases/priority.js';
import type { Timers } from '../../timers.js';
import type { Usage } from '../message.js';
import type { Model } from '../model.js';
import { ModelError } from '../model-error.js';
import type { ModelRate, ModelRates, ModelTurns } from './model-turns.js';

/** How long a model rests after its provider said that there were too many calls, but not for how long. */
const firstRestMs = 1_000;
/** The longest rest: a provider that asks for more has failed, and calls find that out. */
const longestRestMs = 60_000;
/** What a call is taken to use until one has ended, in tokens. */
const firstGuess = 1_000;
/** For how long the tokens of one call can delay the next ones. */
const longestDebtMinutes = 60;
/** How much the last call changes what the next one is taken to use. */
const newestPart = 0.2;
/** So many models are known: other processes may name any. */
const mostModels = 1_000;

type CalledModel = Pick<Model, 'id' | 'provider'>;

interface Waiter extends InLine {
  /** Lets the call begin, which is taken to use so many tokens. */
  enter(tokens: number): void;
}

/** What is known of a model that has a rate. */
interface Paced {
  readonly line: FairQueue<Waiter>;
  /** By the monotonic clock of the process. */
  restsUntil: number;
  /** How often in a row its provider said that there were too many calls. */
  refusals: number;
  tokensOfCall: number;
  isGivingTurns: boolean;
}

/** What a call is made for: in the line of its model, users and components have turns. */
export interface Calling extends Pick<InLine, 'userId' | 'component'> {
  readonly priority?: Priority | undefined;
}

/** A turn that a call has taken. */
export interface ModelTurn {
  /** The call has ended, with what it used; undefined when that is not known. */
  ended(usage: Usage | undefined): void;
}

/**
 * Paces the calls of models: each waits for its turn by the rate of its model, and while the model rests because its
 * provider refused a call as one too many. Those that wait have a fair order, as runs that wait for a slot.
 */
export class ModelPace {
  private readonly models = new Map<string, Paced>();

  constructor(
    private readonly rates: ModelRates,
    private readonly turns: ModelTurns,
    private readonly timers: Timers,
  ) {
    turns.onRest((model, ms) => {
      if (this.models.has(model) || this.models.size < mostModels) this.restOf(model, ms);
    });
  }

  /** Whether calls of the model wait for their turns: those of a model without a rate are made at once. */
  paces(model: CalledModel): boolean {
    return this.rateOf(model) !== undefined;
  }

  /** Waits for the turn of a call. Rejects when the signal aborts first. */
  async enter(calling: Calling, model: CalledModel, signal: AbortSignal): Promise<ModelTurn> {
    signal.throwIfAborted();
    const paced = this.pacedOf(keyOf(model));
    const { userId, component, priority } = calling;
    const whose = { userId, component };
    const now = this.timers.now();
    const guessed = await new Promise<number>((resolve, reject) => {
      const level = levelOf(priority);
      const waiter: Waiter = { ...whose, level, since: now, order: now, enter: (tokens) => enter(tokens) };
      const giveUp = () => {
        paced.line.delete(waiter);
        reject(signal.reason);
      };
      const enter = (tokens: number) => {
        signal.removeEventListener('abort', giveUp);
        resolve(tokens);
      };
      paced.line.add(waiter);
      signal.addEventListener('abort', giveUp, { once: true });
      void this.giveTurns(model, paced);
    });
    return {
      ended: (usage) => {
        paced.line.ended(whose);
        if (usage !== undefined) this.used(model, paced, usage.totalTokens, guessed);
      },
    };
  }

  /** How long the model still rests. */
  restMs(model: CalledModel): number {
    return this.restLeft(keyOf(model));
  }

  /** A call failed. When its provider said that there were too many, all calls of the model wait. */
  failed(model: CalledModel, error: unknown): void {
    if (!(error instanceof ModelError) || error.reason !== 'rate_limit' || !this.paces(model)) return;
    const paced = this.pacedOf(keyOf(model));
    // those that were on their way say the same again
    if (this.restLeft(keyOf(model)) > 0 && error.retryAfterMs === undefined) return;
    const ms = Math.min(error.retryAfterMs ?? firstRestMs * 2 ** paced.refusals, longestRestMs);
    paced.refusals += 1;
    this.restOf(keyOf(model), ms);
    this.turns.announceRest(keyOf(model), ms);
  }

  private used(model: CalledModel, paced: Paced, tokens: number, guessed: number): void {
    paced.refusals = 0;
    const rate = this.rateOf(model);
    // what a provider reports is bounded: an absurd number would stop the model for good
    const used = Math.min(Math.max(tokens, 0), longestDebtMinutes * (rate?.tokensPerMinute ?? tokens));
    paced.tokensOfCall += (used - paced.tokensOfCall) * newestPart;
    if (rate !== undefined && used !== guessed) this.turns.correct(keyOf(model), rate, used - guessed);
  }

  /** Lets in those who wait, one after the other, each when it may. */
  private async giveTurns(model: CalledModel, paced: Paced): Promise<void> {
    if (paced.isGivingTurns) return;
    paced.isGivingTurns = true;
    const key = keyOf(model);
    const rate = this.rateOf(model);
    try {
      while (paced.line.size > 0) {
        const guessed = Math.round(paced.tokensOfCall);
        const rest = this.restLeft(key);
        const wait = rest > 0 ? rest : rate === undefined ? 0 : await this.turns.take(key, rate, guessed);
        if (wait > 0) {
          // a clock of Redis that was set back must not hold a model for hours: it is asked again
          await this.pass(Math.min(wait, longestRestMs));
          continue;
        }
        const next = paced.line.take(this.timers.now());
        if (next !== undefined) next.enter(guessed);
        // all have given up in the meantime
        else if (rate !== undefined) this.turns.correct(key, rate, -guessed);
      }
    } finally {
      paced.isGivingTurns = false;
    }
  }

  private pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.timers.after(Math.ceil(ms), resolve));
  }

  private restOf(model: string, ms: number): void {
    const paced = this.pacedOf(model);
    paced.restsUntil = Math.max(paced.restsUntil, this.timers.elapsed() + Math.min(ms, longestRestMs));
  }

  private restLeft(model: string): number {
    return Math.max(0, (this.models.get(model)?.restsUntil ?? 0) - this.timers.elapsed());
  }

  private rateOf({ id }: CalledModel): ModelRate | undefined {
    const name = Object.hasOwn(this.rates, id) ? id : 'default';
    return Object.hasOwn(this.rates, name) ? this.rates[name] : undefined;
  }

  private pacedOf(model: string): Paced {
    const paced = this.models.get(model) ?? {
      line: new FairQueue<Waiter>(priorities.length - 1),
      restsUntil: 0,
      refusals: 0,
      tokensOfCall: firstGuess,
      isGivingTurns: false,
    };
    this.models.set(model, paced);
    return paced;
  }
}

/** Two providers may call different models the same. */
function keyOf({ id, provider }: CalledModel): string {
  return `${provider}/${id}`;
}
