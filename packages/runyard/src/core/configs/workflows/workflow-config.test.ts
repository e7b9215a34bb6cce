import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  agent,
  condition,
  foreach,
  loop,
  parallel,
  router,
  step,
  steps,
  team,
  workflow,
} from '../../../index.js';
import { scriptedModel } from '../../../testing.js';
import type { JsonObject } from '../../json.js';
import { keysOf } from '../../objects.js';
import { Registry } from '../../registry/registry.js';
import { Expression } from '../../workflows/definition/cel.js';
import type { ReviewSettings } from '../../workflows/definition/node.js';
import type { WorkflowSettings } from '../../workflows/workflow-options.js';
import { buildComponent } from '../build-component.js';
import { checkConfig } from '../check-config.js';
import type { BuiltComponent, ConfigSite } from '../component-config.js';
import type { ConfigKey } from '../config-keys.js';
import { configOf } from '../config-of.js';
import { componentReferences } from '../references.js';
import { nodeForms } from './node-forms.js';
import { workflowForm } from './workflow-form.js';

const model = scriptedModel([]);
const writer = agent({ id: 'writer', name: 'Writer', model });
const crew = team({ id: 'crew', model, members: [writer] });
const inner = workflow({ id: 'inner', steps: [writer] });
const research = () => 'found';
const isEnough = () => true;
const chooses = () => 'fast';

const review: ReviewSettings = {
  requiresConfirmation: true,
  confirmationMessage: 'Go on?',
  requiresUserInput: true,
  userInputMessage: 'Who is it for?',
  userInputSchema: [
    { name: 'tone', type: 'str', description: 'How', required: false, allowedValues: ['dry', 1, true] },
    { name: 'length' },
  ],
  requiresOutputReview: true,
  outputReviewMessage: 'Good?',
  onReject: 'cancel',
  maxRetries: 2,
  timeoutMs: 90_500,
  onTimeout: 'approve',
};
const groupReview: ReviewSettings = { requiresConfirmation: true, onReject: 'skip' };

/** Every option of every builder, and each way to give it. */
const settings: WorkflowSettings = {
  name: 'Newsletter',
  description: 'Writes one.',
  steps: [
    research,
    writer,
    crew,
    inner,
    step({
      name: 'careful',
      description: 'Takes its time.',
      agent: writer,
      review,
      maxRetries: 4,
      backoff: { delayMs: 10, factor: 3, maximumMs: 100 },
      skipOnFailure: true,
      onError: 'pause',
      timeoutMs: 5_000,
      inputSchema: z.object({ found: z.string() }).meta({ title: 'Found' }),
      outputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    }),
    step({ name: 'judged', run: research, review: { requiresOutputReview: isEnough } }),
    steps([research]),
    steps({ name: 'both', description: 'Two', review: groupReview, steps: [research, writer] }),
    parallel({
      name: 'at once',
      description: 'Two',
      maxParallel: 2,
      steps: [research, steps([crew])],
    }),
    foreach(step({ name: 'item', run: research }), {
      name: 'each',
      description: 'All',
      concurrency: 4,
      review: groupReview,
    }),
    parallel({ name: 'reviewed', review: groupReview, steps: [research] }),
    loop({
      name: 'again',
      description: 'Until',
      maxIterations: 7,
      until: isEnough,
      forwardOutput: true,
      review: { requiresIterationReview: true },
      steps: [writer],
    }),
    loop({ until: 'current_iteration > 2', steps: [writer] }),
    condition({
      name: 'if',
      description: 'Maybe',
      when: isEnough,
      review: { requiresConfirmation: true, onReject: 'else' },
      steps: [writer],
      otherwise: [research, condition({ when: true, steps: [research], otherwise: [writer] })],
    }),
    condition({ name: 'cel', when: 'input == "x"', steps: [writer] }),
    router({
      name: 'way',
      description: 'One',
      select: chooses,
      review: { ...groupReview, requiresRouteReview: true },
      choices: [step({ name: 'fast', run: research }), writer],
    }),
    router({ select: 'step_choices[0]', choices: [writer] }),
    router({
      name: 'asks',
      select: 'user',
      allowMultiple: true,
      review: { userInputMessage: 'Which?' },
      choices: [writer],
    }),
  ],
  inputSchema: z.object({ topic: z.string() }).meta({ title: 'Topic' }),
  sessionState: { count: 1 },
  addHistoryToSteps: true,
  numHistoryRuns: 5,
  agent: writer,
  database: 'archive',
  metadata: { owner: 'ada' },
  maxParallel: 3,
  priority: 'low',
  limits: { steps: 50, toolCalls: 10, tokens: null, cost: 2.5, timeMs: 1_000, bytes: 4_096 },
};
const original = workflow({ id: 'newsletter', ...settings });
const registry = new Registry({ components: [original] });
const known: readonly BuiltComponent[] = [writer, crew, inner];
const site: ConfigSite = {
  registry,
  databases: ['default', 'archive'],
  component: ({ kind, id }) => known.find((one) => one.kind === kind && one.id === id),
};

