import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agentBodyOf } from '../../capabilities/components/agent-body.js';
import { teamBodyOf } from '../../capabilities/components/team-body.js';
import { agent, knowledge, team, tool, toolkit, workflow } from '../../index.js';
import { scriptedModel } from '../../testing.js';
import type { AgentSettings } from '../agents/definition.js';
import type { Json, JsonObject } from '../json.js';
import { Registry } from '../registry/registry.js';
import type { RegistrySettings } from '../registry/registry-options.js';
import type { TeamSettings } from '../teams/settings.js';
import type { Tool } from '../tools/tool.js';
import { agentForm } from './agent-form.js';
import { buildComponent } from './build-component.js';
import { checkConfig, storedConfig } from './check-config.js';
import type { BuiltComponent, ConfigSite } from './component-config.js';
import type { ConfigForm, ConfigKey } from './config-keys.js';
import { configOf } from './config-of.js';
import { componentReferences } from './references.js';
import { teamForm } from './team-form.js';

const offered = scriptedModel([]);
const handbook = knowledge({ name: 'handbook' });
const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: z.object({ amount: z.number() }),
  execute: () => 'paid',
});
const guarded = tool({
  name: 'wire',
  description: 'Wires money',
  approval: 'required',
  execute: () => 'sent',
});
const kit = toolkit({ name: 'maths', prefix: 'm_', instructions: 'Count.', tools: [pay] });
const helper = agent({ id: 'helper', model: 'offline' });
const mates = team({ id: 'mates', model: 'offline', members: [helper] });
const greeting = () => 'Greet.';
const clock = () => 'noon';
const watch = (_call: unknown, next: () => unknown) => next();
const find = () => [];
const look = () => undefined;
const checked = { name: 'checked', required: true, run: () => undefined } as const;
const Ticket = z.object({ text: z.string() }).meta({ title: 'Ticket' });

const whole: Required<AgentSettings> = {
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
  introduction: 'Hello',
  tools: [pay, guarded, kit],
  toolChoice: { name: 'pay' },
  toolHooks: [watch],
  toolCallLimit: 5,
  limits: { turns: 3, toolCalls: null, tokens: 1000, cost: 0.5, timeMs: 60_000, bytes: 9_999 },
  addHistoryToContext: true,
  numHistoryRuns: 7,
  readChatHistory: true,
  readToolCallHistory: true,
  searchPastSessions: true,
  numPastSessionsToSearch: 4,
  numPastSessionRunsInSearch: 2,
  sessionState: { mood: 'calm', list: [1, null] },
  addSessionStateToContext: true,
  agenticState: true,
  enableSessionSummaries: true,
  sessionSummaryModel: 'openai:gpt-5-mini',
  addSessionSummaryToContext: false,
  updateMemoryOnRun: true,
  agenticMemory: true,
  addMemoriesToContext: true,
  numMemoriesInContext: 12,
  memoryModel: 'offline',
  memoryInstructions: 'Keep names',
  allowClearMemories: true,
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
  fallbackModels: ['offline', 'ollama:llama3'],
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
  compressionModel: 'offline',
  compressToolResultsAboveTokens: 500,
  database: 'main',
};

