import type { JsonObject } from '../json.js';
import type { Media } from '../media/media.js';

export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** A call that the model asks for. `arguments` is the JSON text as the model wrote it, well-formed or not. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /**
   * Set for a call of one of the provider's own tools that the client has to answer. `execution`: a tool of that name
   * executes it; without one, the run pauses for the result. `confirmation`: the provider executes it, and the run pauses
   * for a yes or no.
   */
  readonly client?: 'execution' | 'confirmation';
}

/** One message of a conversation, the same for every provider. */
export interface Message {
  readonly id: string;
  readonly role: Role;
  readonly content: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly fromHistory?: boolean;
  readonly reasoningContent?: string;
  /** tool: the short form that later model calls were shown */
  readonly compressedContent?: string;
  /** assistant: what it asks for */
  readonly toolCalls?: readonly ToolCall[];
  /** tool: what it answers */
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly toolArgs?: JsonObject;
  readonly toolCallError?: boolean;
  readonly media?: readonly Media[];
  /** user: what was found in knowledge for it and is part of its content, in the words of the wire */
  readonly references?: JsonObject;
  /** What the provider needs to see again (signatures, ids), untouched. */
  readonly providerData?: JsonObject;
  readonly usage?: Usage;
}

/** Tokens of one model call. Each token is counted once: cached and reasoning tokens are parts of the totals. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  readonly audioInputTokens?: number;
  readonly audioOutputTokens?: number;
}
