import type { Json, JsonObject } from '../json.js';
import type { Message } from '../models/message.js';
import type { Model, ToolChoice } from '../models/model.js';
import type { RunContext } from '../runs/context.js';
import type { Tool } from '../tools/tool.js';
import type { OutputShape } from './answer/output-format.js';
import type { AgentDefinition } from './definition.js';
import type { SaidInput } from './hooks/said-texts.js';
import type { PastTurns } from './turns/past-turns.js';
import type { RememberedResults } from './turns/remembered-results.js';

/**
 * The work of a stage; undefined where the run has nothing to wait for. An async function that returns at once costs
 * half a kilobyte, and most stages of most runs have nothing to do.
 */
export type StageWork<T = void> = Promise<T> | undefined;

/** Who keeps in mind what the user says, beside the conversation. */
export interface UserListener {
  /** Begins to look at it. The prefix is what the keys of its steps begin with. */
  receive(message: string, prefix?: string): void;
  /** Waits until all is remembered, and emits an event about it. */
  completed(): StageWork;
  /** Waits for what has begun. It never throws: the run ends as it ends. */
  settled(): StageWork;
}

/** What one model call is given, where model hooks changed it. */
export interface GivenCall {
  readonly messages: readonly Message[];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly toolChoice?: ToolChoice;
  readonly parameters?: JsonObject;
  /** Left out: the model of the execution. */
  readonly model?: Model;
}

/** Everything that the stages of one execution share. */
export interface AgentExecution {
  readonly agent: AgentDefinition;
  readonly context: RunContext;
  /** The model that is called; another one after a fall-back. */
  model: Model;
  /** Its place among the agent's fall-back models; null for the agent's own model. */
  fallback: number | null;
  /** What the user said, as the hooks left it. */
  readonly input: SaidInput;
  readonly tools: ReadonlyMap<string, Tool>;
  /** What the tools add to the system message. */
  readonly toolInstructions: readonly string[];
  /** What the model is shown; grows with each turn. */
  messages: Message[];
  /** What the main model is asked for; null for plain text, also when another model is to give it its shape. */
  readonly output: OutputShape | null;
  /** What the content of the run has to fit; null for plain text. */
  readonly contentShape: OutputShape | null;
  /** What the last model call was given, where hooks changed it; null where they did not. */
  given: GivenCall | null;
  readonly soFar: PastTurns;
  /** Null until a turn has made tool calls whose results may be shortened. */
  results: RememberedResults | null;
  readonly remembering: UserListener;
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
  /** Further fields of the run body in wire form (`followups`, `reasoning_steps` …); null while there are none. */
  extra: Readonly<Record<string, Json>> | null;
}

export function addExtra(execution: AgentExecution, name: string, value: Json): void {
  execution.extra = { ...execution.extra, [name]: value };
}
