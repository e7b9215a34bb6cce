import type { AnyAgent } from '../../core/agents/agent.js';
import { schemaName } from '../../core/agents/answer/output-format.js';
import { knowledgeOf } from '../../core/agents/knowledge/knowledge-use.js';
import { usesMemories } from '../../core/agents/memory/memories-in-context.js';
import { reasonsByItself } from '../../core/agents/reasoning/reasoning.js';
import { type AnyFactory, ComponentFactory } from '../../core/factories/component-factory.js';
import type { RegisteredAgent } from '../../core/factories/registered.js';
import { describeModel } from '../../core/models/resolve.js';
import type { AnyLimits } from '../../core/runs/limits/run-limits.js';
import { jsonSchemaOf } from '../../core/schemas/value-schema.js';
import type { Tool } from '../../core/tools/tool.js';

export type Fields = Record<string, unknown>;

/** Where what a component has is stored. */
export interface ShownDatabases {
  /** Its sessions and runs. */
  readonly own: string;
  /** What knowledge bases hold that name no database. */
  readonly service: string;
}

/** What is shown of an agent, and of the leader of a team. */
export type DescribedAgent = Pick<AnyAgent, 'id' | 'name' | 'settings' | 'model' | 'tools'> &
  Partial<Pick<AnyAgent, 'origin' | 'limits'>>;

/** An agent or a factory of agents as the wire shows it. */
export function componentBodyOf(component: RegisteredAgent, databases: ShownDatabases): Fields {
  return component instanceof ComponentFactory
    ? factoryBodyOf(component, databases)
    : agentBodyOf(component, databases);
}

/** What a factory makes is not known before it is asked: only what it takes is shown. */
export function factoryBodyOf(
  { id, name, settings, inputSchema }: AnyFactory,
  databases: ShownDatabases,
): Fields {
  return withoutEmpty({
    id,
    name,
    db_id: databases.own,
    description: settings.description,
    is_factory: true,
    metadata: settings.metadata,
    input_schema: inputSchema,
    factory_input_schema: inputSchema,
    is_component: false,
  });
}

/** An agent as the wire shows it: what has its default value is left out, and so is a group with nothing in it. */
export function agentBodyOf(agent: DescribedAgent, databases: ShownDatabases): Fields {
  const { settings } = agent;
  return withoutEmpty({
    ...leaderFields(agent, databases),
    sessions: group({
      session_table: 'sessions',
      add_history_to_context: unless(settings.addHistoryToContext, false),
      num_history_runs: unless(settings.numHistoryRuns, 3),
      history_from: unless(settings.historyFrom, 'own'),
      num_history_messages: settings.numHistoryMessages,
      max_tool_calls_from_history: settings.maxToolCallsFromHistory,
      search_past_sessions: unless(settings.searchPastSessions, false),
      num_past_sessions_to_search: settings.numPastSessionsToSearch,
      num_past_session_runs_in_search: settings.numPastSessionRunsInSearch,
      enable_session_summaries: unless(settings.enableSessionSummaries, false),
    }),
    default_tools: group({
      read_chat_history: unless(settings.readChatHistory, false),
      ...knowledgeDefaults(agent),
      read_tool_call_history: unless(settings.readToolCallHistory, false),
    }),
    extra_messages: group({ additional_input: settings.additionalInput }),
  });
}

/** What an agent and the leader of a team have in common. */
export function leaderFields(agent: DescribedAgent, databases: ShownDatabases): Fields {
  const { settings, model } = agent;
  return {
    id: agent.id,
    name: agent.name,
    db_id: databases.own,
    description: settings.description,
    role: settings.role,
    introduction: settings.introduction,
    is_factory: false,
    model: model === null ? undefined : modelBody(model),
    tools: group({
      tools: toolList(agent),
      tool_call_limit: settings.toolCallLimit,
      tool_choice: settings.toolChoice,
    }),
    knowledge: knowledgeGroup(agent, databases),
    memory: memoryGroup(agent),
    reasoning: reasoningGroup(agent),
    response_settings: responseGroup(agent),
    input_schema: settings.inputSchema && jsonSchemaOf(settings.inputSchema),
    system_message: group({
      description: settings.description,
      instructions: typeof settings.instructions === 'function' ? undefined : settings.instructions,
      expected_output: settings.expectedOutput,
      additional_context: settings.additionalContext,
      markdown: unless(settings.markdown, false),
      add_name_to_context: unless(settings.addNameToContext, false),
      add_datetime_to_context: unless(settings.addDatetimeToContext, false),
      timezone_identifier: settings.timezone,
    }),
    limits: limitsBody(agent.limits),
    metadata: settings.metadata,
    ...originFields(agent),
  };
}

