import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  agent,
  condition,
  foreach,
  parallel,
  type StepEntry,
  type StepMisfit,
  step,
  steps,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';

const Plan = z.object({ topics: z.array(z.string()), depth: z.number().default(3) });
const plan = step({ name: 'plan', outputSchema: Plan, run: () => ({ topics: ['tea', 'rain'] }) });
const topics = step({
  name: 'topics',
  inputSchema: Plan,
  run: ({ previousStepContent }) => previousStepContent.topics,
});
const write = step({
  name: 'write',
  inputSchema: z.string(),
  run: ({ previousStepContent }) => `About ${previousStepContent}`,
});
const sum = step({
  name: 'sum',
  inputSchema: z.array(z.number()),
  run: ({ previousStepContent }) => previousStepContent.reduce((one, other) => one + other, 0),
});
const mismatch = { status: 'error', error: { code: 'input_schema_mismatch' } };

test('a step that takes what the step before it makes compiles, and runs', async () => {
  const flow = workflow({ id: 'a', steps: [plan, topics, foreach(write)] });
  expect((await flow.runOrThrow('x')).content).toEqual(['About tea', 'About rain']);
  // a schema takes what it fills in, and lists that cannot be changed
  const short = step({ name: 'short', run: () => ({ topics: ['one'] as readonly string[] }) });
  const again = workflow({
    id: 'b',
    steps: [short, topics, ({ previousStepContent }) => previousStepContent],
  });
  expect((await again.runOrThrow('x')).content).toEqual(['one']);
});

test('one that cannot take it does not compile, and fails when it runs', async () => {
  // @ts-expect-error texts are no numbers
  const numbers = workflow({ id: 'a', steps: [plan, topics, sum] });
  expect(await numbers.run('x')).toMatchObject(mismatch);
  // @ts-expect-error what a function returns counts, too
  const returned = workflow({ id: 'b', steps: [() => ({ topics: 'tea' }), topics] });
  expect(await returned.run('x')).toMatchObject(mismatch);
  // @ts-expect-error so does what it may return
  workflow({ id: 'c', steps: [({ input }) => (input === 'x' ? null : [1]), sum] });
  // @ts-expect-error a plan is no list
  const each = workflow({ id: 'd', steps: [plan, foreach(write)] });
  expect(await each.run('x')).toMatchObject({ status: 'error' });
  // @ts-expect-error a list of numbers has no texts
  workflow({ id: 'e', steps: [() => [1, 2], foreach(write)] });
});

test('the first step takes the input of the workflow', async () => {
  // @ts-expect-error the input is a text
  expect(await workflow({ id: 'a', steps: [topics] }).run('x')).toMatchObject(mismatch);
  workflow({ id: 'b', steps: [write] });
  const given = workflow({ id: 'c', inputSchema: Plan, steps: [topics] });
  expect((await given.runOrThrow({ topics: ['tea'] })).content).toEqual(['tea']);
  // @ts-expect-error the input has no topics
  workflow({ id: 'd', inputSchema: z.object({ city: z.string() }), steps: [topics] });
});

test('the answer of an agent may be a text unless the step has an output schema', async () => {
  const planner = agent({ id: 'p', model: scriptedModel(() => '{"topics":["tea"]}'), outputSchema: Plan });
  const flow = workflow({ id: 'a', steps: [step({ agent: planner, outputSchema: Plan }), topics] });
  expect((await flow.runOrThrow('x')).content).toEqual(['tea']);
  // @ts-expect-error an answer that does not fit the schema of the agent stays a text
  workflow({ id: 'b', steps: [step({ agent: planner }), topics] });
  // @ts-expect-error the same
  workflow({ id: 'c', steps: [planner, topics] });
  workflow({ id: 'd', steps: [agent({ id: 'w', model: 'offline' }), write] });
});

test('where nothing is known of what comes before, nothing is refused', async () => {
  const list: StepEntry[] = [topics, sum];
  workflow({ id: 'a', steps: list });
  workflow({ id: 'b', steps: [plan, ...list] });
  workflow({ id: 'c', steps: ['a', 'b'].map((name) => step({ name, run: () => name })) });
  workflow({ id: 'd', steps: list.length > 1 ? [plan] : [parallel([topics])] });
  workflow({ id: 'e', steps: [plan, steps([topics]), sum] });
  workflow({ id: 'f', steps: [condition({ when: true, steps: [plan] }), sum] });
  workflow({ id: 'g', steps: [() => JSON.parse('[1]'), sum] });
  workflow({ id: 'h', steps: [({ previousStepContent }) => previousStepContent, sum] });
  workflow({ id: 'i', steps: [step({ name: 'x', outputSchema: { type: 'array' }, run: () => [1] }), sum] });
  workflow({ id: 'j', steps: async ({ input }) => String(input) });
  expectTypeOf<StepMisfit<string, number>>().toHaveProperty('its inputSchema takes');
});

test('functions in the list are typed as before, and so are faulty options', () => {
  workflow({
    id: 'a',
    inputSchema: z.object({ city: z.string() }),
    steps: [
      ({ input, outputOf, previousStepContent }) => {
        expectTypeOf(input).toEqualTypeOf<{ city: string }>();
        expectTypeOf(outputOf(plan)).toEqualTypeOf<{ topics: string[]; depth: number } | undefined>();
        return previousStepContent;
      },
    ],
  });
  // @ts-expect-error nothing to do
  expect(() => workflow({ id: 'b' })).toThrow('steps is missing');
  // @ts-expect-error no such option
  expect(() => workflow({ id: 'c', steps: [plan], limit: {} })).toThrow('limit is not an option');
  // @ts-expect-error no step
  expect(() => workflow({ id: 'd', steps: [plan, 5] })).toThrow('steps[1] is 5');
});
