import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  agent,
  foreach,
  loop,
  parallel,
  router,
  type StepContext,
  step,
  stepOutput,
  steps,
  tool,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { changed, engineOver, goOn } from '../harness.js';
import { call } from '../teams/team-runs.js';
import { diesAndRecovers, eventNames, ran } from './workflow-runs.js';

const Report = z.object({ title: z.string(), lines: z.array(z.string()).default([]) });

test('schemas of a step are checked, fill in defaults and type what functions get and return', async () => {
  const read = step({
    name: 'read',
    outputSchema: Report,
    run: ({ input }) => ({ title: String(input) }),
  });
  const count = step({
    name: 'count',
    inputSchema: Report,
    run: ({ previousStepContent }) => {
      expectTypeOf(previousStepContent).toEqualTypeOf<{ title: string; lines: string[] }>();
      return previousStepContent.lines.length;
    },
  });
  // @ts-expect-error a number is not a report
  step({
    name: 'wrong',
    outputSchema: Report,
    run: () => 5,
  });
  step({
    name: 'stops',
    outputSchema: Report,
    run: () => stepOutput({ stop: true, content: { title: 'x' } }),
  });
  const flow = workflow({
    id: 'flow',
    steps: [
      read,
      count,
      ({ outputOf }) => {
        const report = outputOf(read);
        expectTypeOf(report).toEqualTypeOf<{ title: string; lines: string[] } | undefined>();
        expectTypeOf(outputOf(count)).toEqualTypeOf<number | undefined>();
        return `${report?.title} ${report?.lines.length} ${outputOf(count)}`;
      },
    ],
  });
  expect((await flow.runOrThrow('News')).content).toBe('News 0 0');
});

test('what does not fit is a failure of the step, which its policy decides about', async () => {
  const even = { type: 'integer', multipleOf: 2 } as const;
  const half = step({ name: 'half', inputSchema: even, onError: 'skip', run: () => 'halved' });
  let calls = 0;
  const made = step({
    name: 'made',
    outputSchema: z.number(),
    run: () => {
      calls += 1;
      return stepOutput({ content: 'a text' });
    },
  });
  const flow = workflow({ id: 'flow', steps: [() => 3, half, made] });
  const run = await flow.run('x');
  expect(run).toMatchObject({ status: 'error', error: { code: 'output_schema_mismatch' } });
  expect(run.stepResults[1]).toMatchObject({
    success: false,
    error: expect.stringContaining('input schema'),
  });
  expect(String(run.content)).toContain("Step 'made' failed: What it made does not fit its output schema");
  // what it did is done
  expect(calls).toBe(1);
});

test('a step sees what its input schema made of the output before it, and a failed step has no output to check', async () => {
  const trimmed = step({
    name: 'trimmed',
    inputSchema: z.object({ title: z.string().trim(), lines: z.number().default(3) }),
    run: ({ previousStepContent }) => previousStepContent,
  });
  const flow = workflow({ id: 'flow', steps: [() => ({ title: ' Spring ' }), trimmed] });
  expect((await flow.runOrThrow('x')).content).toEqual({ title: 'Spring', lines: 3 });
  const failing = step({
    name: 'failing',
    outputSchema: Report,
    maxRetries: 0,
    onError: 'skip',
    run: () => stepOutput({ content: 'nothing', success: false, error: 'broken' }),
  });
  const { stepResults } = await workflow({ id: 'flow', steps: [failing, () => 'next'] }).run('x');
  expect(stepResults[0]).toMatchObject({ success: false, error: 'broken' });
});

test('an agent is asked for the output schema of its step, and its answer has to fit', async () => {
  const model = scriptedModel(['{"title":"Spring"}', 'No JSON at all']);
  const writer = agent({ id: 'writer', model });
  const draft = step({ name: 'draft', agent: writer, outputSchema: Report });
  const flow = workflow({
    id: 'flow',
    steps: [draft, ({ outputOf }) => outputOf(draft)?.title ?? 'nothing'],
  });
  expect((await flow.runOrThrow('x')).content).toBe('Spring');
  expect(model.requests[0]!.output?.schema).toMatchObject({ properties: { title: { type: 'string' } } });
  expect(await flow.run('x')).toMatchObject({ status: 'error', error: { code: 'output_schema_mismatch' } });
});

const double = step({ name: 'double', run: ({ previousStepContent }) => Number(previousStepContent) * 2 });

