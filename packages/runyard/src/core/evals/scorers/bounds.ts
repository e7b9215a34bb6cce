import { checkOptions } from '../../options/check-options.js';
import { amount, count, milliseconds, name, objectOf, required } from '../../options/kinds.js';
import type { Score, Scorer } from '../scorer.js';

/** It has no score: of these numbers the smaller one is better. */
function within(value: number, most: number, unit: string): Score {
  const passed = value <= most;
  const reason = `${value} ${unit} are more than ${most}.`;
  return { score: null, passed, ...(!passed && { reason }), details: { value, most } };
}

export interface MaxCostOptions {
  /** Default `max_cost`. */
  readonly name?: string;
  /** US dollars for one run. */
  readonly usd: number;
}

const maxCostOptions = objectOf<MaxCostOptions>({
  name,
  usd: required(amount('US dollars, 0 or more', (value) => value >= 0)),
});

/** A run costs no more than this. Fails for a model whose price is not known: nothing would be checked. */
export function maxCost(options: MaxCostOptions): Scorer {
  checkOptions('maxCost()', options, maxCostOptions);
  const { name: called = 'max_cost', usd } = options;
  return {
    name: called,
    score({ run: { usage } }) {
      if (usage.cost === null)
        throw new Error(
          'the price of a model that the run used is not known. Set it in `prices` of the service.',
        );
      return within(usage.cost, usd, 'US dollars');
    },
  };
}

export interface MaxLatencyOptions {
  /** Default `max_latency`. */
  readonly name?: string;
  /** Milliseconds for the execution of one run. */
  readonly ms: number;
}

const maxLatencyOptions = objectOf<MaxLatencyOptions>({ name, ms: required(milliseconds(0)) });

/** A run takes no longer than this. */
export function maxLatency(options: MaxLatencyOptions): Scorer {
  checkOptions('maxLatency()', options, maxLatencyOptions);
  const { name: called = 'max_latency', ms } = options;
  return { name: called, score: ({ run }) => within(run.durationMs, ms, 'ms') };
}

export interface MaxTokensOptions {
  /** Default `max_tokens`. */
  readonly name?: string;
  /** Input and output tokens of one run, with those of its members and steps. */
  readonly tokens: number;
}

const maxTokensOptions = objectOf<MaxTokensOptions>({ name, tokens: required(count(0)) });

/** A run uses no more tokens than this. */
export function maxTokens(options: MaxTokensOptions): Scorer {
  checkOptions('maxTokens()', options, maxTokensOptions);
  const { name: called = 'max_tokens', tokens } = options;
  return { name: called, score: ({ run: { usage } }) => within(usage.totalTokens, tokens, 'tokens') };
}
