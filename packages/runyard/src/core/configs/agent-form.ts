import { agentShape, cachingShape, fallbackShape } from '../agents/agent-options.js';
import type { AgentSettings } from '../agents/definition.js';
import type { LearningSettings } from '../agents/learning/learning-settings.js';
import { recallShape, type SemanticRecallSettings } from '../agents/recall/recall-settings.js';
import { type Fallback, isFallback } from '../agents/turns/fallback.js';
import type { WorkingMemorySettings } from '../agents/working-memory/working-memory-settings.js';
import { isJsonObject } from '../json.js';
import type { ResponseCaching } from '../models/cache/response-cache.js';
import { model as modelKind } from '../models/model-kind.js';
import type { ModelLike } from '../models/resolve.js';
import { amount, flag, longestTimeMs, text, word } from '../options/kinds.js';
import { conversationLimitShape } from '../runs/limits/limit-options.js';
import type { RunLimits } from '../runs/limits/run-limits.js';
import {
  type ConfigForm,
  type ConfigKey,
  type ConfigValue,
  fixed,
  type KeysOf,
  key,
  listValue,
  needed,
  neededToBuild,
  nullable,
  objectValue,
  plain,
  plainValue,
  seconds,
} from './config-keys.js';
import { database } from './values/database-value.js';
import { embedder } from './values/embedder-value.js';
import { knowledge } from './values/knowledge-value.js';
import { model } from './values/model-value.js';
import { functionName, named } from './values/named-values.js';
import { dependencies, instructions } from './values/prompt-values.js';
import { inputSchema, schema } from './values/schema-value.js';
import { tools } from './values/tools-value.js';

const mostHooks = 50;
const mostFallbacks = 20;

/** The id of a component is not part of its configuration: what a configuration says about it changes nothing. */
export const ownId: ConfigKey = {
  keys: ['id'],
  read: (config, at) => {
    if (config.id !== undefined && config.id !== null) at.within('id').checked(text, config.id);
    return undefined;
  },
  write: () => ({}),
};

const limits: ConfigForm<RunLimits> = {
  what: 'limits',
  keys: {
    turns: nullable('turns', conversationLimitShape.turns),
    toolCalls: nullable('tool_calls', conversationLimitShape.toolCalls),
    tokens: nullable('tokens', conversationLimitShape.tokens),
    cost: nullable('cost', conversationLimitShape.cost),
    timeMs: nullable('time_ms', conversationLimitShape.timeMs),
    bytes: nullable('bytes', conversationLimitShape.bytes),
  },
};

const learningSettings = objectValue<LearningSettings>({
  what: 'learning',
  keys: {
    mode: plain('mode', word('always', 'agentic')),
    userProfile: plain('user_profile', flag),
    userMemory: plain('user_memory', flag),
    sessionContext: plain('session_context', flag),
    entityMemory: plain('entity_memory', flag),
    decisions: plain('decisions', flag),
    namespace: plain('namespace', text),
    model: key('model', model),
    instructions: plain('instructions', text),
  },
});

const workingMemory = objectValue<WorkingMemorySettings>({
  what: 'working_memory',
  keys: {
    schema: key('schema', inputSchema),
    scope: plain('scope', word('session', 'user')),
  },
});

const switchOnly = plainValue({ ...flag, allowed: 'true, false or an object' });

/** true, false, or an object that says more. */
function switchOr(settings: ConfigValue): ConfigValue {
  return {
    read: (value, at) => (isObject(value) ? settings : switchOnly).read(value, at),
    write: (setting, at) => (isObject(setting) ? settings : switchOnly).write(setting, at),
  };
}

const semanticRecall = switchOr(
  objectValue<SemanticRecallSettings>({
    what: 'semantic_recall',
    keys: {
      topK: plain('top_k', recallShape.topK),
      messageRange: plain('message_range', recallShape.messageRange),
      scope: plain('scope', recallShape.scope),
      embedder: key('embedder', embedder),
      similarityThreshold: plain('similarity_threshold', recallShape.similarityThreshold),
    },
  }),
);

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const fallbackByReason = objectValue<Fallback>({
  what: 'a fall-back model',
  keys: {
    model: needed(key('model', model), modelKind.allowed),
    on: plain('on', fallbackShape.on),
  },
});