test('foreach does a step for each item, in order, so many at once as allowed', async () => {
  let now = 0;
  let most = 0;
  const slow = step({
    name: 'slow',
    run: async ({ previousStepContent, iteration }) => {
      now += 1;
      most = Math.max(most, now);
      for (let turn = 0; turn < 4 - Number(previousStepContent); turn += 1) await Promise.resolve();
      now -= 1;
      return `${iteration}:${String(previousStepContent)}`;
    },
  });
  const each = foreach(double, { name: 'all', concurrency: 2 });
  const flow = workflow({
    id: 'flow',
    steps: [
      ({ input }) => JSON.parse(String(input)) as number[],
      each,
      foreach(slow, { name: 'slowly', concurrency: 2 }),
      ({ previousStepContent, outputOf, previousStepOutputs }) => {
        expectTypeOf(outputOf(each)).toEqualTypeOf<number[] | undefined>();
        return [previousStepContent, outputOf(each) ?? null, 'double' in previousStepOutputs];
      },
    ],
  });
  const run = await ran(flow, { input: { content: '[1,2,3]', media: [], options: { stream: true } } });
  const { results, run: stored } = await run.look();
  expect(stored.result?.content).toEqual([['1:2', '2:4', '3:6'], [2, 4, 6], false]);
  expect(most).toBe(2);
  expect(results[1]).toMatchObject({
    step_type: 'Foreach',
    content: [2, 4, 6],
    steps: [{ content: 2 }, {}, {}],
  });
  const started = (await run.events()).filter(
    ({ event, step_name }) => event === 'StepStarted' && step_name === 'double',
  );
  expect(started.map(({ step_index }) => step_index)).toEqual([
    [1, 0],
    [1, 1],
    [1, 2],
  ]);
  expect(eventNames(await run.events())).toContain('ParallelExecutionCompleted all');
  expect((await flow.runOrThrow('[]')).content).toEqual([[], [], false]);
});

test('an item that fails ends the run, or is null in the list; anything but a list is refused', async () => {
  const items: unknown[] = [];
  const picky = (onError: 'fail' | 'skip') =>
    step({
      name: 'picky',
      maxRetries: 0,
      onError,
      run: ({ previousStepContent }) => {
        items.push(previousStepContent);
        if (previousStepContent === 2) throw new Error('not two');
        return previousStepContent;
      },
    });
  const over = (onError: 'fail' | 'skip') =>
    workflow({ id: 'flow', steps: [() => [1, 2, 3], foreach(picky(onError))] });
  expect((await over('skip').runOrThrow('x')).content).toEqual([1, null, 3]);
  items.length = 0;
  expect(await over('fail').run('x')).toMatchObject({
    status: 'error',
    error: { message: "Step 'picky' failed: not two" },
  });
  // once an item ends the run, no other begins
  expect(items).toEqual([1, 2]);
  // @ts-expect-error a text is no list
  const texts = workflow({ id: 'text', steps: [() => 'abc', foreach(double, { name: 'all' })] });
  const text = await texts.run('x');
  expect(text).toMatchObject({
    status: 'error',
    error: { message: "Foreach 'all' needs a list from the step before it, and got a text." },
  });
  const long = workflow({
    id: 'long',
    steps: [() => Array.from({ length: 10_001 }, () => 1), foreach(double)],
  });
  expect(await long.run('x')).toMatchObject({
    error: { message: expect.stringContaining('at most 10000 items') },
  });
});

test('an item sees what was made before the list, and nothing of the other items', async () => {
  const seen: unknown[] = [];
  const look = step({
    name: 'look',
    run: ({ previousStepOutputs, media, additionalData, iteration, previousStepContent }) => {
      const kinds = media.map(({ kind }) => kind);
      seen.push([iteration, Object.keys(previousStepOutputs), kinds, additionalData]);
      return previousStepContent;
    },
  });
  const flow = workflow({
    id: 'flow',
    steps: [
      step({
        name: 'list',
        run: ({ media }) => stepOutput({ content: [1, 2], media }),
      }),
      foreach(steps({ name: 'pair', steps: [look, step({ name: 'last', run: () => 'done' })] })),
    ],
  });
  const image = { bytes: new Uint8Array([1, 2, 3]), mimeType: 'image/png' };
  const { status } = await flow.run('x', { images: [image], additionalData: { tone: 'kind' } });
  expect(status).toBe('completed');
  const before = [['list'], ['image', 'image'], { tone: 'kind' }];
  expect(seen).toEqual([
    [1, ...before],
    [2, ...before],
  ]);
});

