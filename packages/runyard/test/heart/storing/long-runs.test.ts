import { expect, test } from 'vitest';
import type { RunContext } from '../../../src/core/runs/context.js';
import type { Executable } from '../../../src/core/runs/executable.js';
import { contextWith } from '../../../src/core/teams/members/member-events.js';
import { agent, loop, step, team, tool, workflow } from '../../../src/index.js';
import { type ScriptedModel, type ScriptedToolCall, scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, freshStore } from '../harness.js';
import { ask, call } from '../teams/team-runs.js';

/** How many turns are counted, and how many lie between the early and the late ones. */
const turns = 120;
const window = 20;

/** A component whose looks at steps of its journal are counted, by turn. */
function watched() {
  let looks = 0;
  const atTurn: number[] = [];
  const watching = (context: RunContext): RunContext => {
    const counted = <T extends { readonly length: number }>(steps: T): T => {
      looks += steps.length;
      return steps;
    };
    return contextWith(context, {
      steps: (kind) => counted(context.steps(kind)),
      allSteps: () => counted(context.allSteps()),
      child: (child) => watching(context.child(child)),
    });
  };
  return {
    turn: () => void atTurn.push(looks),
    /** The steps that the turns up to this one have looked at since `window` turns before it. */
    looksBefore: (turn: number) => atTurn[turn]! - atTurn[turn - window]!,
    of: (component: Executable): Executable =>
      Object.create(component, {
        execute: { value: (context: RunContext) => component.execute(watching(context)) },
      }) as Executable,
  };
}

async function run(component: Executable): Promise<string> {
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const { run } = await (await begin(engine, component)).ended;
  return run.status;
}

const look = tool({ name: 'look', description: 'Looks', execute: () => 'seen '.repeat(200) });
const member = () => agent({ id: 'm', model: scriptedModel(() => 'ok') });

const conversations = {
  'an agent with tools': (model) => agent({ id: 'a', model, tools: [look], toolCallLimit: 5_000 }),
  'an agent that shortens results': (model) =>
    agent({
      id: 'a',
      model,
      tools: [look],
      compressToolResults: true,
      compressToolResultsAboveTokens: 500,
      compressionModel: scriptedModel(() => 'short'),
    }),
  'a team': (model) => team({ id: 'a', model, members: [member()], maxDelegations: 5_000 }),
  'a team with tasks': (model) => team({ id: 'a', model, members: [member()], mode: 'tasks' }),
} satisfies Record<string, (model: ScriptedModel) => Executable>;

function asked(name: string, turn: number): ScriptedToolCall {
  if (name === 'a team') return ask('m', 'go', `c${turn}`);
  if (name !== 'a team with tasks') return call('look', {}, `c${turn}`);
  return turn % 2 === 0
    ? call('create_task', { title: `task ${turn}` }, `c${turn}`)
    : call('execute_task', { task_id: `task ${turn - 1}` }, `c${turn}`);
}

test.each(Object.entries(conversations))(
  'a late turn of %s looks at no more steps than an early one',
  async (name, make) => {
    const watch = watched();
    const model = scriptedModel((_request, turn) => {
      watch.turn();
      return turn < turns ? { toolCalls: [asked(name, turn)] } : 'done';
    });
    expect(await run(watch.of(make(model)))).toBe('completed');
    expect(watch.looksBefore(turns)).toBeLessThanOrEqual(watch.looksBefore(2 * window));
  },
);

test('a late iteration of a loop looks at no more steps than an early one', async () => {
  for (const executes of ['function', 'agent']) {
    const watch = watched();
    const model = scriptedModel(() => {
      watch.turn();
      return 'x';
    });
    const inside =
      executes === 'agent'
        ? step({ name: 's', agent: agent({ id: 'in', model }) })
        : step({
            name: 's',
            run: () => {
              watch.turn();
              return 'x';
            },
          });
    const again = loop({ name: 'again', maxIterations: turns, steps: [inside] });
    expect(await run(watch.of(workflow({ id: 'w', steps: [again] })))).toBe('completed');
    expect(watch.looksBefore(turns - 1)).toBeLessThanOrEqual(watch.looksBefore(2 * window));
  }
});