/** A model, or an object with the model and the reasons to call it. */
const fallback: ConfigValue = {
  read: (value, at) => (isJsonObject(value) && 'model' in value ? fallbackByReason : model).read(value, at),
  // the setting with this value holds these only
  write: (setting, at) =>
    (isFallback(setting as ModelLike | Fallback) ? fallbackByReason : model).write(setting, at),
};

const secondsBetween = amount(
  `seconds from 0 to ${Math.floor(longestTimeMs / 1000)}`,
  (value) => value >= 0 && value * 1000 <= longestTimeMs,
);

const cacheResponses = switchOr(
  objectValue<ResponseCaching>({
    what: 'the response cache',
    keys: { ttlMs: seconds('ttl', secondsBetween), scope: plain('scope', cachingShape.scope) },
  }),
);

const hooks = listValue(
  named((registry) => registry.hooks),
  mostHooks,
);

/** Each setting of an agent, with its key. */
export const agentKeys: KeysOf<AgentSettings> = {
  id: ownId,
  name: plain('name', agentShape.name),
  // a member takes the model of its team
  model: neededToBuild(key('model', fixed(model)), agentShape.model.allowed, 'a member'),
  description: plain('description', agentShape.description),
  role: plain('role', agentShape.role),
  instructions: key('instructions', instructions),
  expectedOutput: plain('expected_output', agentShape.expectedOutput),
  additionalContext: plain('additional_context', agentShape.additionalContext),
  additionalInput: plain('additional_input', agentShape.additionalInput),
  markdown: plain('markdown', agentShape.markdown),
  addNameToContext: plain('add_name_to_context', agentShape.addNameToContext),
  addDatetimeToContext: plain('add_datetime_to_context', agentShape.addDatetimeToContext),
  timezone: plain('timezone_identifier', agentShape.timezone),
  sendMediaToModel: plain('send_media_to_model', agentShape.sendMediaToModel),
  storeMedia: plain('store_media', agentShape.storeMedia),
  storeToolMessages: plain('store_tool_messages', agentShape.storeToolMessages),
  introduction: plain('introduction', agentShape.introduction),

  tools: key('tools', fixed(tools)),
  toolChoice: plain('tool_choice', agentShape.toolChoice),
  toolHooks: key('tool_hooks', listValue(functionName, mostHooks)),
  toolCallLimit: plain('tool_call_limit', agentShape.toolCallLimit),
  limits: key('limits', fixed(objectValue(limits))),
  priority: plain('priority', agentShape.priority),

  addHistoryToContext: plain('add_history_to_context', agentShape.addHistoryToContext),
  numHistoryRuns: plain('num_history_runs', agentShape.numHistoryRuns),
  historyFrom: plain('history_from', agentShape.historyFrom),
  numHistoryMessages: plain('num_history_messages', agentShape.numHistoryMessages),
  maxToolCallsFromHistory: plain('max_tool_calls_from_history', agentShape.maxToolCallsFromHistory),
  readChatHistory: plain('read_chat_history', agentShape.readChatHistory),
  readToolCallHistory: plain('read_tool_call_history', agentShape.readToolCallHistory),
  searchPastSessions: plain(
    ['search_past_sessions', 'search_session_history'],
    agentShape.searchPastSessions,
  ),
  numPastSessionsToSearch: plain(
    ['num_past_sessions_to_search', 'num_history_sessions'],
    agentShape.numPastSessionsToSearch,
  ),
  numPastSessionRunsInSearch: plain('num_past_session_runs_in_search', agentShape.numPastSessionRunsInSearch),
  semanticRecall: key('semantic_recall', semanticRecall),
  sessionState: plain('session_state', agentShape.sessionState),
  addSessionStateToContext: plain('add_session_state_to_context', agentShape.addSessionStateToContext),
  agenticState: plain('enable_agentic_state', agentShape.agenticState),
  enableSessionSummaries: plain('enable_session_summaries', agentShape.enableSessionSummaries),
  sessionSummaryModel: key('session_summary_model', model),
  sessionSummaryPrompt: plain('session_summary_prompt', agentShape.sessionSummaryPrompt),
  addSessionSummaryToContext: plain('add_session_summary_to_context', agentShape.addSessionSummaryToContext),

  updateMemoryOnRun: plain(['enable_user_memories', 'update_memory_on_run'], agentShape.updateMemoryOnRun),
  agenticMemory: plain('enable_agentic_memory', agentShape.agenticMemory),
  addMemoriesToContext: plain('add_memories_to_context', agentShape.addMemoriesToContext),
  numMemoriesInContext: plain('num_memories_in_context', agentShape.numMemoriesInContext),
  memoryModel: key('memory_model', model),
  memoryInstructions: plain('memory_instructions', agentShape.memoryInstructions),
  allowClearMemories: plain('allow_clear_memories', agentShape.allowClearMemories),
  workingMemory: key('working_memory', workingMemory),
  learning: key('learning', switchOr(learningSettings)),

  knowledge: key('knowledge', fixed(knowledge)),
  searchKnowledge: plain('search_knowledge', agentShape.searchKnowledge),
  addSearchKnowledgeInstructions: plain(
    'add_search_knowledge_instructions',
    agentShape.addSearchKnowledgeInstructions,
  ),
  knowledgeFilters: plain('knowledge_filters', agentShape.knowledgeFilters),
  agenticKnowledgeFilters: plain('enable_agentic_knowledge_filters', agentShape.agenticKnowledgeFilters),
  addKnowledgeToContext: plain('add_knowledge_to_context', agentShape.addKnowledgeToContext),
  referencesFormat: plain('references_format', agentShape.referencesFormat),
  updateKnowledge: plain('update_knowledge', agentShape.updateKnowledge),
  knowledgeRetriever: key('knowledge_retriever', functionName),

  dependencies: key('dependencies', dependencies),
  addDependenciesToContext: plain('add_dependencies_to_context', agentShape.addDependenciesToContext),
  metadata: plain('metadata', agentShape.metadata),

  inputSchema: key('input_schema', inputSchema),
  outputSchema: key('output_schema', schema),
  parserModel: key('parser_model', model),
  parserModelPrompt: plain('parser_model_prompt', agentShape.parserModelPrompt),
  outputModel: key('output_model', model),
  outputModelPrompt: plain('output_model_prompt', agentShape.outputModelPrompt),

  retries: plain('retries', agentShape.retries),
  delayBetweenRetriesMs: seconds('delay_between_retries', secondsBetween, 0),
  exponentialBackoff: plain('exponential_backoff', agentShape.exponentialBackoff),
  failOn: plain('fail_on', agentShape.failOn),
  fallbackModels: key('fallback_models', listValue(fallback, mostFallbacks)),
  onFallback: key('on_fallback', functionName),

  cacheResponses: key('cache_responses', cacheResponses),
  textTransforms: key('text_transforms', listValue(functionName, mostHooks)),
  modelHooks: key('model_hooks', hooks),
  preHooks: key('pre_hooks', hooks),
  postHooks: key('post_hooks', hooks),
  reasoning: plain('reasoning', agentShape.reasoning),
  reasoningModel: key('reasoning_model', model),
  reasoningMinSteps: plain('reasoning_min_steps', agentShape.reasoningMinSteps),
  reasoningMaxSteps: plain('reasoning_max_steps', agentShape.reasoningMaxSteps),
  followups: plain('followups', agentShape.followups),
  numFollowups: plain('num_followups', agentShape.numFollowups),
  followupModel: key('followup_model', model),
  compressToolResults: plain('compress_tool_results', agentShape.compressToolResults),
  compressionModel: key('compression_model', model),
  compressionPrompt: plain('compression_prompt', agentShape.compressionPrompt),
  compressToolResultsAboveTokens: plain(
    'compress_tool_results_above_tokens',
    agentShape.compressToolResultsAboveTokens,
  ),

  database: key('db', database),
};

/**
 * Keys of the wire contract that Runyard has no setting for, with the values that say what it does anyway. With any
 * other value they are refused by name.
 */
export const agentKeysWithoutSetting = {
  system_message: [],
  system_message_role: ['system'],
  user_message_role: ['user'],
  add_location_to_context: [false],
  datetime_format: [],
  resolve_in_context: [true],
  build_context: [true],
  build_user_context: [true],
  user_id: [],
  session_id: [],
  overwrite_db_session_state: [false],
  cache_session: [false],
  add_learnings_to_context: [true],
  store_history_messages: [false],
  parse_response: [true],
  structured_outputs: [],
  use_json_mode: [false],
  save_response_to_file: [],
  stream: [],
  stream_events: [],
  store_events: [false],
  debug_mode: [false],
  debug_level: [1],
  telemetry: [true, false],
} as const;

export const agentForm: ConfigForm<AgentSettings> = {
  what: 'an agent',
  keys: agentKeys,
  without: agentKeysWithoutSetting,
};
