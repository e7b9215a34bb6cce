import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  agent,
  type Json,
  RunOutputError,
  Runyard,
  type StepContext,
  step,
  stepOutput,
  team,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';

const Order = z.object({ item: z.string(), count: z.number(), note: z.string().optional() });
type Order = z.infer<typeof Order>;
const order: Order = { item: 'tea', count: 2 };
const clerk = (...turns: string[]) =>
  agent({ id: 'clerk', model: scriptedModel(turns), outputSchema: Order });

test('the status of an output decides its fields, and the schema its content', async () => {
  const output = await clerk(JSON.stringify(order)).run('Tea');
  expect(output.status).toBe('completed');
  // @ts-expect-error only a paused run has requirements
  expect(output.requirements).toBeUndefined();
  if (output.status === 'completed') expectTypeOf(output.content).toEqualTypeOf<Order | string>();
  if (output.status === 'paused') expectTypeOf(output.requirements[0]!.callId).toEqualTypeOf<string>();
  if (output.status === 'error') expectTypeOf(output.error.code).toEqualTypeOf<string>();
  if (output.status === 'cancelled') expectTypeOf(output).not.toHaveProperty('error');
});

test('runOrThrow has the content of the schema, or throws with the output', async () => {
  const { content } = await clerk(JSON.stringify(order)).runOrThrow('Tea');
  expectTypeOf(content).toEqualTypeOf<Order>();
  expect(content).toEqual(order);
  const refused = await clerk('No tea.', 'No.')
    .runOrThrow('Tea')
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RunOutputError);
  expect(refused).toMatchObject({ code: 'output_schema_mismatch', output: { content: 'No tea.' } });
  const failing = agent({ id: 'a', model: scriptedModel([{ error: 'gone' }]) });
  await expect(failing.runOrThrow('hi')).rejects.toMatchObject({ output: { status: 'error' } });
});

type ContentOf<Defined extends { runOrThrow(input: never): Promise<{ content: unknown }> }> = Awaited<
  ReturnType<Defined['runOrThrow']>
>['content'];

test('without a schema the content is a text; dates have their JSON form', () => {
  const plain = agent({ id: 'a', model: 'offline' });
  expectTypeOf<ContentOf<typeof plain>>().toEqualTypeOf<string>();
  const dated = agent({ id: 'd', model: 'offline', outputSchema: z.object({ at: z.date() }) });
  expectTypeOf<ContentOf<typeof dated>>().toEqualTypeOf<{ at: string }>();
  const routed = team({ id: 't', model: 'offline', mode: 'route', members: [plain] });
  expectTypeOf<ContentOf<typeof routed>>().toEqualTypeOf<Json>();
});

test('the input has the type of the input schema, and any component can be registered', async () => {
  const shop = agent({
    id: 'shop',
    model: 'offline',
    inputSchema: Order.extend({ count: z.number().default(1) }),
  });
  expectTypeOf(shop.run).parameter(0).toEqualTypeOf<{ item: string; count?: number; note?: string }>();
  // @ts-expect-error a number of an item is no item
  await expect(shop.run({ item: 7 })).rejects.toThrow('item');
  const flow = workflow({
    id: 'flow',
    inputSchema: Order,
    steps: [
      ({ input }) => input.item,
      step({ name: 'note', run: ({ input }: Noted) => input.note ?? 'none' }),
    ],
  });
  expect(await flow.runOrThrow(order)).toMatchObject({ content: 'none' });
  const whole = workflow({ id: 'whole', inputSchema: Order, steps: ({ input }) => input.count });
  expect(await whole.runOrThrow(order)).toMatchObject({ content: 2 });
  await new Runyard({ agents: [shop, clerk()], workflows: [flow, whole] }).close();
});

type Noted = StepContext<Order, { research: { title: string } }>;