test('null is what a step made, and not the lack of it', async () => {
  const orNull = step({
    name: 'or null',
    inputSchema: z.number().nullable(),
    run: ({ previousStepContent }) => previousStepContent,
  });
  const kept = workflow({ id: 'kept', steps: [() => [1, null, 3], foreach(orNull)] });
  expect((await kept.runOrThrow('x')).content).toEqual([1, null, 3]);
  // @ts-expect-error null is no list
  const none = workflow({ id: 'none', steps: [() => null, foreach(double)] });
  expect(await none.run('[1]')).toMatchObject({ error: { message: expect.stringContaining('got null') } });
  const model = scriptedModel(['nothing']);
  const clerk = agent({ id: 'clerk', model });
  await workflow({ id: 'nothing', steps: [() => null, clerk] }).runOrThrow('x');
  expect(model.requests[0]?.messages.at(-1)?.content).toBe('null');
});

test('an agent does each item, groups work, and its questions pause the run', async () => {
  const model = scriptedModel([{ toolCalls: [call('ask', { q: 1 })] }, 'one', 'two']);
  const ask = tool({
    name: 'ask',
    description: 'x',
    inputSchema: z.object({ q: z.number() }),
    requiresConfirmation: true,
    execute: () => 'yes',
  });
  const worker = agent({ id: 'worker', model, tools: [ask] });
  const flow = workflow({
    id: 'flow',
    steps: [
      () => ['a', 'b'],
      foreach(
        steps({
          name: 'pair',
          steps: [worker, ({ previousStepContent }) => `${String(previousStepContent)}!`],
        }),
      ),
    ],
  });
  let run = await flow.run('x');
  expect(run.status).toBe('paused');
  run = await flow.continue(run.runId, {
    answers: { worker: { calls: { 'call ask': { confirmed: true } } } },
  });
  // the second item was done while the first one waited
  expect(run).toMatchObject({ status: 'completed', content: ['two!', 'one!'] });
});

test('after a crash, items that had ended are not done again', async () => {
  const seen: number[] = [];
  let open!: () => void;
  const reached = new Promise<void>((resolve) => {
    open = resolve;
  });
  const make = () =>
    workflow({
      id: 'flow',
      steps: [
        () => [1, 2, 3],
        foreach(
          step({
            name: 'each',
            run: async ({ previousStepContent, signal }) => {
              const item = Number(previousStepContent);
              seen.push(item);
              if (item !== 2 || seen.filter((one) => one === 2).length > 1) return item * 10;
              open();
              return new Promise<number>((_, reject) =>
                signal.addEventListener('abort', () => reject(signal.reason)),
              );
            },
          }),
        ),
      ],
    });
  const recovered = await diesAndRecovers(make, reached, (keys) => keys.includes('node:1.0'));
  expect((await recovered.look()).run).toMatchObject({
    status: 'completed',
    result: { content: [10, 20, 30] },
  });
  expect(seen).toEqual([1, 2, 2, 3]);
});

test('a function decides whether a person reviews an output, and the rejected draft goes back with the note', async () => {
  let asked = 0;
  const model = scriptedModel(['short', 'a rather long answer', 'mid']);
  const flow = workflow({
    id: 'flow',
    steps: [
      step({
        name: 'draft',
        agent: agent({ id: 'writer', model }),
        review: {
          requiresOutputReview: (output, { input }) => {
            asked += 1;
            return input === 'review' && String(output).length > 4;
          },
        },
      }),
    ],
  });
  expect((await flow.runOrThrow('go')).content).toBe('short');
  let run = await flow.run('review');
  expect(run).toMatchObject({ status: 'paused', requirements: [{ stepName: 'draft' }] });
  run = await flow.continue(run.runId, { answers: { draft: { confirmed: false, feedback: 'shorter' } } });
  expect(run).toMatchObject({ status: 'completed', content: 'mid' });
  expect(asked).toBe(3);
  expect(model.requests[2]!.messages.at(-1)!.content).toContain(
    'Your last answer:\na rather long answer\n\nYour last answer was rejected: shorter',
  );
});

