import type { JsonObject } from '../json.js';
import type { Message } from '../models/message.js';
import type { RunContext } from '../runs/context.js';
import type { AgentDefinition } from './definition.js';
import type { OutputShape } from './output-format.js';

/** Everything that the turns of one execution share. */
export interface AgentExecution {
  readonly agent: AgentDefinition;
  readonly context: RunContext;
  /** What the model is shown; grows with each turn. */
  readonly messages: Message[];
  readonly output: OutputShape | null;
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
}