function built(config: JsonObject) {
  return buildComponent('workflow', 'w', config, site);
}

/** Expressions as their texts: what they are compiled to is another value each time. */
function comparable(value: unknown): unknown {
  if (value instanceof Expression) return { cel: value.text };
  if (Array.isArray(value)) return value.map(comparable);
  if (Object.prototype.toString.call(value) !== '[object Object]' || known.some((one) => one === value))
    return value;
  return Object.fromEntries(Object.entries(Object(value)).map(([key, one]) => [key, comparable(one)]));
}

describe('a workflow of the code and its configuration', () => {
  const config = configOf(original, registry);

  test('the configuration builds the same workflow again', () => {
    const again = buildComponent('workflow', 'newsletter', JSON.parse(JSON.stringify(config)), site);
    expect(comparable('nodes' in again && again.nodes)).toEqual(comparable(original.nodes));
    const { steps: _, ...others } = settings;
    expect(again.settings).toMatchObject(others);
    expect(again.fingerprint).toBe(original.fingerprint);
    expect(configOf(again, registry)).toEqual(config);
  });

  test('limits that a function chooses have no configuration', () => {
    const chosen = workflow({ id: 'newsletter', ...settings, limits: () => ({ steps: 5 }) });
    expect(() => configOf(chosen, registry)).toThrow('limits is a function of the run');
  });

  test('the example has every key of every form', () => {
    const written = new Map<string, Set<string>>();
    const visit = (entry: JsonObject): void => {
      const type = String(entry.type);
      written.set(type, new Set([...(written.get(type) ?? []), ...keysOf(entry)]));
      for (const list of [entry.steps, entry.choices, entry.else_steps])
        if (Array.isArray(list)) for (const one of list) visit(Object(one));
    };
    visit({ ...config, type: 'workflow' });
    const keys = (form: { readonly keys: object }) =>
      Object.values<ConfigKey>({ ...form.keys }).flatMap((one) =>
        one.keys[0] === 'id' ? [] : (one.keys[0] ?? []),
      );
    const { Workflow: _nested, ...types } = nodeForms;
    for (const type of keysOf(types))
      expect([...(written.get(type) ?? [])]).toEqual(expect.arrayContaining(keys(types[type].form)));
    expect([...(written.get('workflow') ?? [])]).toEqual(expect.arrayContaining(keys(workflowForm)));
  });

  test('a function that is the whole workflow is named, too', () => {
    const whole = workflow({ id: 'whole', steps: research });
    const written = configOf(whole, new Registry({ components: [whole] }));
    expect(written).toEqual({ steps: 'research' });
    expect(built(written)).toMatchObject({ whole: research });
  });

  test('functions that are written in place are named after it, and not after their setting', () => {
    const inline = workflow({
      id: 'inline',
      steps: [
        step({ name: 'a', run: () => 'a' }),
        step({ name: 'b', run: () => 'b' }),
        loop({ name: 'c', until: () => true, steps: [step({ name: 'd', run: research })] }),
      ],
    });
    const spoken = agent({ id: 'spoken', model, instructions: () => 'Speak.' });
    const registry = new Registry({ components: [inline, spoken], settings: { models: [model] } });
    const { steps: written } = configOf(inline, registry);
    expect(written).toMatchObject([
      { executor_ref: 'inline.a' },
      { executor_ref: 'inline.b' },
      { end_condition: 'inline.c', steps: [{ executor_ref: 'research' }] },
    ]);
    expect(configOf(spoken, registry).instructions).toEqual({ $function: 'spoken.instructions' });
  });

  test('an expression that cannot be read is refused in a sentence with its place', () => {
    const faults = checkConfig('workflow', {
      steps: [
        { type: 'Condition', evaluator: 'size(', evaluator_type: 'cel', steps: [{ agent_id: 'writer' }] },
      ],
    });
    expect(faults).toEqual([
      {
        path: 'steps[0].evaluator',
        message: expect.stringMatching(/^is invalid: .* has the CEL text 'size\('/),
      },
    ]);
  });

  test('a function without a name is refused with its place', () => {
    const unnamed = workflow({
      id: 'unnamed',
      steps: [
        loop({
          name: 'l',
          until: (
            () => () =>
              true
          )(),
          steps: [() => 'x'],
        }),
      ],
    });
    expect(() => configOf(unnamed, new Registry({ components: [unnamed] }))).toThrow(
      /steps\[0\]\.steps\[0\]\.executor_ref is .*registry.*steps\[0\]\.end_condition is/s,
    );
  });
});

