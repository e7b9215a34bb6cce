import type { ResponseCaching } from '../models/cache/response-cache.js';
import { failureReasons } from '../models/failure-reason.js';
import { model } from '../models/model-kind.js';
import type { Shape } from '../options/kind.js';
import {
  anyOf,
  anything,
  callable,
  count,
  flag,
  having,
  json,
  listOf,
  milliseconds,
  objectOf,
  recordOf,
  required,
  text,
  timeZone,
  word,
} from '../options/kinds.js';
import { objectSchema, schema } from '../options/schema-kind.js';
import { priorities } from '../runs/leases/priority.js';
import { conversationLimits } from '../runs/limits/limit-options.js';
import { toolEntry } from '../tools/toolkit.js';
import { ofRun } from './context/of-run-kind.js';
import type { AgentSettings } from './definition.js';
import { hook } from './hooks/hook-options.js';
import { modelHook, toolChoice } from './hooks/model-hook.js';
import { knowledgeUse } from './knowledge/knowledge-use.js';
import { learning } from './learning/learning-options.js';
import { recallOptions } from './recall/recall-settings.js';
import type { Fallback } from './turns/fallback.js';
import { workingMemoryOptions } from './working-memory/working-memory-settings.js';

const example = having('an object with role and content', {
  role: required(word('system', 'user', 'assistant', 'tool')),
  content: required(text),
});

export const cachingShape: Shape<ResponseCaching> = {
  ttlMs: milliseconds(1),
  scope: word('user', 'all'),
};

export const fallbackShape: Shape<Fallback> = {
  model: required(model),
  on: listOf(word(...failureReasons), 1),
};

export const agentShape: Shape<AgentSettings> = {
  id: text,
  name: text,
  model: ofRun(model),
  description: text,
  role: text,
  instructions: anyOf(text, listOf(text), callable),
  expectedOutput: text,
  additionalContext: text,
  additionalInput: listOf(example),
  markdown: flag,
  addNameToContext: flag,
  addDatetimeToContext: flag,
  timezone: timeZone,
  sendMediaToModel: flag,
  storeToolMessages: flag,
  storeMedia: flag,
  introduction: text,
  tools: ofRun(listOf(toolEntry)),
  toolChoice,
  toolHooks: listOf(callable),
  toolCallLimit: count(0),
  limits: ofRun(conversationLimits),
  priority: word(...priorities),
  addHistoryToContext: flag,
  numHistoryRuns: count(0),
  historyFrom: word('own', 'session'),
  numHistoryMessages: count(0),
  maxToolCallsFromHistory: count(0),
  readChatHistory: flag,
  readToolCallHistory: flag,
  searchPastSessions: flag,
  numPastSessionsToSearch: count(1),
  numPastSessionRunsInSearch: count(1),
  semanticRecall: anyOf(flag, recallOptions),
  sessionState: json,
  addSessionStateToContext: flag,
  agenticState: flag,
  enableSessionSummaries: flag,
  sessionSummaryModel: model,
  sessionSummaryPrompt: text,
  addSessionSummaryToContext: flag,
  updateMemoryOnRun: flag,
  agenticMemory: flag,
  addMemoriesToContext: flag,
  numMemoriesInContext: count(1),
  memoryModel: model,
  memoryInstructions: text,
  allowClearMemories: flag,
  workingMemory: workingMemoryOptions,
  learning: anyOf(flag, learning),
  ...knowledgeUse,
  dependencies: recordOf(anything),
  addDependenciesToContext: flag,
  metadata: json,
  inputSchema: objectSchema,
  outputSchema: schema,
  parserModel: model,
  parserModelPrompt: text,
  outputModel: model,
  outputModelPrompt: text,
  retries: count(0),
  delayBetweenRetriesMs: milliseconds(0),
  exponentialBackoff: flag,
  failOn: listOf(word('length', 'content_filter', 'refusal', 'other')),
  fallbackModels: listOf(anyOf(model, objectOf(fallbackShape))),
  onFallback: callable,
  cacheResponses: anyOf(flag, objectOf(cachingShape)),
  textTransforms: listOf(callable),
  modelHooks: listOf(modelHook),
  preHooks: listOf(hook),
  postHooks: listOf(hook),
  reasoning: flag,
  reasoningModel: model,
  reasoningMinSteps: count(1),
  reasoningMaxSteps: count(1),
  followups: flag,
  numFollowups: count(1),
  followupModel: model,
  compressToolResults: flag,
  compressionModel: model,
  compressionPrompt: text,
  compressToolResultsAboveTokens: count(1),
  database: text,
};

export const agentOptions = objectOf(agentShape);
