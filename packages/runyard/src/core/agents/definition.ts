import type { JsonObject } from '../json.js';
import type { ResponseCaching } from '../models/cache/response-cache.js';
import type { Message } from '../models/message.js';
import type { Model, ToolChoice } from '../models/model.js';
import type { UnfinishedReason } from '../models/model-stopped.js';
import type { ModelLike } from '../models/resolve.js';
import type { RunContext } from '../runs/context.js';
import type { Priority } from '../runs/leases/priority.js';
import type { RunLimits } from '../runs/limits/run-limits.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import type { ToolHook } from '../tools/call/tool-hooks.js';
import type { Tool } from '../tools/tool.js';
import type { ToolEntry } from '../tools/toolkit.js';
import type { Answer } from './answer/answer-record.js';
import type { TextTransform } from './answer/text-transform.js';
import type { DependencyValue, InstructionsFunction, OfRun } from './context/run-values.js';
import type { PostHook, PreHook } from './hooks/hook.js';
import type { ModelHook } from './hooks/model-hook.js';
import type { ModelRecord } from './journal-records.js';
import type { KnowledgeUse } from './knowledge/knowledge-use.js';
import type { LearningSettings } from './learning/learning-settings.js';
import type { SemanticRecallSettings } from './recall/recall-settings.js';
import type { Fallback, FallbackListener } from './turns/fallback.js';
import type { WorkingMemorySettings } from './working-memory/working-memory-settings.js';

/** How an agent is defined. Everything is optional but the model, which a member of a team takes from its team. */
export interface AgentSettings<
  Output extends ValueSchema = ValueSchema,
  Input extends ValueSchema = ValueSchema,
