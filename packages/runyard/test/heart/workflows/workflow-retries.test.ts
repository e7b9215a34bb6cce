import { describe, expect, test } from 'vitest';
import type { StepRecord } from '../../../src/core/runs/run.js';
import {
  agent,
  condition,
  loop,
  ModelError,
  parallel,
  router,
  type StepSettings,
  step,
  stepOutput,
  steps,
  team,
  type Workflow,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { until } from '../../support/until.js';
import { allEvents, begin, engineOver, freshStore } from '../harness.js';
import { ran, workflowRun } from './workflow-runs.js';

const hour = 3_600_000;

function shaky(settings: Partial<StepSettings> = {}, failures = Number.POSITIVE_INFINITY) {
  const calls: number[] = [];
  const flow = workflow({
    id: 'w',
    steps: [
      step({
        name: 'shaky',
        run: () => {
          calls.push(Date.now());
          if (calls.length <= failures) throw new Error('no luck');
          return 'at last';
        },
        ...settings,
      } as StepSettings),
    ],
  });
  return { flow, calls };
}

const gone = () => new ModelError('gone', { provider: 'P', kind: 'refused' });

function triesIn(journal: readonly StepRecord[]) {
  return journal
    .filter(({ kind }) => kind === 'try')
    .map(({ input, endedAt }) => ({ ...(input as { delay_ms: number }), endedAt: endedAt! }));
}

describe('between the tries of a step', () => {
  test('the wait grows, and a part of it is left to chance', async () => {
    const { flow, calls } = shaky({ backoff: { delayMs: 40, maximumMs: 100 } }, 3);
    const { run, steps: journal } = await (await ran(flow)).look();
    expect(run.result!.content).toBe('at last');
    const tries = triesIn(journal);
    expect(tries).toHaveLength(3);
    for (const [position, whole] of [40, 80, 100].entries()) {
      const { delay_ms: delayMs, endedAt } = tries[position]!;
      expect(delayMs).toBeLessThanOrEqual(whole);
      expect(delayMs).toBeGreaterThanOrEqual(whole * 0.75);
      // a timer may be a millisecond early
      expect(calls[position + 1]! - endedAt).toBeGreaterThanOrEqual(delayMs - 2);
    }
  });

  test('there is a wait when nothing is said about it', async () => {
    const { flow } = shaky({ maxRetries: 1 }, 1);
    const [only] = triesIn((await (await ran(flow)).look()).steps);
    expect(only!.delay_ms).toBeGreaterThanOrEqual(375);
  });

  test('a cancelled run waits no longer', async () => {
    const { flow, calls } = shaky({ backoff: { delayMs: hour, maximumMs: hour } });
    const store = await freshStore();
    const engine = engineOver(store, [flow]);
    const handle = await begin(engine, flow);
    await until('the step has failed once', () => calls.length === 1);
    handle.cancel('Enough');
    expect((await handle.ended).run.status).toBe('cancelled');
    expect(calls).toHaveLength(1);
  });

  test.each(['a function', 'an agent'])('the time of the run includes it: %s', async (what) => {
    const model = scriptedModel(() => ({ error: gone() }));
    const work =
      what === 'an agent' ? { agent: agent({ id: 'a', model }) } : { run: () => Promise.reject(gone()) };
    const flow = workflow({
      id: 'w',
      limits: { timeMs: 300 },
      steps: [
        step({
          name: 's',
          maxRetries: 3,
          backoff: { delayMs: hour, maximumMs: hour },
          ...work,
        } as StepSettings),
      ],
    });
    const { run } = await (await ran(flow)).look();
    expect(run).toMatchObject({ status: 'error', result: { error: { type: 'limit_exceeded' } } });
  });
});

describe('a process that dies between two tries', () => {
  /** Runs the workflow in an engine that dies once `failed` says that the first try is stored, then in another one. */
  async function takenOver(first: Workflow, second: Workflow, isStored: (step: StepRecord) => boolean) {
    const store = await freshStore();
    const dead = engineOver(store, [first], { owner: 'dead', leaseMs: 1 });
    const { runId } = await begin(dead, first, { background: true });
    await until('the first try is stored', async () => (await store.load(runId))?.steps.some(isStored));
    await until('the lease has ended', async () => (await store.leases.expired(10, 0)).length === 1);
    const next = engineOver(store, [second]);
    await next.recover();
    await allEvents({ events: () => next.events(runId, 0) });
    return workflowRun(store, next, runId).look();
  }

  test('leaves a function the tries that it had left', async () => {
    const settings = { maxRetries: 1, backoff: { delayMs: 400 } };
    const first = shaky(settings);
    const second = shaky(settings);
    const { run, steps: journal } = await takenOver(first.flow, second.flow, ({ kind }) => kind === 'try');
    expect(run.status).toBe('error');
    expect(second.calls).toHaveLength(1);
    const [tried] = triesIn(journal);
    expect(second.calls[0]! - tried!.endedAt).toBeGreaterThanOrEqual(tried!.delay_ms - 2);
  });

  test('leaves an agent the tries that it had left', async () => {
    const make = () => {
      const model = scriptedModel(() => ({ error: gone() }));
      const member = agent({ id: 'a', model });
      const flow = workflow({
        id: 'w',
        steps: [step({ name: 's', agent: member, maxRetries: 1, backoff: { delayMs: 400 } })],
      });
      return { flow, model };
    };
    const second = make();
    const { run, runs } = await takenOver(
      make().flow,
      second.flow,
      ({ kind, status, key }) => kind === 'step' && status === 'completed' && key.includes('run'),
    );
    expect(run.status).toBe('error');
    expect(second.model.requests).toHaveLength(1);
    expect(runs).toHaveLength(2);
  });
});

describe('an order that was not paid', () => {
  const declined = () => Promise.reject(new Error('declined'));
  const pay = (settings = {}) => step({ name: 'pay', maxRetries: 0, run: declined, ...settings });
  const payer = agent({ id: 'payer', model: scriptedModel(() => ({ error: gone() })) });
  const desk = team({ id: 'desk', model: scriptedModel(() => ({ error: gone() })), members: [payer] });

  const ordered = async (...before: Parameters<typeof parallel>[0] & object[]) => {
    let shipped = false;
    const ship = () => {
      shipped = true;
      return 'shipped';
    };
    const output = await workflow({ id: 'order', steps: [...before, ship] as never }).run('go');
    return { ...output, shipped };
  };

  test.each([
    ['a function', () => declined],
    ['a step', () => pay()],
    ['an agent', () => payer],
    ['a team', () => desk],
    ['a workflow inside', () => workflow({ id: 'payment', steps: [pay()] })],
    ['a group', () => steps([pay()])],
    ['one of several side by side', () => parallel([pay(), () => 'thanks'])],
    ['a loop', () => loop({ steps: [pay()], maxIterations: 2 })],
    ['a condition', () => condition({ when: true, steps: [pay()] })],
    ['the other way of a condition', () => condition({ when: false, steps: [() => ''], otherwise: [pay()] })],
    ['a choice', () => router({ choices: [pay()], select: () => 'pay' })],
    ['time that is up', () => pay({ run: () => new Promise(() => {}), timeoutMs: 20 })],
    ['a failure that the step reports', () => pay({ run: () => stepOutput({ success: false }) })],
    ['an error that the step reports', () => pay({ run: () => stepOutput({ error: 'declined' }) })],
  ])('is not shipped: %s', async (_, make) => {
    const quick = make();
    const first = typeof quick === 'function' ? step({ name: 'pay', run: quick, maxRetries: 0 }) : quick;
    expect(await ordered(first as never)).toMatchObject({ status: 'error', shipped: false, error: {} });
  });

  test('is shipped when the step says that it can be skipped', async () => {
    for (const settings of [{ onError: 'skip' }, { skipOnFailure: true }])
      expect(await ordered(pay(settings) as never)).toMatchObject({ status: 'completed', shipped: true });
  });

  test('waits for a person when the step says so, whether it throws or reports the failure', async () => {
    for (const run of [declined, () => stepOutput({ success: false })]) {
      const flow = workflow({ id: 'order', steps: [pay({ run, onError: 'pause' }), () => 'shipped'] });
      const paused = await flow.run('go');
      expect(paused).toMatchObject({ status: 'paused', requirements: [{ kind: 'error', stepName: 'pay' }] });
      const ended = await flow.continue(paused.runId, { answers: { pay: { decision: 'skip' } } });
      expect(ended).toMatchObject({ status: 'completed', content: 'shipped' });
    }
  });

  test('fails a workflow that is one function when that says so', async () => {
    const flow = workflow({ id: 'order', steps: () => stepOutput({ success: false }) });
    expect(await flow.run('go')).toMatchObject({ status: 'error', error: { code: 'workflow_failed' } });
  });
});