test('a function gets the rejected draft, and a review that cannot decide fails the run', async () => {
  const drafts: unknown[] = [];
  const flow = workflow({
    id: 'flow',
    steps: [
      step({
        name: 'draft',
        run: ({ rejectedContent, rejectionFeedback }: StepContext) => {
          drafts.push([rejectedContent, rejectionFeedback]);
          return drafts.length;
        },
        review: { requiresOutputReview: true },
      }),
    ],
  });
  const { runId } = await flow.run('x');
  await flow.continue(runId, { answers: { draft: { confirmed: false, feedback: 'no' } } });
  expect(drafts).toEqual([
    [null, null],
    [1, 'no'],
  ]);
  const broken = workflow({
    id: 'broken',
    // @ts-expect-error a text is no decision
    steps: [step({ name: 'a', run: () => 1, review: { requiresOutputReview: () => 'perhaps' } })],
  });
  expect(await broken.run('x')).toMatchObject({
    status: 'error',
    error: { code: 'workflow_decision_error' },
  });
});

test('a person reviews what a router has chosen', async () => {
  const way = (onReject: 'skip' | 'cancel' | 'retry') =>
    workflow({
      id: 'flow',
      steps: [
        router({
          name: 'way',
          select: () => 'left',
          choices: [
            step({ name: 'left', run: () => 'went left' }),
            step({ name: 'right', run: () => 'went right' }),
          ],
          review: { requiresRouteReview: true, onReject },
        }),
      ],
    });
  const skipping = way('skip');
  const first = await skipping.run('x');
  expect(first).toMatchObject({
    status: 'paused',
    requirements: [
      {
        requirement: {
          requires_confirmation: true,
          confirmation_message: "Take 'left'?",
          selected_choices: ['left'],
        },
      },
    ],
  });
  expect((await skipping.continue(first.runId, { answers: { way: { confirmed: true } } })).content).toBe(
    'went left',
  );
  const second = await skipping.run('x');
  const skipped = await skipping.continue(second.runId, { answers: { way: { confirmed: false } } });
  expect(skipped.stepResults[0]).toMatchObject({
    skipped: true,
    content: "Router 'way' was skipped: its choice was rejected.",
  });
  const asking = way('retry');
  let run = await asking.run('x');
  run = await asking.continue(run.runId, { answers: { way: { confirmed: false } } });
  run = await asking.continue(run.runId, { answers: { way: { selected: ['right'] } } });
  expect(run).toMatchObject({ status: 'completed', content: 'went right' });
  const cancelling = way('cancel');
  const last = await cancelling.run('x');
  expect((await cancelling.continue(last.runId, { answers: { way: { confirmed: false } } })).status).toBe(
    'cancelled',
  );
});

test.each([
  ['approve', 'completed', 'went left'],
  ['skip', 'completed', "Router 'way' was skipped: its choice was not reviewed in time."],
  ['cancel', 'cancelled', expect.stringContaining('was not answered in time')],
] as const)('a choice that nobody reviews in time: %s', async (onTimeout, status, content) => {
  const flow = workflow({
    id: 'flow',
    steps: [
      router({
        name: 'way',
        select: () => 'left',
        choices: [step({ name: 'left', run: () => 'went left' })],
        review: { requiresRouteReview: true, timeoutMs: 1_000, onTimeout },
      }),
    ],
  });
  const { store, runId } = await ran(flow);
  const leases = changed(store.leases, { now: async () => Date.now() + 86_400_000 });
  const engine = engineOver(store, [flow], { leases });
  const { run } = await (await engine.answer(runId, { answers: new Map(), continuation: goOn })).ended;
  expect(run).toMatchObject({ status, result: { content } });
});

test('wrong options are refused by name', () => {
  const one = step({ name: 'one', run: () => 1 });
  // @ts-expect-error a text is no schema
  expect(() => step({ name: 'a', inputSchema: 'x', run: () => 1 })).toThrow('inputSchema');
  // @ts-expect-error nothing to do
  expect(() => foreach()).toThrow('the step');
  expect(() => foreach(one, { concurrency: 0 })).toThrow('concurrency');
  expect(() => step({ name: 'a', run: () => 1, review: { requiresRouteReview: true } })).toThrow(
    'only a router',
  );
  expect(() =>
    router({ name: 'r', select: 'user', choices: [one], review: { requiresRouteReview: true } }),
  ).toThrow('a person chooses anyway');
  const reviewed = { ...one, review: { requiresOutputReview: () => true } };
  expect(() => workflow({ id: 'w', steps: [parallel([reviewed])] })).toThrow('waits for a person');
  expect(() => workflow({ id: 'w', steps: [loop({ steps: [foreach(reviewed, { name: 'all' })] })] })).toThrow(
    "inside the parallel group 'all'",
  );
});
