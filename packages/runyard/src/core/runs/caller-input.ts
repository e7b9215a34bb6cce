import type { JsonObject } from '../json.js';
import type { ToolChoice } from '../models/model.js';

/**
 * What the clients of some protocols bring along for one run of an agent or a team, beside the message: tools that they
 * execute themselves, and a conversation that they keep themselves. It is stored with the run.
 */
export interface CallerInput {
  readonly tools?: readonly CallerTool[];
  /** What the first request to the model asks for; later requests leave the choice to the model. */
  readonly toolChoice?: ToolChoice;
  readonly conversation?: CallerConversation;
  /**
   * Where the message was written, as the interface knows it. It is added to the instructions as it is, and is no part
   * of what the user said. A component that another service executes does without it.
   */
  readonly origin?: string;
  /**
   * The client shows the session as one conversation: the model sees its earlier runs unless the component sets
   * `addHistoryToContext` to false, and many of them unless it sets `numHistoryRuns`.
   */
  readonly isChat?: true;
}

/** A tool of the caller: the model may call it, and the run pauses until the caller sends the result. */
export interface CallerTool {
  readonly name: string;
  readonly description?: string;
  /** The JSON schema of its arguments. */
  readonly inputSchema: JsonObject;
  readonly strict?: boolean;
}

export interface CallerConversation {
  /** Added to the instructions of the component, as they are: `{key}` is not filled in. */
  readonly instructions?: string;
  /** What was said before the message, in the place of the session's history. Left out: the history counts. */
  readonly messages?: readonly CallerMessage[];
}

export type CallerMessage =
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly CallerToolCall[] }
  | { readonly role: 'tool'; readonly content: string; readonly toolCallId: string };

export interface CallerToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}