const wholeTeam: Required<TeamSettings> = {
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

const bank = agent(whole);
const desk = team(wholeTeam);
const components = [bank, desk];
const registry = new Registry({ components });

function site(
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
function faultsOf(config: JsonObject, kind: 'agent' | 'team' = 'agent', at = site()): string {
  try {
    buildComponent(kind, 'x', config, at);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const databases = { own: 'main', service: 'main' };
const sent = (value: unknown): Json => JSON.parse(JSON.stringify(value));

describe('a component of the code becomes a configuration and the same component again', () => {
  test('an agent with every setting', () => {
    const config = configOf(bank, registry);
    const built = buildComponent('agent', 'bank', sent(config) as JsonObject, site());
    expect(built.settings).toEqual(whole);
    expect(configOf(built, registry)).toEqual(config);
    expect(agentBodyOf(built as typeof bank, databases)).toEqual(agentBodyOf(bank, databases));
  });

  test('a team with every setting', () => {
    const config = configOf(desk, registry);
    const built = buildComponent('team', 'desk', sent(config) as JsonObject, site());
    expect(built.settings).toEqual(wholeTeam);
    expect(teamBodyOf(built as typeof desk, databases)).toEqual(teamBodyOf(desk, databases));
    expect(componentReferences('team', config)).toEqual([
      { kind: 'agent', id: 'helper', path: 'members[0]', linkKind: 'member', linkKey: 'member_0' },
      { kind: 'team', id: 'mates', path: 'members[1]', linkKind: 'member', linkKey: 'member_1' },
    ]);
  });

  test('seconds, references and null are as on the wire', () => {
    expect(configOf(bank, registry)).toMatchObject({
      model: { id: offered.id, provider: offered.provider, name: offered.name },
      delay_between_retries: 1.5,
      limits: { tool_calls: null },
      tools: [
        { name: 'pay', description: 'Pays', parameters: { type: 'object' } },
        { name: 'wire', requires_confirmation: true, approval_type: 'required' },
        { toolkit: 'maths' },
      ],
      instructions: { $function: 'greeting' },
      dependencies: { currency: 'EUR', now: { $function: 'clock' } },
      knowledge: [{ name: 'handbook' }],
      input_schema: 'Ticket',
      pre_hooks: ['look', 'checked'],
      db: { id: 'main' },
    });
  });

  test('what has no name is refused with every place', () => {
    const odd = agent({
      id: 'odd',
      model: scriptedModel([]),
      instructions: (
        () => () =>
          'x'
      )(),
      dependencies: {
        a: (
          () => () =>
            1
        )(),
        b: { $function: 'x' },
      },
      tools: [tool({ name: 'other', description: 'x', execute: () => '' })],
      metadata: { note: 'fine' },
    });
    expect(() => configOf(odd, registry)).toThrow(
      /model is a model object.*instructions is a function.*tools\[0\] is the tool 'other'.*dependencies\.a is a function.*dependencies\.b has the key/,
    );
  });

  test('two hooks of one name are no names', () => {
    const guard = () => ({ name: 'guard', run: () => undefined });
    const [one, two] = ['one', 'two'].map((id) => agent({ id, model: 'offline', preHooks: [guard()] }));
    expect(() => configOf(one!, new Registry({ components: [one!, two!] }))).toThrow(
      "pre_hooks[0] is the hook 'guard', but agent 'two' has another one of this name. Use the same object",
    );
  });

  test('a secret in the code is not written', () => {
    const leaky = agent({ id: 'leaky', model: 'offline', sessionState: { api_key: 'abc' } });
    expect(() => configOf(leaky, registry)).toThrow('session_state.api_key holds a secret');
  });
});

const contractAgent =
  'name model instructions description role system_message system_message_role expected_output additional_context markdown add_name_to_context add_datetime_to_context add_location_to_context timezone_identifier datetime_format resolve_in_context build_context build_user_context user_message_role tools tool_call_limit tool_choice knowledge knowledge_filters enable_agentic_knowledge_filters add_knowledge_to_context search_knowledge add_search_knowledge_instructions update_knowledge references_format db user_id session_id session_state add_session_state_to_context enable_agentic_state overwrite_db_session_state cache_session search_past_sessions search_session_history num_past_sessions_to_search num_history_sessions num_past_session_runs_in_search enable_session_summaries add_session_summary_to_context dependencies add_dependencies_to_context enable_agentic_memory enable_user_memories add_memories_to_context learning add_learnings_to_context add_history_to_context num_history_runs num_history_messages max_tool_calls_from_history read_chat_history read_tool_call_history reasoning reasoning_min_steps reasoning_max_steps send_media_to_model store_media store_tool_messages store_history_messages retries delay_between_retries exponential_backoff input_schema output_schema parser_model_prompt output_model_prompt parse_response structured_outputs use_json_mode save_response_to_file stream stream_events store_events metadata compress_tool_results debug_mode debug_level telemetry';
const contractTeam =
  'members mode max_iterations respond_directly delegate_to_all_members determine_input_for_members add_team_history_to_members num_team_history_runs share_member_interactions introduction add_member_tools_to_context get_member_information_tool stream_member_events store_member_responses show_members_responses';

describe('the keys of the contract', () => {
  test.each([
    ['agent', agentForm as ConfigForm<unknown>, contractAgent],
    ['team', teamForm as ConfigForm<unknown>, `${contractAgent} ${contractTeam}`],
  ])('all keys of an %s are known', (_kind, form, keys) => {
    const known = Object.values<ConfigKey>(form.keys).flatMap((one) => one.keys);
    const all = new Set([...known, ...Object.keys(form.without ?? {})]);
    expect(keys.split(' ').filter((key) => !all.has(key))).toEqual([]);
  });

  test('defaults of what Runyard has no setting for are accepted, other values refused by name', () => {
    const defaults = { system_message_role: 'system', store_media: true, debug_level: 1, telemetry: true };
    expect(checkConfig('agent', { ...defaults, user_id: null })).toEqual([]);
    expect(checkConfig('agent', { system_message: 'You are' })).toEqual([
      { path: 'system_message', message: "is 'You are', which Runyard does not support. Leave it out." },
    ]);
    expect(checkConfig('agent', { store_media: false })[0]?.message).toContain('or give true');
  });

  test('other names are read; two that differ are refused', () => {
    const built = buildComponent(
      'agent',
      'x',
      { model: 'offline', search_session_history: true, num_history_sessions: 3, update_memory_on_run: true },
      site(),
    );
    expect(built.settings).toMatchObject({
      searchPastSessions: true,
      numPastSessionsToSearch: 3,
      updateMemoryOnRun: true,
    });
    expect(checkConfig('agent', { num_past_sessions_to_search: 2, num_history_sessions: 3 })).toEqual([
      {
        path: 'num_history_sessions',
        message: 'is another name for num_past_sessions_to_search, and the two differ. Give one of them.',
      },
    ]);
  });

  test('the flags of a team choose its mode', () => {
    const members = [{ type: 'agent', agent_id: 'helper' }];
    const built = buildComponent('team', 'x', { model: 'offline', members, respond_directly: true }, site());
    expect(built.settings).toMatchObject({ mode: 'route' });
    expect(faultsOf({ model: 'offline', members, mode: 'tasks', respond_directly: true }, 'team')).toContain(
      "respond_directly is true, which means the mode 'route', but the mode is 'tasks'",
    );
  });

  test('a draft may lack what a component needs', () => {
    expect(checkConfig('team', {})).toEqual([]);
    expect(faultsOf({}, 'team')).toMatch(/model is missing\. Give .*members is missing/);
  });
});

describe('what is wrong has its place', () => {
  test.each<[JsonObject, string]>([
    [{ markdow: true }, 'markdow is not a key of an agent. Did you mean markdown?'],
    [{ markdown: 'yes' }, "markdown is 'yes'. Give true or false."],
    [
      { learning: { user_profil: true } },
      'learning.user_profil is not a key of learning. Did you mean user_profile?',
    ],
    [{ limits: { turns: 0 } }, 'limits.turns is 0. Give a whole number, 1 or more, or null for none.'],
    [{ delay_between_retries: -1 }, 'delay_between_retries is -1. Give seconds'],
    [{ tools: [{ name: 'pay' }] }, 'tools[0].parameters is missing. A name alone'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0] is a tool of a model provider'],
    [
      { tools: [{ name: 'pai', parameters: {} }] },
      "tools[0] names the tool 'pai', which is not registered. Did you mean 'pay'?",
    ],
    [
      { tools: [{ name: 'm_pai', toolkit: 'maths' }] },
      "which the toolkit 'maths' does not have. Did you mean 'm_pay'?",
    ],
    [
      { knowledge: { name: 'nothing' } },
      "knowledge names the knowledge base 'nothing', which is not registered.",
    ],
    [
      { output_schema: 'Tiket' },
      "output_schema names the schema 'Tiket', which is not registered. Did you mean 'Ticket'?",
    ],
    [{ output_schema: { $ref: 'https://x' } }, 'output_schema is not a schema that can be used: #/$ref'],
    [{ input_schema: { type: 'string' } }, "input_schema is a schema of the type 'string'"],
    [{ db: { id: 'other' } }, "db.id names the database 'other', which is not registered. Registered: main."],
    [
      { model: 'openay:gpt' },
      "model is 'openay:gpt', which names an unknown provider. Did you mean openai:gpt?",
    ],
    [
      { model: { id: 'm', provider: 'Nobody' } },
      "model names the model 'm' of 'Nobody', which is not registered",
    ],
    [
      { instructions: { $function: 'greting' } },
      "instructions names the function 'greting', which is not registered. Did you mean 'greeting'?",
    ],
    [{ pre_hooks: ['nope-at-all'] }, "pre_hooks[0] names the hook 'nope-at-all'"],
    [{ reasoning_min_steps: 5, reasoning_max_steps: 2 }, 'reasoningMinSteps: 5'],
  ])('%j', (config, fault) => {
    expect(faultsOf({ model: 'offline', ...config })).toContain(fault);
  });

  test('members that do not exist, and too many', () => {
    const ghost = { type: 'agent', agent_id: 'ghost' };
    expect(faultsOf({ model: 'offline', members: [ghost] }, 'team')).toBe(
      "The config of team 'x' cannot be used: members[0] names the agent 'ghost', which does not exist.",
    );
    expect(checkConfig('team', { members: Array<Json>(101).fill(ghost) })[0]?.message).toContain(
      'At most 100',
    );
  });

  test('size and depth are bounded', () => {
    expect(checkConfig('agent', { description: 'x'.repeat(1_100_000) })[0]?.message).toContain(
      'At most 1048576',
    );
    let deep: Json = 'x';
    for (let level = 0; level < 70; level += 1) deep = [deep];
    expect(checkConfig('agent', { metadata: { deep } })[0]?.message).toBe('is nested deeper than 64 levels.');
    const unknown = Array.from({ length: 1_000 }, (_, index) => [`markdown${index}`, true]);
    const faults = checkConfig('agent', Object.fromEntries([['x'.repeat(5_000), true], ...unknown]));
    expect(faults.filter(({ message }) => message.includes('Did you mean')).length).toBeLessThan(50);
    expect(faults[0]?.path).toHaveLength(101);
  });
});

describe('models', () => {
  const other = scriptedModel([]);

  test.each<[Json, unknown]>([
    ['openai:gpt-5-mini', 'openai:gpt-5-mini'],
    [{ id: 'gpt-5-mini', provider: 'OpenAI', name: 'OpenAIChat' }, 'openai:gpt-5-mini'],
    [{ id: 'llama3', provider: 'ollama' }, 'ollama:llama3'],
    [{ id: 'offline', provider: 'Runyard' }, 'offline'],
    [{ id: offered.id }, offered],
    [`${offered.provider}:${offered.id}`, offered],
  ])('%j', (model, expected) => {
    expect(buildComponent('agent', 'x', { model }, site()).settings).toMatchObject({ model: expected });
  });

  test('a package is loaded only if the code names it', () => {
    const model = 'ai-sdk:mistral:large';
    const at = site({ settings: { models: [model] } });
    expect(buildComponent('agent', 'x', { model }, at).settings).toMatchObject({ model });
  });

  test('two of one name are ambiguous until one is registered', () => {
    const reference = { model: { id: offered.id, provider: offered.provider } };
    const used = [agent({ id: 'a', model: offered }), agent({ id: 'b', model: other })];
    expect(faultsOf(reference, 'agent', site({ components: used }))).toContain(
      "is ambiguous: agent 'a' and agent 'b' have different ones of this name",
    );
    const chosen = site({ components: used, settings: { models: [other] } });
    expect(buildComponent('agent', 'x', reference, chosen).settings).toMatchObject({ model: other });
  });
});

describe('tools', () => {
  const toolsOf = (entry: JsonObject) => {
    const built = buildComponent('agent', 'x', { model: 'offline', tools: [entry] }, site());
    return (built as typeof bank).tools.get(String(entry.name)) as Tool;
  };

  test('are those of the code', () => {
    expect(toolsOf({ name: 'pay', parameters: {} })).toBe(pay);
    expect(toolsOf({ name: 'm_pay', toolkit: 'maths' })).toBe(pay.named('m_pay'));
    expect(toolsOf({ name: 'm_pay', parameters: {} })).toBe(pay.named('m_pay'));
  });

  test('a stricter gate and another description are applied', () => {
    const stricter = toolsOf({
      name: 'pay',
      parameters: {},
      requires_confirmation: true,
      description: 'Pays a bill',
    });
    expect(stricter.gate.requiresConfirmation).toBe(true);
    expect(stricter.description).toBe('Pays a bill');
    expect(pay.gate.requiresConfirmation).toBe(false);
    expect(toolsOf({ name: 'pay', parameters: {}, approval_type: 'required' }).gate.approval).toBe(
      'required',
    );
    expect(toolsOf({ name: 'pay', parameters: {}, external_execution: true }).gate.externalExecution).toBe(
      true,
    );
    // what the code has needs no repetition
    expect(toolsOf({ name: 'wire', parameters: {}, requires_confirmation: null }).gate).toBe(guarded.gate);
  });

  test.each<[JsonObject, string]>([
    [
      { requires_confirmation: false },
      "tools[0].requires_confirmation is false, which is weaker than the tool 'wire'",
    ],
    [{ approval_type: 'audit' }, "tools[0].approval_type is 'audit', which is weaker than the tool 'wire'"],
    [{ external_execution: true }, 'tools[0].external_execution is true, which would replace what calls'],
    [{ approval: 'none' }, 'tools[0].approval is not a key of a tool.'],
  ])('%j never opens a gate', (flags, fault) => {
    expect(faultsOf({ model: 'offline', tools: [{ name: 'wire', parameters: {}, ...flags }] })).toContain(
      fault,
    );
  });

  test('one tool of a source is taken as it is', () => {
    const server = { name: 'server', tools: async () => [], close: async () => {} };
    const at = site({ settings: { tools: [server] } });
    const entry = { name: 'search', toolkit: 'server' };
    const built = buildComponent('agent', 'x', { model: 'offline', tools: [entry] }, at);
    expect(built.settings).toMatchObject({ tools: [{ options: { tools: [server], include: ['search'] } }] });
    const gated = { model: 'offline', tools: [{ ...entry, requires_confirmation: true }] };
    expect(faultsOf(gated, 'agent', at)).toContain('tools[0].requires_confirmation cannot be given');
  });

  test('a name that two tools have is ambiguous', () => {
    const twin = tool({ name: 'pay', description: 'Another', execute: () => '' });
    const used = [
      agent({ id: 'a', model: 'offline', tools: [pay] }),
      agent({ id: 'b', model: 'offline', tools: [twin] }),
    ];
    const fault = faultsOf(
      { model: 'offline', tools: [{ name: 'pay', parameters: {} }] },
      'agent',
      site({ components: used }),
    );
    expect(fault).toContain("tools[0] names the tool 'pay', which is ambiguous: agent 'a' and agent 'b'");
    expect(() => configOf(used[0]!, new Registry({ components: used }))).toThrow('tools[0] is the tool');
  });
});

test('an inline schema of a configuration is never compiled: an endless pattern costs nothing', async () => {
  const endless = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
  const built = buildComponent('agent', 'x', { model: 'offline', input_schema: endless }, site());
  await expect(built.acceptInput(JSON.stringify({ a: `${'a'.repeat(40)}!` }))).resolves.toContain('aaa');
});

describe('secrets', () => {
  test.each<[JsonObject, string]>([
    [{ model: { id: 'm', provider: 'p', api_key: 'abc' } }, 'model.api_key'],
    [{ db: { id: 'main', db_url: 'postgres://u:pass@host/db' } }, 'db.db_url'],
    [{ instructions: ['Say hi', 'Use sk-abcdefghijklmnop123'] }, 'instructions[1]'],
    [{ metadata: { note: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789' } }, 'metadata.note'],
    [{ metadata: { aws: 'AKIAIOSFODNN7EXAMPLE' } }, 'metadata.aws'],
    [{ additional_context: '-----BEGIN RSA PRIVATE KEY-----\nabc' }, 'additional_context'],
    [{ session_state: { auth: { Authorization: 'x' } } }, 'session_state.auth.Authorization'],
    [{ session_state: { credentials: { user: 'abc' } } }, 'session_state.credentials.user'],
    [{ description: 'Authorization: Bearer abcdefghij0123456789' }, 'description'],
    [{ dependencies: { password: 12345 } }, 'dependencies.password'],
    [{ session_state: { parameters: { api_key: 'abc' } } }, 'session_state.parameters.api_key'],
    [
      { output_schema: { properties: { password: { type: 'string', default: 'abc' } } } },
      'output_schema.properties.password.default',
    ],
    [{ description: 'See https://x.test/?api_key=abc123def456ghi' }, 'description'],
    [{ metadata: { 'sk-abcdefghijklmnop123': 1 } }, 'metadata'],
  ])('%j is refused by its place alone', (config, path) => {
    const faults = checkConfig('agent', config);
    expect(faults.map((fault) => fault.path)).toEqual([path]);
    expect(JSON.stringify(faults)).not.toMatch(/abc|pass@|EXAMPLE|12345/);
  });

  test('words about secrets and schemas with such fields hold none', () => {
    const config = {
      instructions: 'Ask for a bearer token, a password or an API key; never write basic authentication.',
      output_schema: { type: 'object', properties: { password: { type: 'string', description: 'x' } } },
      metadata: {
        password: '',
        url: 'https://example.com:8080/path?key={key}',
        lib: 'sk-learn-based-models',
      },
    };
    expect(checkConfig('agent', config)).toEqual([]);
  });

  test.each(['?key=', 'bearer ', '://a:b', 'sk-a ', 'basic aaaaaaaaaaaa'])(
    'looking for them in a text of "%s" alone takes a moment',
    (part) => {
      // a form that reads to the end of the text from each place would take minutes
      expect(checkConfig('agent', { description: part.repeat(Math.floor(1_000_000 / part.length)) })).toEqual(
        [],
      );
    },
  );

  test('of a database only its id and tables are stored', () => {
    const db = { id: 'main', type: 'sqlite', db_url: 'sqlite:///tmp/x.db', session_table: 's' };
    expect(storedConfig({ name: 'A', db })).toEqual({ name: 'A', db: { id: 'main', session_table: 's' } });
    expect(storedConfig({ name: 'A', db: null })).toEqual({ name: 'A' });
  });
});

describe('the registry', () => {
  test('knows what components use, also inside teams and workflows', () => {
    const draft = () => 'draft';
    const done = () => true;
    const flow = workflow({ id: 'flow', steps: [draft, mates, helper] });
    const listed = new Registry({
      components: [flow, bank],
      settings: { functions: { done }, schemas: { Order: { type: 'object' } } },
    });
    const names = (type: string) =>
      listed
        .entries([{ id: 'main', kind: 'sqlite' }])
        .filter((entry) => entry.type === type)
        .map(({ name }) => name);
    expect(names('function')).toEqual(
      expect.arrayContaining(['draft', 'done', 'greeting', 'clock', 'watch', 'find']),
    );
    expect(names('tool')).toEqual(['pay', 'wire', 'maths']);
    expect(names('agent')).toEqual(['helper', 'Bank']);
    expect(names('team')).toEqual(['mates']);
    expect(names('schema')).toEqual(['Order', 'Ticket', 'bank.output_schema']);
    expect(names('knowledge')).toEqual(['handbook']);
    expect(names('hook')).toEqual(['look', 'checked']);
    expect(names('memory_manager')).toEqual(['bank']);
    expect(names('db')).toEqual(['main']);
    const shown = listed.entries().find(({ name }) => name === 'wire');
    expect(shown?.metadata).toMatchObject({ is_toolkit: false, requires_confirmation: true });
  });
});
