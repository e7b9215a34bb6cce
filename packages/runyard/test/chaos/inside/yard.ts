import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  agent,
  condition,
  loop,
  parallel,
  Runyard,
  router,
  type StepContext,
  type StepEntry,
  step,
  steps,
  team,
  tool,
  workflow,
} from 'runyard';
import { type ScriptedAnswer, scriptedModel } from 'runyard/testing';
import { patience } from '../../support/patience.js';
import { folder, work } from './holds.js';

/**
 * Teams of each mode and workflows of each kind of step, for tests that kill the service within them. What the
 * models say follows from the conversation alone.
 */
const { CHAOS_DATABASE: database, CHAOS_SETTINGS: settings = '{}' } = process.env;

const nothing = { type: 'object', properties: {} } as const;

function workTool(name: string, owner: string, flags: object = {}) {
  return tool({
    name,
    description: 'Leaves a trace',
    inputSchema: nothing,
    ...flags,
    execute: async (_args, { idempotencyKey, signal }) => {
      await work(`${owner} ${name}`, idempotencyKey, signal);
      return `${name} is done`;
    },
  });
}

/** Calls one tool after the other, then says that it is done. */
function inOrder(owner: string, calls: readonly { name: string; arguments?: object }[]) {
  return scriptedModel(({ messages }): ScriptedAnswer => {
    const start = messages.findLastIndex(({ role }) => role === 'user');
    const done = messages.slice(start).filter(({ role }) => role === 'tool').length;
    const next = calls[done];
    if (next === undefined) return { text: `${owner} is done` };
    return { toolCalls: [{ id: `${owner}-${done}`, name: next.name, arguments: { ...next.arguments } }] };
  });
}

/** Does something quick and then something that a test can hold. */
const worker = (id: string) =>
  agent({
    id,
    model: inOrder(id, [{ name: 'begin' }, { name: 'finish' }]),
    tools: [workTool('begin', id), workTool('finish', id)],
  });
/** Does something that a person has to confirm. */
const signer = (id: string) =>
  agent({
    id,
    model: inOrder(id, [{ name: 'sign' }]),
    tools: [workTool('sign', id, { requiresConfirmation: true, sideEffects: true })],
  });

const [ada, bob, cleo] = [worker('ada'), worker('bob'), worker('cleo')];
const workers = [ada, bob, cleo];
// in teams whose members a test does not hold with bob
const [dan, eve] = [worker('dan'), worker('eve')];
const signers = ['kim', 'lou'].map(signer);
const ask = (member_id: string) => ({
  name: 'delegate_task_to_member',
  arguments: { member_id, task: 'Go' },
});
const askAll = { name: 'delegate_task_to_members', arguments: { task: 'Go' } };
const task = (title: string, assignee: string) => ({ name: 'create_task', arguments: { title, assignee } });
const perform = (task_id: string) => ({ name: 'execute_task', arguments: { task_id } });

const coordinate = team({
  id: 'coordinate',
  model: inOrder('leader', [ask('ada'), ask('bob')]),
  members: workers,
});
const teams = [
  coordinate,
  team({ id: 'route', mode: 'route', model: inOrder('leader', [ask('bob')]), members: workers }),
  team({
    id: 'broadcast',
    mode: 'broadcast',
    model: inOrder('leader', [askAll]),
    members: [ada, dan, cleo],
  }),
  team({ id: 'cancelled', model: inOrder('leader', [ask('ada'), ask('eve')]), members: [ada, eve] }),
  team({
    id: 'tasks',
    mode: 'tasks',
    model: inOrder('leader', [
      task('First', 'ada'),
      task('Second', 'bob'),
      perform('First'),
      perform('Second'),
      { name: 'mark_all_complete', arguments: { summary: 'done' } },
    ]),
    members: workers,
  }),
  team({ id: 'nested', model: inOrder('leader', [ask('coordinate')]), members: [coordinate] }),
  team({ id: 'signing', mode: 'broadcast', model: inOrder('leader', [askAll]), members: signers }),
];

/**
 * Steps whose traces begin with a word of their own: what a test orders about the steps of one workflow holds for no
 * other one.
 */
function traced(as: string) {
  const does = (name: string, more: object = {}) =>
    step({
      name,
      ...more,
      run: async ({ idempotencyKey, signal }: StepContext) => {
        await work(as + name, idempotencyKey, signal);
        return `${name} is done`;
      },
    });
  /** Fails as long as the test wants it to. */
  const fails = (name: string, more: object) =>
    step({
      name,
      ...more,
      run: async ({ idempotencyKey, signal }: StepContext) => {
        await work(as + name, idempotencyKey, signal);
        if (!existsSync(join(folder, `fail-${as}${name}`))) return `${name} is done`;
        rmSync(join(folder, `fail-${as}${name}`));
        throw new Error(`${name} fails`);
      },
    });
  const around = (id: string, ...between: StepEntry[]) =>
    workflow({ id, steps: [does('first'), ...between, does('last')] });
  return { does, fails, around };
}

const { does, around } = traced('');
const looped = traced('loop: ');
const retried = traced('retried: ');
const asked = traced('asked: ');
const timed = traced('timed: ');
const confirmed = { requiresConfirmation: true };
const inner = workflow({ id: 'inner', steps: [does('one'), does('held'), does('two')] });

const workflows = [
  around('function', does('held')),
  around('agent', step({ name: 'agent', agent: bob })),
  around('team', step({ name: 'team', team: coordinate })),
  around('workflow', step({ name: 'inner', workflow: inner })),
  around('steps', steps({ name: 'group', steps: [does('one'), does('held'), does('two')] })),
  around(
    'parallel',
    parallel({
      name: 'both',
      steps: [does('one'), does('held'), step({ name: 'agent', agent: ada })],
    }),
  ),
  looped.around(
    'loop',
    loop({ name: 'again', steps: [looped.does('one'), looped.does('held')], maxIterations: 2 }),
  ),
  around('condition', condition({ name: 'if', when: 'input == "Go"', steps: [does('one'), does('held')] })),
  around('router', router({ name: 'way', choices: [does('other'), does('held')], select: () => 'held' })),
  retried.around('retried', retried.fails('held', { maxRetries: 3, backoff: { delayMs: 20 } })),
  asked.around('confirmed', asked.does('held', { review: confirmed })),
  asked.around(
    'filled',
    asked.does('held', { review: { userInputSchema: [{ name: 'seat', type: 'int' }] } }),
  ),
  asked.around('reviewed', asked.does('held', { review: { requiresOutputReview: true } })),
  asked.around(
    'iterated',
    loop({
      name: 'again',
      steps: [asked.does('held')],
      maxIterations: 1,
      review: { requiresIterationReview: true },
    }),
  ),
  asked.around(
    'chosen',
    router({ name: 'way', choices: [asked.does('other'), asked.does('held')], select: 'user' }),
  ),
  asked.around('mended', asked.fails('held', { maxRetries: 0, onError: 'pause' })),
  asked.around('executor', step({ name: 'held', agent: signers[0]! })),
  timed.around(
    'timed',
    timed.does('held', { review: { ...confirmed, timeoutMs: patience(2_500), onTimeout: 'approve' } }),
  ),
];

export const app = new Runyard({
  port: 0,
  dataDir: folder,
  ...(database !== undefined && { database }),
  autoMigrate: true,
  logFormat: 'json',
  logLevel: 'warn',
  teams,
  workflows,
  ...(JSON.parse(settings) as object),
});
