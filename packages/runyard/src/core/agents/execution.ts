import type { Json, JsonObject } from '../json.js';
import type { Message } from '../models/message.js';
import type { Model } from '../models/model.js';
import type { RunContext } from '../runs/context.js';
import type { Tool } from '../tools/tool.js';
import type { AgentDefinition } from './definition.js';
import type { OutputShape } from './output-format.js';

/** Everything that the stages of one execution share. */
export interface AgentExecution {
  readonly agent: AgentDefinition;
  readonly context: RunContext;
  /** The model that is called; another one after a fall-back. */
  model: Model;
  /** What the user said, as the hooks left it. */
  readonly input: { content: string };
  readonly tools: ReadonlyMap<string, Tool>;
  /** What the model is shown; grows with each turn. */
  readonly messages: Message[];
  readonly output: OutputShape | null;
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
  /** Further fields of the run body in wire form (`followups`, `reasoning_steps` …). */
  readonly extra: Record<string, Json>;
}
