import { expect, test } from 'vitest';
import type { RunContext } from '../../../src/core/runs/context.js';
import type { Executable } from '../../../src/core/runs/executable.js';
import { contextWith } from '../../../src/core/teams/members/member-events.js';
import { agent, foreach, type Json, loop, step, team, tool, workflow } from '../../../src/index.js';
import { type ScriptedModel, type ScriptedToolCall, scriptedModel } from '../../../src/testing.js';
import { answers, begin, engineOver, freshStore } from '../harness.js';
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
      partsOf: (key) => counted(context.partsOf(key)),
      stepsInside: (key) => counted(context.stepsInside(key)),
      child: (child) => watching(context.child(child)),
    });
  };
  return {
    turn: () => void atTurn.push(looks),
    looks: () => looks,
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

const gated = tool({ name: 'gated', description: 'Asks', requiresConfirmation: true, execute: () => 'yes' });
const asking = agent({
  id: 'in',
  model: scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'done' : { toolCalls: [call('gated', {}, 'c')] },
  ),
  tools: [gated],
  limits: { toolCalls: 9 },
});
const failed = new Set<string>();

/** What an item of the list does. Those that wait are answered in two requests. */
const items = {
  'functions that begin': step({ name: 's', run: () => 'x' }),
  'functions that fail once': step({
    name: 's',
    maxRetries: 1,
    backoff: { delayMs: 0 },
    run: ({ runId, previousStepContent }) => {
      const item = `${runId} ${String(previousStepContent)}`;
      if (failed.has(item)) return 'x';
      failed.add(item);
      throw new Error('once');
    },
  }),
  'functions that wait': step({ name: 's', run: async ({ suspend }) => (await suspend('Now?')).confirmed }),
  'functions whose runs wait': step({ name: 's', run: async ({ run: start }) => start(asking, 'go') }),
  'agents that wait': step({ name: 's', agent: asking }),
};

test.each(Object.entries(items))(
  'a continued foreach with %s looks at steps in proportion to its items',
  async (_what, item) => {
    const looks = async (count: number) => {
      const watch = watched();
      const list = step({
        name: 'list',
        run: async ({ suspend }) => {
          await suspend('Begin?');
          return Array.from({ length: count }, (_, index) => index);
        },
      });
      const flow = workflow({ id: 'w', steps: [list, foreach(item, { name: 'each', concurrency: 4 })] });
      const store = await freshStore();
      const component = watch.of(flow);
      const engine = engineOver(store, [component]);
      const { runId, ended } = await begin(engine, component);
      let { run: rested } = await ended;
      const answered: Json = { answer: 'confirmed', confirmed: true };
      for (let share = 2; rested.status === 'paused'; share = 1) {
        const { steps } = (await store.load(runId))!;
        const open = steps.filter(({ kind, status }) => kind === 'wait' && status === 'running');
        const given = open.slice(0, Math.ceil(open.length / share)).map(({ key }) => [key, answered]);
        ({ run: rested } = await (await engine.answer(runId, answers(Object.fromEntries(given)))).ended);
      }
      expect(rested).toMatchObject({ status: 'completed', result: { content: { length: count } } });
      return watch.looks();
    };
    const [few, many] = [await looks(40), await looks(80)];
    expect(many).toBeLessThan(2.1 * few);
  },
);
