import { describe, expect, test } from 'vitest';
import { loop, type ReviewSettings, type StepContext, step, workflow } from '../../../src/index.js';
import { eventNames, ran } from './workflow-runs.js';

const after = ({ previousStepContent }: StepContext) => `after ${String(previousStepContent)}`;

describe('the iterations of a loop', () => {
  const looping = (review: ReviewSettings) => {
    const made: string[] = [];
    const flow = workflow({
      id: 'w',
      steps: [
        loop({
          name: 'l',
          maxIterations: 2,
          review: { requiresIterationReview: true, ...review },
          steps: [
            step({
              name: 's',
              run: ({ iteration, rejectionFeedback }) => {
                made.push(`${iteration}${rejectionFeedback ?? ''}`);
                return made.at(-1)!;
              },
            }),
          ],
        }),
        after,
      ],
    });
    return { flow, made };
  };

  test('are kept when accepted: the loop continues, and ends by itself', async () => {
    const { flow, made } = looping({});
    const run = await ran(flow);
    expect((await run.look()).requirements.stepRequirements).toMatchObject([
      { step_type: 'Loop', requires_output_review: true, step_output: { steps: [{ content: '1' }] } },
    ]);
    expect((await run.answer({ confirmed: true })).run.status).toBe('paused');
    const { run: ended, results } = await run.answer({ confirmed: true });
    expect(ended.result!.content).toBe('after 2');
    expect(made).toEqual(['1', '2']);
    expect(results[0]!.steps).toHaveLength(2);
    const names = eventNames(await run.events());
    for (const [name, times] of [
      ['LoopExecutionStarted l', 1],
      ['LoopIterationStarted l', 2],
      ['LoopIterationCompleted l', 2],
      ['StepOutputReview l', 2],
      ['StepStarted s', 2],
      ['StepContinued l', 0],
    ] as const)
      expect([name, names.filter((other) => other === name).length]).toEqual([name, times]);
  });

  test('are repeated when rejected, with the feedback', async () => {
    const { flow, made } = looping({});
    const run = await ran(flow);
    await run.answer({ confirmed: false, rejection_feedback: '!' });
    await run.answer({ confirmed: true });
    const { results } = await run.answer({ confirmed: true });
    expect(made).toEqual(['1', '1!', '2']);
    expect(results[0]!.steps!.map(({ content }) => content)).toEqual(['1!', '2']);
    expect(new Set(results[0]!.steps!.map(({ step_id }) => step_id)).size).toBe(1);
    expect(eventNames(await run.events())).toContain('StepContinued l');
  });

  test('can end the loop without a result', async () => {
    const { flow } = looping({ onReject: 'skip' });
    const { run, results } = await (await ran(flow)).answer({ confirmed: false });
    expect(run.result!.content).toBe('after null');
    expect(results[0]).toMatchObject({ skipped: true, steps: [] });
  });
});
