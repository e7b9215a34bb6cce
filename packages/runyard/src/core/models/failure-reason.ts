/** Why a model call failed, as a fall-back can be chosen by it. */
export const failureReasons = [
  /** The provider counts too many requests or tokens, or the account has no credit left. */
  'rate_limit',
  /** The conversation is longer than what the model can read. */
  'context_overflow',
  /** The model answered, and stopped for a reason that its agent counts as a failure. */
  'stopped',
  /** Anything else: no connection, a time-out, an overload, a wrong key, an answer that cannot be read. */
  'error',
] as const;

export type FailureReason = (typeof failureReasons)[number];

/** What a provider says about a failure. */
export interface FailureClues {
  readonly status?: number | undefined;
  /** Codes, types and states of the error in the provider's own words. */
  readonly names: readonly string[];
  readonly message: string;
}

const rateLimitNames =
  /rate_?limit|insufficient_quota|quota_exceeded|resource_?exhausted|too_?many_?requests|throttl/i;
const overflowNames =
  /context_(length|window)|exceed_context_size|request_too_large|string_above_max_length/i;

/** Most providers have no code for a prompt that is too long: they say so in words. */
const overflowTexts = [
  // Anthropic, Fireworks; Amazon Bedrock
  /prompt is too long|input is too long/i,
  // OpenAI; DeepSeek, OpenRouter, vLLM, Mistral; xAI
  /exceeds? (the|this) (model's )?(maximum )?context|maximum (context|prompt) length/i,
  // Anthropic, with the tokens of the answer; Google
  /exceeds? context limit|input token count .*exceeds the maximum/i,
  // Groq, Cerebras; OpenAI with an older model
  /reduce the length of (the|your) (messages|prompt|input)/i,
  // llama.cpp; LM Studio; Ollama
  /exceeds the available context|greater than the context length|context (length|window|size) exceeded/i,
  // Cohere; MiniMax; Together
  /too many tokens: |context window exceeds|tokens \+ `?max_new_tokens`? must be/i,
];

/** The reason for which a provider refused a call. */
export function reasonOfRefusal({ status, names, message }: FailureClues): FailureReason {
  const isNamed = (by: RegExp) => names.some((name) => by.test(name));
  if (isNamed(overflowNames)) return 'context_overflow';
  // some refuse one long request with 413 because of the tokens per minute
  if (status === 429 || isNamed(rateLimitNames)) return 'rate_limit';
  if (status === 413) return 'context_overflow';
  const isClientFault = status === undefined || (status >= 400 && status < 500);
  return isClientFault && overflowTexts.some((text) => text.test(message)) ? 'context_overflow' : 'error';
}
