import type { Json, JsonObject } from '../json.js';
import type { Role } from '../models/message.js';
import type { FinishReason } from '../models/model.js';
import type { ModelCall } from '../runs/run-usage.js';

/**
 * What the steps of an agent's run hold. Only what is new: the messages that a model call saw are rebuilt from
 * the steps before it. This is stored data: a change of these shapes needs a migration.
 */

/** step `context`: what the model was given before the first call, beside the input itself. */
export type ContextRecord = {
  system: string | null;
  user: string;
  /** Messages of the agent's own that stand before the conversation. */
  additional?: { role: Role; content: string }[];
  /** Runs of the session whose messages were shown. */
  history: string[];
};

/** input of the steps `model:<turn>`: how the model is called. Left out when that is as it was in the call before. */
export type ModelCallRecord = {
  /** The adapter of the model. */
  adapter: string;
  stream?: true;
  /** The names of the tools that it may call. */
  tools?: string[];
  /** What the model was set up with: `temperature` … */
  parameters?: JsonObject;
};

/** steps `model:<turn>` */
export type ModelRecord = {
  content: string;
  reasoning?: string;
  toolCalls?: { id: string; name: string; arguments: string; client?: 'execution' | 'confirmation' }[];
  finishReason: FinishReason;
  finishMessage?: string;
  /** `Citations` */
  citations?: Json;
  usage: ModelCall['usage'];
  /** `Media[]` that the model made. */
  media?: Json;
  /** Seconds until the first piece came. */
  timeToFirstToken: number;
  providerData?: JsonObject;
  /** Who answered, when the agent's own model failed: its place among the fall-back models. */
  fallback?: number;
  model?: { id: string; provider: string };
};

/** A tool call that the model asked for. */
export type RequestedCall = NonNullable<ModelRecord['toolCalls']>[number];

/** auxiliary steps: a model call that is no part of the conversation */
export type AuxiliaryRecord = ModelRecord & {
  /** What the call was for, as the wire's metrics name it. */
  role: AuxiliaryRole;
  model: { id: string; provider: string };
  /** Set for a call that failed and that the run did without. */
  failure?: string;
};

export type AuxiliaryRole =
  /** The agent's own model, asked to repair an answer. */
  | 'model'
  | 'memory_model'
  | 'learning_model'
  | 'session_summary_model'
  | 'parser_model'
  | 'output_model'
  | 'followup_model'
  | 'reasoning_model'
  | 'compression_model'
  /** The agent's own model, asked by a tool. */
  | 'sampling_model'
  | 'guardrail_model';

/** steps `tool:<turn>:<position>`; the arguments as the model wrote them are in the model's step */
export type ToolRecord = {
  callId: string;
  content: string;
  error: boolean;
  /** The arguments as the tool took them; null when they could not be understood. */
  args: JsonObject | null;
  /** False for a call that reached no tool: the model is told, the caller sees no tool execution. */
  listed: boolean;
  /** Nothing was executed here: the content is the answer of a person or an external system. */
  answered?: boolean;
  /** `Media[]` */
  media?: Json;
  stop?: boolean;
  showResult?: boolean;
};

/** steps `pre-hook:<position>` and `post-hook:<position>` */
export type HookRecord =
  | { outcome: 'passed' }
  /** What the hook made of the input or the content. */
  | { outcome: 'changed'; content: Json }
  | { outcome: 'refused'; message: string; trigger: string; additionalData?: Json }
  | { outcome: 'crashed'; message: string };

/** step `answer`: what stands in the conversation instead of the last model call's own text. */
export type AnswerRecord = {
  /** Null when a post-hook refused it: nobody is to read it. */
  text: string | null;
};

/** steps `memory:changes`: what became of what the memory model asked for. The texts are in the model's step. */
export type MemoryRecord = { changes: ChangeRecord[] } | { failure: string };

export type ChangeRecord = { kind: 'add' | 'update' | 'delete' | 'clear'; memoryId?: string };