describe('keys of the wire', () => {
  test.each<[keyof typeof nodeForms | 'workflow', string]>([
    [
      'workflow',
      'name description steps db user_id session_id session_state overwrite_db_session_state add_workflow_history_to_steps num_history_runs stream stream_events stream_executor_events store_events store_executor_outputs input_schema metadata dependencies add_dependencies_to_context add_session_state_to_context debug_mode telemetry',
    ],
    [
      'Step',
      'name step_id description agent_id team_id workflow_id executor_ref max_retries skip_on_failure strict_input_validation add_workflow_history num_history_runs human_review',
    ],
    ['Steps', 'name description steps'],
    ['Parallel', 'name description steps'],
    ['Loop', 'steps max_iterations end_condition end_condition_type forward_iteration_output'],
    ['Condition', 'steps else_steps evaluator evaluator_type'],
    [
      'Router',
      'choices selector selector_type requires_user_input user_input_message user_input_schema allow_multiple_selections',
    ],
  ])('%s has those of the contract', (type, contract) => {
    const { keys, without = {}, others = [] } = type === 'workflow' ? workflowForm : nodeForms[type].form;
    const known = Object.values<ConfigKey>({ ...keys }).flatMap((one) => one.keys);
    expect([...known, ...keysOf(without), ...others]).toEqual(expect.arrayContaining(contract.split(' ')));
  });

  test('a step without a type is a Step, and a nested workflow has a type of its own', () => {
    const again = built({
      steps: [
        {
          name: 'one',
          step_id: 's1',
          agent_id: 'writer',
          strict_input_validation: false,
          num_history_runs: 3,
        },
        { type: 'Workflow', workflow_id: 'inner', description: null },
      ],
    });
    const nodes = 'nodes' in again ? again.nodes : [];
    expect(nodes.map(({ type, name }) => [type, name])).toEqual([
      ['Step', 'one'],
      ['Step', 'inner'],
    ]);
  });

  test('what the wire says in two places is read from both', () => {
    const again = built({
      steps: [
        { name: 's', executor_ref: 'research', human_review: { on_error: 'skip' } },
        {
          type: 'Router',
          name: 'r',
          choices: [{ agent_id: 'writer' }],
          requires_user_input: true,
          user_input_message: 'Which?',
        },
        { type: 'Condition', name: 'c', evaluator: false, steps: [{ agent_id: 'writer' }] },
      ],
    });
    expect('nodes' in again && again.nodes).toMatchObject([
      { onError: 'skip' },
      { select: 'user', review: { userInputMessage: 'Which?' } },
      { when: false },
    ]);
  });

  test('references have the kind and the key of their links', () => {
    const config: JsonObject = {
      agent_id: 'front',
      steps: [
        { name: 'write', step_id: 's1', agent_id: 'writer' },
        {
          type: 'Condition',
          evaluator: true,
          steps: [{ name: 'team', team_id: 'crew' }],
          else_steps: [
            { name: 'other', agent_id: 'writer' },
            {
              type: 'Condition',
              evaluator: true,
              steps: [{ workflow_id: 'inner' }],
              else_steps: [{ name: 'deep', agent_id: 'writer' }],
            },
          ],
        },
      ],
    };
    const found = componentReferences('workflow', config);
    expect(found.map(({ linkKind, linkKey, id, path }) => [linkKind, linkKey, id, path])).toEqual([
      ['step_agent', 's1', 'writer', 'steps[0].agent_id'],
      ['step_team', 'team', 'crew', 'steps[1].steps[0].team_id'],
      ['step_agent', 'other#else', 'writer', 'steps[1].else_steps[0].agent_id'],
      ['step_workflow', 'inner#else', 'inner', 'steps[1].else_steps[1].steps[0].workflow_id'],
      ['step_agent', 'deep#else#else', 'writer', 'steps[1].else_steps[1].else_steps[0].agent_id'],
      ['step_agent', '#agent', 'front', 'agent_id'],
    ]);
  });
});

