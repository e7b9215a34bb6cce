import type { Agent } from '../../core/agents/agent.js';

type Fields = Record<string, unknown>;

/** An agent as the wire shows it: what has its default value is left out, and so is a group with nothing in it. */
export function agentBodyOf(agent: Agent, databaseId: string): Fields {
  const { settings, model } = agent;
  return withoutEmpty({
    id: agent.id,
    name: agent.name,
    db_id: databaseId,
    description: settings.description,
    role: settings.role,
    is_factory: false,
    model: { name: model.name, model: model.id, provider: model.provider },
    tools: group({ tools: toolList(agent), tool_call_limit: settings.toolCallLimit }),
    sessions: group({
      session_table: 'sessions',
      add_history_to_context: unless(settings.addHistoryToContext, false),
      num_history_runs: unless(settings.numHistoryRuns, 3),
    }),
    system_message: group({
      description: settings.description,
      instructions: settings.instructions,
      expected_output: settings.expectedOutput,
      additional_context: settings.additionalContext,
      markdown: unless(settings.markdown, false),
    }),
    metadata: settings.metadata,
    is_component: false,
  });
}

function toolList(agent: Agent): Fields[] | undefined {
  const tools = Array.from(agent.tools.values(), (tool) => ({ ...tool.definition }));
  return tools.length === 0 ? undefined : tools;
}

function unless<T>(value: T | undefined, hidden: T): T | undefined {
  return value === hidden ? undefined : value;
}

function group(fields: Fields): Fields | undefined {
  const kept = withoutEmpty(fields);
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function withoutEmpty(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