test('a step names what earlier steps made', () => {
  expectTypeOf<Noted['previousStepOutputs']['research']['content']>().toEqualTypeOf<{ title: string }>();
  expectTypeOf<StepContext['previousStepOutputs'][string]['content']>().toEqualTypeOf<Json>();
});

test('a step reads what an earlier one made with its type, by the step itself', async () => {
  const research = step({ name: 'research', agent: clerk(JSON.stringify(order)) });
  const count = step({
    name: 'count',
    run: ({ outputOf }) => {
      const found = outputOf(research);
      expectTypeOf(found).toEqualTypeOf<Order | string | undefined>();
      return typeof found === 'object' ? { tea: found.count } : undefined;
    },
  });
  const never = step({ name: 'never', run: () => 'no' });
  const flow = workflow({
    id: 'flow',
    steps: [
      research,
      count,
      ({ outputOf }) => {
        expectTypeOf(outputOf(count)).toEqualTypeOf<{ tea: number } | '' | undefined>();
        const counted = outputOf(count);
        return [counted ? counted.tea : 0, outputOf(never) ?? 'not run'];
      },
    ],
  });
  expect(await flow.runOrThrow('Tea')).toMatchObject({ content: [2, 'not run'] });
});

test('a function of a step returns read-only lists, fields that may be undefined, and what an agent with optional fields answers', async () => {
  const names: readonly string[] = ['tea'];
  const note: string | undefined = order.note;
  const asked = step({ name: 'asked', run: ({ run }) => run(clerk(JSON.stringify(order)), 'x') });
  const listed = step({ name: 'listed', run: () => ({ names, note }) });
  const flow = workflow({
    id: 'flow',
    steps: [
      asked,
      listed,
      step({ name: 'names', run: () => names }),
      step({ name: 'schema', outputSchema: Order, run: () => ({ ...order, note }) }),
      ({ outputOf }) =>
        stepOutput({ content: { note: outputOf(listed)?.note, names: outputOf(listed)?.names } }),
    ],
  });
  expect(await flow.runOrThrow('Tea')).toMatchObject({ content: { names: ['tea'] } });
  // @ts-expect-error JSON holds no function
  step({ name: 'function', run: () => ({ later: () => 1 }) });
  // @ts-expect-error nor a map
  step({ name: 'map', run: () => new Map([['a', 1]]) });
});

test('a function of a step knows the type of what it runs and of the answers that it asks for', () => {
  const clerkOfShop = clerk();
  const talker = agent({ id: 'talker', model: 'offline' });
  step({
    name: 's',
    run: async ({ run, suspend, waitForEvent, media }) => {
      expectTypeOf(await run(clerkOfShop, 'x')).toEqualTypeOf<Order | string>();
      expectTypeOf(await run(talker, { any: 'object' }, 'name')).toEqualTypeOf<string>();
      expectTypeOf(await suspend('?')).toEqualTypeOf<{
        readonly confirmed: boolean;
        readonly feedback: string | null;
      }>();
      expectTypeOf(await suspend('?', z.boolean())).toEqualTypeOf<boolean>();
      expectTypeOf(await suspend('?', Order)).toEqualTypeOf<Order>();
      expectTypeOf(await suspend('?', Order, { timeoutMs: 1 })).toEqualTypeOf<Order | undefined>();
      expectTypeOf(await suspend('?', { type: 'object' })).toEqualTypeOf<Json>();
      // @ts-expect-error not an option
      await suspend('?', Order, { timeout: 1 });
      expectTypeOf(await waitForEvent('x')).toEqualTypeOf<Json>();
      expectTypeOf(await waitForEvent('x', Order)).toEqualTypeOf<Order>();
      expectTypeOf(await waitForEvent('x', Order, { timeoutMs: 1 })).toEqualTypeOf<Order | undefined>();
      expectTypeOf(media[0]!.bytes).returns.resolves.toEqualTypeOf<Uint8Array>();
      return '';
    },
  });
});