/** Where a component comes from: code, or a version of what is stored. */
export function originFields({ origin }: Partial<Pick<AnyAgent, 'origin'>>): Fields {
  if (origin === undefined) return { is_component: false };
  return { is_component: true, version: origin.version, stage: origin.stage };
}

/** The limits that a component sets itself, by the names of the wire; null where it has removed one. */
export function limitsBody(limits: AnyLimits = {}): Fields | undefined {
  return group({
    turns: limits.turns,
    steps: limits.steps,
    tool_calls: limits.toolCalls,
    tokens: limits.tokens,
    cost: limits.cost,
    time_ms: limits.timeMs,
    bytes: limits.bytes,
  });
}

/** What a knowledge base holds is in its own database, or in that of the service. */
function knowledgeGroup({ settings }: DescribedAgent, databases: ShownDatabases): Fields | undefined {
  const bases = knowledgeOf(settings);
  if (bases.length === 0) return undefined;
  return group({
    db_id: bases[0]?.settings.database ?? databases.service,
    knowledge_table: 'knowledge_contents',
    names: bases.map(({ name }) => name),
    enable_agentic_knowledge_filters: unless(settings.agenticKnowledgeFilters, false),
    knowledge_filters: settings.knowledgeFilters,
    references_format: unless(settings.referencesFormat, 'json'),
  });
}

/** The tools that an agent or a leader has because of its knowledge, where that is not the default. */
export function knowledgeDefaults({ settings }: Pick<DescribedAgent, 'settings'>): Fields {
  return {
    search_knowledge: unless(settings.searchKnowledge, true),
    update_knowledge: unless(settings.updateKnowledge, false),
  };
}

function memoryGroup({ settings }: DescribedAgent): Fields | undefined {
  if (!usesMemories(settings)) return undefined;
  const { memoryModel, updateMemoryOnRun } = settings;
  return group({
    enable_agentic_memory: unless(settings.agenticMemory, false),
    update_memory_on_run: unless(updateMemoryOnRun, false),
    enable_user_memories: unless(updateMemoryOnRun, false),
    memory_table: 'memories',
    model: memoryModel && modelBody(describeModel(memoryModel)),
  });
}

function reasoningGroup({ settings }: DescribedAgent): Fields | undefined {
  const { reasoningModel } = settings;
  return group({
    reasoning: unless(reasonsByItself(settings), false),
    reasoning_min_steps: unless(settings.reasoningMinSteps, 1),
    reasoning_max_steps: unless(settings.reasoningMaxSteps, 10),
    reasoning_model: reasoningModel && modelBody(describeModel(reasoningModel)),
  });
}

function responseGroup({ settings }: DescribedAgent): Fields | undefined {
  const { delayBetweenRetriesMs, outputSchema, parserModel } = settings;
  const delay = delayBetweenRetriesMs === undefined ? undefined : delayBetweenRetriesMs / 1000;
  return group({
    retries: unless(settings.retries, 0),
    delay_between_retries: unless(delay, 1),
    exponential_backoff: unless(settings.exponentialBackoff, false),
    output_schema_name: outputSchema && schemaName(outputSchema),
    parser_model: parserModel && modelBody(describeModel(parserModel)),
    parser_model_prompt: settings.parserModelPrompt,
  });
}

function modelBody({ name, id, provider }: { name: string; id: string; provider: string }): Fields {
  return { name, model: id, provider };
}

function toolList(agent: DescribedAgent): Fields[] | undefined {
  const tools = Array.from(agent.tools.values(), toolBody);
  return tools.length === 0 ? undefined : tools;
}

function toolBody({ definition, gate }: Tool): Fields {
  const { name, description, inputSchema: parameters } = definition;
  return withoutEmpty({
    name,
    description,
    parameters,
    requires_confirmation: gate.requiresConfirmation === false ? undefined : true,
    external_execution: unless(gate.externalExecution, false),
    approval_type: gate.approval,
  });
}

export function unless<T>(value: T | undefined, hidden: T): T | undefined {
  return value === hidden ? undefined : value;
}

export function group(fields: Fields): Fields | undefined {
  const kept = withoutEmpty(fields);
  return Object.keys(kept).length === 0 ? undefined : kept;
}

export function withoutEmpty(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
