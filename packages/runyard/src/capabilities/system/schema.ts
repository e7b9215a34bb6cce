import { z } from 'zod';

export const homeBody = z.object({ name: z.string(), id: z.string(), version: z.string() }).meta({
  id: 'Home',
  description: 'What answers here.',
  examples: [{ name: 'Runyard API', id: 'runyard', version: '0.1.0' }],
});

export const healthBody = z
  .object({
    status: z.string(),
    instantiated_at: z.iso.datetime().meta({ description: 'When the process started.' }),
  })
  .meta({
    id: 'Health',
    description: 'The service answers.',
    examples: [{ status: 'ok', instantiated_at: '2026-11-15T00:35:54.448Z' }],
  });

const runCounts = z.object({
  executing: z.int().meta({ description: 'Runs that are executed now.' }),
  waiting: z.int().meta({ description: 'Runs that wait for their turn.' }),
  max_executing: z.int().meta({ description: 'The setting maxConcurrentRuns.' }),
  max_waiting: z.int().meta({ description: 'The setting maxWaitingRuns.' }),
});

const checkStatus = z.enum(['ok', 'failed', 'unknown']);

function checkOf(states: readonly [string, ...string[]], description: string) {
  const databases = z.record(z.string(), z.enum(states)).meta({ description: 'By the id of the database.' });
  return z.object({ status: checkStatus, databases }).meta({ description });
}

export const readyBody = z
  .object({
    status: z.enum(['ready', 'not_ready']),
    checks: z.object({
      database: checkOf(['ok', 'unavailable', 'read_only', 'unknown'], 'Whether each database stores.'),
      migrations: checkOf(
        ['current', 'older', 'newer', 'unknown'],
        'Whether each database has the schema of this version.',
      ),
      engine: checkOf(
        ['ok', 'closed', 'leases_overdue', 'recovery_stuck', 'unknown'],
        'Whether leases are renewed and abandoned runs are looked for. Slots that are all taken are no fault.',
      ).extend({ runs: runCounts.optional() }),
      stopping: z.object({ status: checkStatus }).meta({ description: 'failed: the service is stopping.' }),
    }),
  })
  .meta({
    id: 'Ready',
    description: 'Whether requests should be sent to this process, and if not, why.',
    examples: [
      {
        status: 'ready',
        checks: {
          database: { status: 'ok', databases: { default: 'ok' } },
          migrations: { status: 'ok', databases: { default: 'current' } },
          engine: {
            status: 'ok',
            databases: { default: 'ok' },
            runs: { executing: 3, waiting: 0, max_executing: 1000, max_waiting: 10000 },
          },
          stopping: { status: 'ok' },
        },
      },
    ],
  });

export const infoBody = z
  .object({
    os_id: z.string(),
    name: z.string().nullable(),
    product: z.literal('Runyard').meta({ 'x-addition': true }),
    version: z.string().meta({ description: 'The version of Runyard.', 'x-addition': true }),
    agno_version: z.string().meta({ description: 'The version of Runyard, for older clients.' }),
    agent_count: z.int(),
    team_count: z.int(),
    workflow_count: z.int(),
    mcp: z.object({
      enabled: z.boolean(),
      path: z.string().nullable(),
      oauth: z
        .object({ authorization_servers: z.array(z.string()).optional(), resource: z.string().optional() })
        .nullable(),
    }),
    auth_mode: z.enum(['none', 'security_key', 'jwt']),
    runs: runCounts.meta({ description: 'What this process is busy with.', 'x-addition': true }),
    orphaned_runs: z
      .object({
        count: z.int(),
        components: z.array(
          z.object({
            type: z.enum(['agent', 'team', 'workflow']),
            id: z.string(),
            count: z.int().meta({ description: 'At most 10,000 of each status are counted.' }),
          }),
        ),
      })
      .optional()
      .meta({
        description:
          'Runs that nobody executes and whose component is not registered in this process. Only for callers who see ' +
          'the runs of all users.',
        'x-addition': true,
      }),
  })
  .meta({ id: 'Info', description: 'What a client needs to know before it logs in.' });

export const modelBody = z.object({ id: z.string(), provider: z.string() }).meta({
  id: 'Model',
  description: 'A model that an agent or the leader of a team uses.',
  examples: [{ id: 'offline', provider: 'Runyard' }],
});

const domain = z.object({ display_name: z.string().optional() });

const databaseOf = z.object({
  db_id: z.string(),
  domain_config: domain.optional(),
  tables: z.array(z.string()).optional(),
});
const section = z.object({ display_name: z.string().optional(), dbs: z.array(databaseOf).optional() });

const componentSummary = z.object({
  id: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
  db_id: z.string().optional(),
});

const versionFacts = {
  is_factory: z.boolean().optional(),
  factory_input_schema: z.looseObject({}).optional(),
  is_component: z.boolean().optional(),
  current_version: z.int().optional(),
  stage: z.string().optional(),
};

export const configBody = z
  .object({
    os_id: z.string(),
    name: z.string().optional(),
    description: z.string().optional(),
    available_models: z.array(z.string()).optional(),
    os_database: z.string().optional(),
    databases: z.array(z.string()),
    chat: z.object({ quick_prompts: z.record(z.string(), z.array(z.string())) }).optional(),
    manifest: z
      .record(
        z.string(),
        z.object({
          description: z.string().optional(),
          labels: z.array(z.string()).optional(),
          quick_prompts: z.array(z.string()).optional(),
        }),
      )
      .optional(),
    session: section.optional(),
    metrics: section.optional(),
    memory: section.optional(),
    learning: section.optional(),
    knowledge: section
      .extend({
        knowledge_instances: z
          .array(
            z.object({
              id: z.string(),
              name: z.string(),
              description: z.string().optional(),
              db_id: z.string(),
              table: z.string(),
            }),
          )
          .optional(),
      })
      .optional(),
    evals: section.optional(),
    traces: section.optional(),
    agents: z.array(
      componentSummary.extend({ model: modelBody.optional(), metadata: z.looseObject({}).optional() }),
    ),
    teams: z.array(componentSummary.extend({ mode: z.string().optional(), model: modelBody.optional() })),
    workflows: z.array(componentSummary.extend(versionFacts)),
    interfaces: z.array(z.object({ type: z.string(), version: z.string(), route: z.string() })),
  })
  .meta({ id: 'Config', description: 'What is registered with this service.' });
