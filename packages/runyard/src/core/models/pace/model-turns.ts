import { type Allowance, perMinute, type TakenUntil, takenAfter, waitFor } from '../../allowance.js';

/** How often a model may be called. */
export interface ModelRate {
  readonly requestsPerMinute?: number | undefined;
  /** Of the prompt and the answer. */
  readonly tokensPerMinute?: number | undefined;
}

/** By the id of the model; `default` for all that are not named. */
export type ModelRates = Readonly<Record<string, ModelRate>>;

/** Counts the calls of models, in this process or over all of them. It neither throws nor rejects. */
export interface ModelTurns {
  /** Takes a turn for a call that will use about so many tokens: 0, or after how many milliseconds to ask again. */
  take(model: string, rate: ModelRate, tokens: number): number | Promise<number>;
  /** A call used so many tokens more than was said, or fewer. */
  correct(model: string, rate: ModelRate, tokens: number): void;
  /** No process is to call the model for so long. */
  announceRest(model: string, ms: number): void;
  /** Calls the listener when another process announces that. */
  onRest(listener: (model: string, ms: number) => void): void;
}

/** The parts of a rate, each with its name and with how much of it one call takes. */
export function allowancesOf(
  { requestsPerMinute, tokensPerMinute }: ModelRate,
  tokens: number,
): { readonly name: string; readonly allowance: Allowance; readonly amount: number }[] {
  return [
    ...(requestsPerMinute === undefined
      ? []
      : [{ name: 'requests', allowance: perMinute(requestsPerMinute), amount: 1 }]),
    ...(tokensPerMinute === undefined
      ? []
      : [{ name: 'tokens', allowance: perMinute(tokensPerMinute), amount: tokens }]),
  ];
}

/** The turns of one process that shares them with no other. */
export class OwnModelTurns implements ModelTurns {
  private readonly taken = new Map<string, TakenUntil>();

  constructor(private readonly now: () => number) {}

  take(model: string, rate: ModelRate, tokens: number): number {
    const now = this.now();
    const parts = allowancesOf(rate, tokens);
    const wait = Math.max(
      ...parts.map(({ name, allowance, amount }) =>
        waitFor(allowance, this.taken.get(`${name} ${model}`) ?? 0, amount, now),
      ),
      0,
    );
    if (wait > 0) return wait;
    for (const { name, allowance, amount } of parts) this.add(`${name} ${model}`, allowance, amount, now);
    return 0;
  }

  correct(model: string, rate: ModelRate, tokens: number): void {
    const [part] = allowancesOf({ tokensPerMinute: rate.tokensPerMinute }, tokens);
    if (part !== undefined) this.add(`tokens ${model}`, part.allowance, tokens, this.now());
  }

  announceRest(): void {}

  onRest(): void {}

  private add(key: string, allowance: Allowance, amount: number, now: number): void {
    this.taken.set(key, takenAfter(allowance, this.taken.get(key) ?? 0, amount, now));
  }
}
