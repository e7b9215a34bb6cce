import type { JsonObject } from '../json.js';
import type { Media, MediaContents } from '../media/media.js';
import type { Citations } from './citations.js';
import type { Message, ToolCall, Usage } from './message.js';

/** What a tool looks like to a model. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Whether the provider is asked to hold the arguments to the schema to the letter, where it can. */
  readonly strict?: boolean;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** The shape the answer must have. */
export interface OutputFormat {
  readonly name: string;
  readonly schema: JsonObject;
  /** Whether the provider may be asked to enforce the schema to the letter. */
  readonly strict: boolean;
}

export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly toolChoice?: ToolChoice;
  readonly output?: OutputFormat;
  /** For this call, over those of the model, by the provider's names: `temperature` … */
  readonly parameters?: JsonObject;
  /** Where the bytes of the messages' media are. */
  readonly media: MediaContents;
}

/**
 * Why a model stopped. `refusal`: the model itself declined; `content_filter`: the provider withheld or cut the answer.
 */
export type FinishReason = (typeof finishReasons)[number];

export const finishReasons = ['stop', 'tool_calls', 'length', 'content_filter', 'refusal', 'other'] as const;

export interface ModelResponse {
  readonly content: string;
  readonly reasoningContent?: string;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage;
  readonly finishReason: FinishReason;
  /** The provider's explanation of the reason, or its own word for one that is `other`. */
  readonly finishMessage?: string;
  /** The sources that the answer cites. */
  readonly citations?: Citations;
  /** Pictures and sounds that the model made. Their bytes are stored already. */
  readonly media?: readonly Media[];
  /** What the provider returned beside the answer (its own ids, signatures). */
  readonly providerData?: JsonObject;
  /** Set for an answer that was given before: no provider was called for it. */
  readonly cached?: boolean;
}

/** How an answer ended, and what it rests on. */
export type AnswerEnding = Pick<ModelResponse, 'finishReason' | 'finishMessage' | 'citations'>;

/** A stream is text and reasoning deltas, then exactly one `response` with the whole. */
export type ModelChunk =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'response'; readonly response: ModelResponse };

export interface ModelCapabilities {
  /** `native`: the provider enforces a JSON schema; `prompted`: the schema has to be asked for in words. */
  readonly structuredOutput: 'native' | 'prompted';
  readonly tools: boolean;
  /** Whether the model thinks by itself before it answers, as it is configured. */
  readonly reasoning?: boolean;
}

export interface ModelCallOptions {
  /** Aborting it closes the connection to the provider. */
  readonly signal: AbortSignal;
  /** An adapter that tries again by itself calls it with each failure before that. It must not throw. */
  readonly failedTry?: (error: unknown) => void;
}

export interface Model {
  /** The provider's name for the model, e.g. `gpt-5-mini`. */
  readonly id: string;
  /** Who serves it, e.g. `OpenAI`. */
  readonly provider: string;
  /** The adapter, e.g. `OpenAICompatible`. */
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  /** What it was set up with, by the provider's names: `temperature` … Shown in traces. */
  readonly parameters?: JsonObject;
  generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse>;
  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelChunk>;
}
