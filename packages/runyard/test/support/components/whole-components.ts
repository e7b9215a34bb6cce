import { z } from 'zod';
import type { AgentSettings } from '../../../src/core/agents/definition.js';
import { buildComponent } from '../../../src/core/configs/build-component.js';
import type { BuiltComponent, ConfigSite } from '../../../src/core/configs/component-config.js';
import type { JsonObject } from '../../../src/core/json.js';
import { Registry } from '../../../src/core/registry/registry.js';
import type { RegistrySettings } from '../../../src/core/registry/registry-options.js';
import type { TeamSettings } from '../../../src/core/teams/settings.js';
import { agent, knowledge, team, tool, toolkit } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';

export const offered = scriptedModel([]);
const handbook = knowledge({ name: 'handbook' });
export const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: z.object({ amount: z.number() }),
  execute: () => 'paid',
});
export const guarded = tool({
  name: 'wire',
  description: 'Wires money',
  approval: 'required',
  execute: () => 'sent',
});
const kit = toolkit({ name: 'maths', prefix: 'm_', instructions: 'Count.', tools: [pay] });
export const helper = agent({ id: 'helper', model: 'offline' });
export const mates = team({ id: 'mates', model: 'offline', members: [helper] });
const greeting = () => 'Greet.';
const clock = () => 'noon';
const watch = (_call: unknown, next: () => unknown) => next();
const find = () => [];
const noticed = () => {};
const look = () => undefined;
const upper = (pieces: AsyncIterable<string>) => pieces;
const around = { name: 'around', before: () => undefined } as const;
const checked = { name: 'checked', required: true, run: () => undefined } as const;
const Ticket = z.object({ text: z.string() }).meta({ title: 'Ticket' });

export const whole: Required<AgentSettings> = {
  id: 'bank',
  name: 'Bank',
  model: offered,
  description: 'Knows money',
  role: 'banker',
  instructions: greeting,
  expectedOutput: 'A number',
  additionalContext: 'More',
  additionalInput: [{ role: 'user', content: 'Hello' }],
  markdown: true,
  addNameToContext: true,
  addDatetimeToContext: true,
  timezone: 'Europe/Paris',
  sendMediaToModel: false,
  storeToolMessages: false,
  storeMedia: false,
  introduction: 'Hello',
  tools: [pay, guarded, kit],
  toolChoice: { name: 'pay' },
  toolHooks: [watch],
  toolCallLimit: 5,
  priority: 'low',
  limits: { turns: 3, toolCalls: null, tokens: 1000, cost: 0.5, timeMs: 60_000, bytes: 9_999 },
  addHistoryToContext: true,
  numHistoryRuns: 7,
  historyFrom: 'session',
  numHistoryMessages: 20,
  maxToolCallsFromHistory: 3,
  readChatHistory: true,
  readToolCallHistory: true,
  searchPastSessions: true,
  numPastSessionsToSearch: 4,
  numPastSessionRunsInSearch: 2,
  semanticRecall: {
    topK: 2,
    messageRange: { before: 1, after: 0 },
    scope: 'session',
    embedder: 'offline',
    similarityThreshold: 0.2,
  },
  sessionState: { mood: 'calm', list: [1, null] },
  addSessionStateToContext: true,
  agenticState: true,
  enableSessionSummaries: true,
  sessionSummaryModel: 'openai:gpt-5-mini',
  sessionSummaryPrompt: 'Sum up',
  addSessionSummaryToContext: false,
  updateMemoryOnRun: true,
  agenticMemory: true,
  addMemoriesToContext: true,
  numMemoriesInContext: 12,
  memoryModel: 'offline',
  memoryInstructions: 'Keep names',
  allowClearMemories: true,
  workingMemory: { schema: Ticket, scope: 'user' },
  learning: { mode: 'agentic', userProfile: false, namespace: 'desk', model: 'offline', decisions: true },
  knowledge: [handbook],
  searchKnowledge: false,
  addSearchKnowledgeInstructions: false,
  knowledgeFilters: [{ op: 'EQ', key: 'topic', value: 'money' }],
  agenticKnowledgeFilters: true,
  addKnowledgeToContext: true,
  referencesFormat: 'yaml',
  updateKnowledge: true,
  knowledgeRetriever: find,
  dependencies: { currency: 'EUR', now: clock },
  addDependenciesToContext: true,
  metadata: { owner: 'finance' },
  inputSchema: Ticket,
  outputSchema: { type: 'object', properties: { total: { type: 'number' } } },
  parserModel: 'offline',
  parserModelPrompt: 'Parse',
  outputModel: 'offline',
  outputModelPrompt: 'Write',
  retries: 2,
  delayBetweenRetriesMs: 1_500,
  exponentialBackoff: true,
  failOn: ['length'],
  fallbackModels: ['offline', { model: 'ollama:llama3', on: ['rate_limit', 'context_overflow'] }],
  onFallback: noticed,
  cacheResponses: { ttlMs: 60_000, scope: 'all' },
  textTransforms: [upper],
  modelHooks: [around],
  preHooks: [look, checked],
  postHooks: [checked],
  reasoning: true,
  reasoningModel: 'offline',
  reasoningMinSteps: 2,
  reasoningMaxSteps: 4,
  followups: true,
  numFollowups: 2,
  followupModel: 'offline',
  compressToolResults: true,
  compressionPrompt: 'Shorten',
  compressionModel: 'offline',
  compressToolResultsAboveTokens: 500,
  database: 'main',
};

export const wholeTeam: Required<TeamSettings> = {
  ...whole,
  id: 'desk',
  members: [helper, mates],
  mode: 'tasks',
  determineInputForMembers: false,
  shareMemberInteractions: true,
  addTeamHistoryToMembers: true,
  numTeamHistoryRuns: 2,
  streamMemberEvents: false,
  memberInformationTool: true,
  maxDelegations: 9,
  maxParallelMembers: 2,
  maxIterations: 6,
};

export const bank = agent(whole);
export const desk = team(wholeTeam);
const components = [bank, desk];
export const registry = new Registry({ components });

export function site(
  given: { settings?: RegistrySettings; components?: readonly BuiltComponent[] } = {},
): ConfigSite {
  const known: readonly BuiltComponent[] = [helper, mates];
  return {
    registry: given.settings || given.components ? new Registry(given) : registry,
    databases: ['main'],
    component: ({ kind, id }) => known.find((one) => one.kind === kind && one.id === id),
  };
}

/** The faults of building, each with its place. */
export function faultsOf(config: JsonObject, kind: 'agent' | 'team' = 'agent', at = site()): string {
  try {
    buildComponent(kind, 'x', config, at);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
