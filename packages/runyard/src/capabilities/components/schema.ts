import { z } from 'zod';

const settingsGroup = z.looseObject({});

export const agentParams = z.object({
  agent_id: z.string().meta({ description: 'The identifier of the agent.', examples: ['assistant'] }),
});

/** An agent as clients see it. Settings that have their default value are left out. */
export const agentBody = z
  .object({
    id: z.string(),
    name: z.string(),
    db_id: z.string().optional().meta({ description: 'The database that holds its sessions.' }),
    description: z.string().optional(),
    role: z.string().optional(),
    is_factory: z.boolean().meta({ description: 'Whether it is built anew for each request.' }),
    model: z
      .object({ name: z.string().optional(), model: z.string().optional(), provider: z.string().optional() })
      .optional(),
    tools: settingsGroup.optional(),
    sessions: settingsGroup.optional(),
    knowledge: settingsGroup.optional(),
    memory: settingsGroup.optional(),
    reasoning: settingsGroup.optional(),
    default_tools: settingsGroup.optional(),
    system_message: settingsGroup.optional(),
    extra_messages: settingsGroup.optional(),
    response_settings: settingsGroup.optional(),
    introduction: z.string().optional(),
    streaming: settingsGroup.optional(),
    metadata: settingsGroup.optional(),
    input_schema: settingsGroup.optional(),
    factory_input_schema: settingsGroup.optional(),
    is_component: z.boolean().meta({ description: 'Whether it comes from the component store.' }),
    current_version: z.int().optional(),
    stage: z.string().optional(),
  })
  .meta({
    id: 'Agent',
    description: 'An agent that can be run.',
    examples: [
      {
        id: 'assistant',
        name: 'Assistant',
        db_id: 'default',
        is_factory: false,
        model: { name: 'Offline', model: 'offline', provider: 'Runyard' },
        sessions: { session_table: 'sessions', add_history_to_context: true },
        is_component: false,
      },
    ],
  });
