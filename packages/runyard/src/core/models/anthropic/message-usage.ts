import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { forEachName } from '../../objects.js';
import type { Usage } from '../message.js';
import { count, usageOf } from '../provider/answer/usage.js';

const names = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'thinking_tokens',
] as const;
type Counts = Record<(typeof names)[number], number>;

const none: Counts = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  thinking_tokens: 0,
};

/** The tokens of an answer, which may be several messages. */
export class MessageUsage {
  #before: Counts = none;
  #counts: Counts = none;

  /** Begins the counts of a message that follows others. */
  follow(before: MessageUsage): void {
    this.#before = before.#sum();
    this.#counts = none;
  }

  /**
   * Counts of a message are cumulative; proxies exist that send some only at the beginning and others only at the end.
   * The counts of the message leave out what a compaction took: then the sum of `iterations` is what was used.
   */
  add(usage: Json | undefined): void {
    if (!isJsonObject(usage)) return;
    const details = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
    const whole: JsonObject = { ...usage, thinking_tokens: details.thinking_tokens ?? 0 };
    const iterations = Array.isArray(usage.iterations) ? usage.iterations.filter(isJsonObject) : [];
    this.#counts = each((name) => {
      const parts = iterations.flatMap((iteration) => iteration[name] ?? []);
      const sum = parts.reduce((total: number, part) => total + count(part), 0);
      return Math.max(parts.length > 0 ? sum : this.#counts[name], count(whole[name]));
    });
  }

  get total(): Usage {
    const sum = this.#sum();
    const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = sum;
    return usageOf({
      // Anthropic counts cached tokens beside the input, not in it.
      inputTokens: sum.input_tokens + read + written,
      outputTokens: sum.output_tokens,
      cacheReadTokens: read,
      cacheWriteTokens: written,
      reasoningTokens: sum.thinking_tokens,
    });
  }

  #sum(): Counts {
    return each((name) => this.#before[name] + this.#counts[name]);
  }
}

function each(value: (name: keyof Counts) => number): Counts {
  return forEachName(names, value);
}