> extends KnowledgeUse {
  /** The identifier in URLs; made from the name when left out. */
  readonly id?: string;
  readonly name?: string;
  /**
   * A model object, or a name such as `offline`, `openai:gpt-5-mini`, `ollama:llama3`. A member of a team that has none
   * takes that of the team. As a function, it is called for each run.
   */
  readonly model?: OfRun<ModelLike>;

  // what the model is given
  readonly description?: string;
  readonly role?: string;
  /** `{key}` is filled from session state, dependencies, metadata and `user_id`. */
  readonly instructions?: string | readonly string[] | InstructionsFunction;
  readonly expectedOutput?: string;
  readonly additionalContext?: string;
  /** Messages that stand before the conversation, as examples of it. */
  readonly additionalInput?: readonly Pick<Message, 'role' | 'content'>[];
  /** Asks the model for Markdown. */
  readonly markdown?: boolean;
  readonly addNameToContext?: boolean;
  readonly addDatetimeToContext?: boolean;
  /** The time zone of that date, e.g. `Europe/Paris`; UTC when left out. */
  readonly timezone?: string;
  /** Shows the model the media of messages and of tool results. Default true. */
  readonly sendMediaToModel?: boolean;
  /**
   * Keeps the arguments and results of tool calls after a run has ended. False: they are removed with the end of the
   * run. Default true.
   */
  readonly storeToolMessages?: boolean;
  /**
   * Keeps the media that a run was given or made after it has ended. False: their bytes are removed soon after the end
   * of the run, and what the run shows of them is their names and types. Default true.
   */
  readonly storeMedia?: boolean;
  /** Stored as the first run of a new session. */
  readonly introduction?: string;

  // tools
  /** Tools, kits of them, and sources that are asked for each run; or a function that returns them for a run. */
  readonly tools?: OfRun<readonly ToolEntry[]>;
  readonly toolChoice?: ToolChoice;
  /** Called around every tool call, outside of the tool's own hooks. */
  readonly toolHooks?: readonly ToolHook[];
  /** How many tool calls one run may make; a call beyond it is refused with a message to the model. */
  readonly toolCallLimit?: number;

  /** How much a run may do before it ends with the error `limit_exceeded`: `{ turns: 50, cost: 2 }`. */
  readonly limits?: OfRun<RunLimits>;
  /** How urgent its runs are while they wait for a free slot: `low`, `normal` (the default) or `high`. */
  readonly priority?: Priority;

  // sessions
  /** Shows the model earlier runs of the session. */
  readonly addHistoryToContext?: boolean;
  readonly numHistoryRuns?: number;
  /** Whose runs those are: its own (`own`, the default), or those of all agents and teams of the `session`. */
  readonly historyFrom?: 'own' | 'session';
  /** How many messages of them at the most. */
  readonly numHistoryMessages?: number;
  /** How many tool calls of them at the most, the newest. */
  readonly maxToolCallsFromHistory?: number;
  /** Gives the model a tool to read earlier runs of the session. */
  readonly readChatHistory?: boolean;
  /** Gives the model a tool to read earlier tool calls of the session. */
  readonly readToolCallHistory?: boolean;
  /** Gives the model tools to search and read other sessions of the same user. */
  readonly searchPastSessions?: boolean;
  readonly numPastSessionsToSearch?: number;
  readonly numPastSessionRunsInSearch?: number;
  /** Shows the model earlier exchanges that are about what the user says, found by their meaning. */
  readonly semanticRecall?: boolean | SemanticRecallSettings;
  /** What the state of a new session begins with. */
  readonly sessionState?: JsonObject;
  readonly addSessionStateToContext?: boolean;
  /** Gives the model a tool to change the session state. */
  readonly agenticState?: boolean;
  /** Keeps a summary of each session, brought up to date at the end of each run. */
  readonly enableSessionSummaries?: boolean;
  readonly sessionSummaryModel?: ModelLike;
  /** What that model is asked for, instead of the built-in text. */
  readonly sessionSummaryPrompt?: string;
  /** Shows the model that summary; on when summaries are kept. */
  readonly addSessionSummaryToContext?: boolean;

  // what is remembered about the user, over all sessions
  /** A model looks at what the user says and keeps what is worth remembering: one more model call in each run. */
  readonly updateMemoryOnRun?: boolean;
  /** Gives the model tools to remember, change, forget and look up what it knows of the user. */
  readonly agenticMemory?: boolean;
  /** Shows the model what is remembered; on when one of the two above is. */
  readonly addMemoriesToContext?: boolean;
  /** How many memories it is shown, the newest first. Default 30. */
  readonly numMemoriesInContext?: number;
  readonly memoryModel?: ModelLike;
  /** What is worth remembering, in words for the memory model. */
  readonly memoryInstructions?: string;
  /** Lets the models forget all that is remembered about the user at once. */
  readonly allowClearMemories?: boolean;

  /** Fields that the agent fills in and keeps up to date, in a session or for a user. */
  readonly workingMemory?: WorkingMemorySettings;

  /** Keeps structured records of what it learns, about the user and about other things. */
  readonly learning?: boolean | LearningSettings;

  // values for the run
  /** Values, or functions that are called for each run. */
  readonly dependencies?: Readonly<Record<string, DependencyValue>>;
  readonly addDependenciesToContext?: boolean;
  readonly metadata?: JsonObject;

  // the shape of what goes in and comes out
  readonly inputSchema?: Input;
  readonly outputSchema?: Output;
  /** Turns the answer into the shape of the schema, when the main model is not to. */
  readonly parserModel?: ModelLike;
  readonly parserModelPrompt?: string;
  /** Writes the final answer from what the main model found out. */
  readonly outputModel?: ModelLike;
  readonly outputModelPrompt?: string;

  // when something goes wrong
  /** How often a failed model call is made again. */
  readonly retries?: number;
  readonly delayBetweenRetriesMs?: number;
  readonly exponentialBackoff?: boolean;
  /** For which reasons a model that stops has failed. The fall-back models are tried then. Default: none. */
  readonly failOn?: readonly UnfinishedReason[];
  /** Called in order when the model fails for good: a model for every failure, or one for some reasons. */
  readonly fallbackModels?: readonly (ModelLike | Fallback)[];
  /** Called before a fall-back model is. What it throws is logged. */
  readonly onFallback?: FallbackListener;

  /** Gives the answer to an equal model call of the last day again, without a call. Not for answers with chance in them. */
  readonly cacheResponses?: boolean | ResponseCaching;

  // before and after
  /** Change the text of answers on its way to readers and to the stored conversation. */
  readonly textTransforms?: readonly TextTransform[];
  /** Code around each model call: it may change what this call is given, and look at the answer. */
  readonly modelHooks?: readonly ModelHook[];
  readonly preHooks?: readonly PreHook[];
  readonly postHooks?: readonly PostHook[];
  /** Thinks step by step before the first model call; on when a `reasoningModel` is given. */
  readonly reasoning?: boolean;
  readonly reasoningModel?: ModelLike;
  /** Default 1. */
  readonly reasoningMinSteps?: number;
  /** Default 10. */
  readonly reasoningMaxSteps?: number;
  /** Suggests what the user could ask next. */
  readonly followups?: boolean;
  /** Default 3. */
  readonly numFollowups?: number;
  readonly followupModel?: ModelLike;
  /** Shortens old tool results when the conversation fills the context window. */
  readonly compressToolResults?: boolean;
  readonly compressionModel?: ModelLike;
  /** What that model is asked for, instead of the built-in text. */
  readonly compressionPrompt?: string;
  /** How many tokens of tool results are left as they are. An estimate; default 10 000. */
  readonly compressToolResultsAboveTokens?: number;

  /** The id of the registered database that holds its sessions; the service's own when left out. */
  readonly database?: string;
}

/** What the execution of an agent needs to know of it. */
export interface AgentDefinition {
  readonly id: string;
  readonly name: string;
  readonly settings: AgentSettings;
  readonly model: Model;
  /** All that are known without asking a source, the built-in ones included. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly toolInstructions: readonly string[];
  /** What the tools of a run are collected from. */
  readonly toolEntries: readonly ToolEntry[];
  /** Whether another turn follows one that the model or a tool ended. Left out: none does. */
  continuesAfter?(context: RunContext, turn: number): Promise<boolean>;
  /** What the run has to say when that is not what the model said last; undefined when it is. */
  answer?(context: RunContext, last: ModelRecord): Answer | undefined;
}
