import { describe, expect, test } from 'vitest';
import {
  bank,
  desk,
  faultsOf,
  offered,
  registry,
  site,
  whole,
  wholeTeam,
} from '../../../test/support/components/whole-components.js';
import { agentBodyOf } from '../../capabilities/components/agent-body.js';
import { teamBodyOf } from '../../capabilities/components/team-body.js';
import { agent, tool } from '../../index.js';
import { scriptedModel } from '../../testing.js';
import type { Json, JsonObject } from '../json.js';
import { Registry } from '../registry/registry.js';
import { agentForm } from './agent-form.js';
import { buildComponent } from './build-component.js';
import { checkConfig } from './check-config.js';
import type { ConfigForm, ConfigKey } from './config-keys.js';
import { configOf } from './config-of.js';
import { componentReferences } from './references.js';
import { teamForm } from './team-form.js';

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
      text_transforms: ['upper'],
      model_hooks: ['around'],
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
    const defaults = { system_message_role: 'system', build_context: true, debug_level: 1, telemetry: true };
    expect(checkConfig('agent', { ...defaults, user_id: null })).toEqual([]);
    expect(checkConfig('agent', { system_message: 'You are' })).toEqual([
      { path: 'system_message', message: "is 'You are', which Runyard does not support. Leave it out." },
    ]);
    expect(checkConfig('agent', { build_context: false })[0]?.message).toContain('or give true');
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
      'At most 1000000',
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