const one = { agent_id: 'writer' };
let deep: JsonObject = one;
for (let level = 0; level < 10; level += 1) deep = { type: 'Steps', steps: [deep] };

describe('what is wrong is found without a service, with its place', () => {
  test.each<[string, JsonObject, RegExp]>([
    [
      'an unknown type',
      { steps: [{ type: 'Parralel', steps: [one] }] },
      /^steps\[0\]\.type is 'Parralel'.*Did you mean Parallel/,
    ],
    [
      'an unknown key',
      { steps: [{ ...one, max_retry: 1 }] },
      /^steps\[0\]\.max_retry is not a key of a step\. Did you mean max_retries/,
    ],
    [
      'a key without a setting',
      { steps: [{ ...one, strict_input_validation: true }] },
      /^steps\[0\]\.strict_input_validation is true, which Runyard does not support/,
    ],
    [
      'the same of the workflow',
      { steps: [one], store_events: true },
      /^store_events is true, which Runyard does not support/,
    ],
    ['nobody', { steps: [{ name: 'x' }] }, /^steps\[0\] has nothing that executes it\. Give exactly one of/],
    ['two', { steps: [{ agent_id: 'a', team_id: 't' }] }, /^steps\[0\] has agent_id and team_id/],
    [
      'a workflow that is an agent',
      { steps: [{ type: 'Workflow', agent_id: 'a' }] },
      /^steps\[0\] has agent_id\. Give workflow_id/,
    ],
    ['no list', { steps: 7 }, /^steps is 7\. Give a list/],
    ['no object', { steps: ['x'] }, /^steps\[0\] is 'x'\. Give an object/],
    ['an empty list', { steps: [] }, /^steps is an empty list/],
    [
      'a wrong number',
      { steps: [{ type: 'Loop', steps: [one], max_iterations: 0 }] },
      /^steps\[0\]\.max_iterations is 0/,
    ],
    ['no condition', { steps: [{ type: 'Condition', steps: [one] }] }, /^steps\[0\]\.evaluator is missing/],
    ['no selector', { steps: [{ type: 'Router', choices: [one] }] }, /^steps\[0\]\.selector is missing/],
    [
      'a broken expression',
      { steps: [{ type: 'Loop', steps: [one], end_condition: 'nope >', end_condition_type: 'cel' }] },
      /^steps\[0\]\.end_condition .*CEL/,
    ],
    [
      'a wrong review',
      { steps: [{ ...one, human_review: { on_reject: 'maybe' } }] },
      /^steps\[0\]\.human_review\.on_reject is 'maybe'/,
    ],
    [
      'a policy of a group',
      { steps: [{ type: 'Steps', steps: [one], human_review: { on_error: 'skip' } }] },
      /^steps\[0\]\.human_review\.on_error is 'skip'/,
    ],
    ['too deep', { steps: [deep] }, /^steps\[0\].*\.steps is deeper than 10 levels/],
    [
      'too many',
      {
        steps: Array.from({ length: 20 }, (_, n) => ({
          type: 'Steps',
          name: `g${n}`,
          steps: Array.from({ length: 60 }, () => one),
        })),
      },
      /beyond 1000 steps/,
    ],
  ])('%s', (_what, config, expected) => {
    const [fault, ...others] = checkConfig('workflow', config);
    expect(`${fault?.path} ${fault?.message}`).toMatch(expected);
    expect(others).toEqual([]);
  });

  test('what only a service knows is found when it is built', () => {
    const config: JsonObject = {
      db: { id: 'nope' },
      steps: [
        { name: 'a', agent_id: 'ghost' },
        { name: 'b', executor_ref: 'reserch' },
      ],
    };
    expect(checkConfig('workflow', config)).toEqual([]);
    expect(() => built(config)).toThrow(
      /steps\[0\]\.agent_id names the agent 'ghost'.*steps\[1\]\.executor_ref names the function 'reserch'.*Did you mean 'research'.*db\.id names the database 'nope'/s,
    );
    expect(() =>
      built({
        steps: [
          { name: 'x', ...one },
          { name: 'x', ...one },
        ],
      }),
    ).toThrow(/two steps with the name 'x'/);
  });
});
