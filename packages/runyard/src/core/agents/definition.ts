import type { JsonObject } from '../json.js';
import type { Model } from '../models/model.js';
import type { Tool } from '../tools/tool.js';

export interface AgentSettings {
  /** The identifier in URLs; made from the name when left out. */
  readonly id?: string;
  readonly name?: string;
  /** A model object, or a name such as `offline`, `openai:gpt-5-mini`, `ollama:llama3`. */
  readonly model: Model | string;
  readonly description?: string;
  readonly role?: string;
  /** `{key}` is filled from session state, dependencies, metadata and `user_id`. */
  readonly instructions?: string | readonly string[];
  readonly expectedOutput?: string;
  readonly additionalContext?: string;
  /** Asks the model for Markdown. */
  readonly markdown?: boolean;
  readonly tools?: readonly Tool[];
  /** How many tool calls one run may make; a call beyond it is refused with a word to the model. */
  readonly toolCallLimit?: number;
  /** Shows the model earlier runs of the session. */
  readonly addHistoryToContext?: boolean;
  readonly numHistoryRuns?: number;
  /** What the state of a new session begins with. */
  readonly sessionState?: JsonObject;
  readonly addSessionStateToContext?: boolean;
  readonly dependencies?: JsonObject;
  readonly addDependenciesToContext?: boolean;
  readonly metadata?: JsonObject;
  /** The id of the registered database that holds its sessions; the service's own when left out. */
  readonly database?: string;
}

/** What the execution of an agent needs to know of it. */
export interface AgentDefinition {
  readonly id: string;
  readonly name: string;
  readonly settings: AgentSettings;
  readonly model: Model;
  readonly tools: ReadonlyMap<string, Tool>;
}
