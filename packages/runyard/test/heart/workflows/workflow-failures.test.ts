import { describe, expect, test } from 'vitest';
import { agent, ModelError, type StepContext, step, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { eventNames, ran } from './workflow-runs.js';

describe('steps that fail', () => {
  test('are retried and then skipped, with the failure as their output', async () => {
    let tries = 0;
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 'shaky',
          onError: 'skip',
          backoff: { delayMs: 1 },
          run: () => {
            tries += 1;
            throw new Error('no luck');
          },
        }),
        ({ previousStepContent }) => `after: ${String(previousStepContent)}`,
      ],
    });
    const run = await ran(flow);
    const { run: ended, results, states } = await run.look();
    expect(tries).toBe(4);
    expect(ended.status).toBe('completed');
    expect(results[0]).toMatchObject({
      success: false,
      error: 'no luck',
      content: expect.stringContaining('skipped: no luck'),
    });
    expect(ended.result!.content).toContain('after: Step');
    expect(states[0]).toMatchObject({ step_name: 'shaky', status: 'failed' });
    expect((await run.names()).filter((name) => name === 'StepCompleted')).toHaveLength(1);
  });

  test('an output that cannot be stored is reported, and the work is not repeated for it', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const outputs = { big: 1n, circular, function: () => '', endless: Number.POSITIVE_INFINITY };
    const done: string[] = [];
    const steps = Object.entries(outputs).map(([name, output]) =>
      step({
        name,
        onError: 'skip',
        run: () => {
          done.push(name);
          return output as never;
        },
      }),
    );
    const { stepResults } = await workflow({ id: 'w', steps }).run('go');
    expect(done).toEqual(Object.keys(outputs));
    expect(stepResults.map(({ error }) => error)).toEqual([
      'it returned a value that cannot be stored as JSON: BigInt',
      expect.stringMatching(/^it returned a value that cannot be stored as JSON: a circular reference at /),
      'it returned a value that cannot be stored as JSON: a function',
      'it returned a value that cannot be stored as JSON: Infinity',
    ]);
  });

  test('end the run by default, with one event, and the run is stored', async () => {
    const flow = workflow({
      id: 'w',
      steps: [
        () => 'fine',
        step({
          name: 'bad',
          maxRetries: 0,
          run: () => {
            throw new TypeError('broken');
          },
        }),
        () => 'never',
      ],
    });
    const run = await ran(flow);
    const { run: ended, results } = await run.look();
    expect(ended).toMatchObject({
      status: 'error',
      result: { error: { type: 'TypeError', message: "Step 'bad' failed: broken" } },
    });
    expect(results).toMatchObject([
      { success: true },
      { step_name: 'bad', success: false, error: expect.stringContaining('broken') },
    ]);
    const events = await run.events();
    expect(events.filter(({ event }) => event === 'WorkflowError')).toMatchObject([
      { workflow_id: 'w', run_id: run.runId, error: "Step 'bad' failed: broken", error_type: 'TypeError' },
    ]);
    expect(events.at(-1)!.event).toBe('WorkflowError');
  });

  test('an agent that fails hands its error on and did not succeed', async () => {
    const model = scriptedModel(() => ({
      error: new ModelError('gone', { provider: 'P', kind: 'refused' }),
    }));
    const flow = workflow({
      id: 'w',
      steps: [
        step({ agent: agent({ id: 'a', model }), onError: 'skip' }),
        ({ previousStepContent }) => previousStepContent,
      ],
    });
    const run = await ran(flow);
    const { run: ended, results, runs } = await run.look();
    expect(model.requests).toHaveLength(1);
    expect(results[0]).toMatchObject({
      success: false,
      content: expect.stringContaining('gone'),
      step_run_id: runs[0]!.run.runId,
    });
    expect(runs[0]!.run.status).toBe('error');
    expect(ended.result!.content).toBe(results[0]!.content);
    expect(eventNames(await run.events()).filter((name) => name.startsWith('StepCompleted'))).toHaveLength(1);
  });

  test('an agent is run again as often as asked for', async () => {
    let calls = 0;
    const model = scriptedModel(() => {
      calls += 1;
      return calls < 3 ? { error: new ModelError('gone', { provider: 'P', kind: 'refused' }) } : 'at last';
    });
    const again = { maxRetries: 2, backoff: { delayMs: 1 } };
    const flow = workflow({ id: 'w', steps: [step({ agent: agent({ id: 'a', model }), ...again })] });
    const { run, results, runs } = await (await ran(flow)).look();
    expect(run.result!.content).toBe('at last');
    expect(runs.map((inside) => inside.run.status)).toEqual(['error', 'error', 'completed']);
    expect(results[0]).toMatchObject({ success: true, step_run_id: runs[2]!.run.runId });
  });

  test('a step that takes too long is stopped: a function and an agent', async () => {
    let signal: AbortSignal | undefined;
    const model = scriptedModel([{ waitFor: new Promise(() => {}) }]);
    const flow = workflow({
      id: 'w',
      steps: [
        step({
          name: 'slow',
          maxRetries: 0,
          timeoutMs: 5,
          onError: 'skip',
          run: (context) => {
            signal = context.signal;
            return new Promise<string>(() => {});
          },
        }),
        step({ name: 'slow agent', agent: agent({ id: 'a', model }), timeoutMs: 5, onError: 'skip' }),
      ],
    });
    const run = await ran(flow);
    const { run: ended, results, runs } = await run.look();
    expect(ended.status).toBe('completed');
    expect(signal!.aborted).toBe(true);
    expect(results).toMatchObject([
      { success: false, error: expect.stringContaining('within 5 ms') },
      { success: false, error: expect.stringContaining('within 5 ms') },
    ]);
    expect(runs[0]!.run.status).toBe('cancelled');
  });
});

const before = () => 'before';
const after = ({ previousStepContent }: StepContext) => `after ${String(previousStepContent)}`;

describe('a step that failed and asks what to do', () => {
  const failing = () => {
    let tries = 0;
    return workflow({
      id: 'w',
      steps: [
        before,
        step({
          name: 'shaky',
          onError: 'pause',
          maxRetries: 0,
          run: () => {
            tries += 1;
            if (tries < 3) throw new RangeError(`no ${tries}`);
            return 'at last';
          },
        }),
        after,
      ],
    });
  };

  test('is retried, as often as the answers ask for it', async () => {
    const run = await ran(failing());
    const paused = await run.look();
    expect(paused.requirements).toMatchObject({
      pausedStepName: 'shaky',
      errorRequirements: [
        {
          step_name: 'shaky',
          step_index: 1,
          error_message: 'no 1',
          error_type: 'RangeError',
          retry_count: 0,
          decision: null,
        },
      ],
      stepRequirements: [],
    });
    expect(paused.requirements).not.toHaveProperty('pauseKind');
    expect(eventNames(await run.events()).slice(-2)).toEqual(['StepError shaky', 'WorkflowPaused']);
    const again = await run.answer({ decision: 'retry' }, 'error');
    expect(again.requirements.errorRequirements.at(-1)).toMatchObject({
      error_message: 'no 2',
      retry_count: 1,
    });
    expect((await run.answer({ decision: 'retry' }, 'error')).run.result!.content).toBe('after at last');
  });

  test('is skipped when the answer says so; anything else is refused', async () => {
    const run = await ran(failing());
    await expect(run.answer({ decision: 'maybe' }, 'error')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('decision'),
    });
    const { run: ended, results } = await run.answer({ decision: 'skip' }, 'error');
    expect(ended.status).toBe('completed');
    expect(results[1]).toMatchObject({ success: false, error: 'no 1' });
  });
});
