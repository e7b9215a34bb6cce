import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { partialObjectsOf } from '../../../src/core/components/partial-objects.js';
import { agent, ModelError } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';

const outputSchema = z.object({ city: z.string(), stops: z.array(z.object({ name: z.string() })) });
const chunks = ['{"city":"Por', 'to","stops":[{"na', 'me":"Ribeira"}', ']}'];
const complete = { city: 'Porto', stops: [{ name: 'Ribeira' }] };

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const collected: Value[] = [];
  for await (const value of values) collected.push(value);
  return collected;
}

test('show the answer of a started run as it grows, and at last the whole', async () => {
  const guide = agent({ id: 'guide', model: scriptedModel([{ chunks }]), outputSchema });
  const run = await guide.start('Porto', { partialObjects: true });
  const objects = await all(run.partialObjects());
  expectTypeOf(objects).toEqualTypeOf<
    { readonly city?: string; readonly stops?: readonly { readonly name?: string }[] }[]
  >();
  expect(objects).toEqual([{ city: 'Por' }, { city: 'Porto', stops: [{}] }, complete, complete]);
  expect(await run.result()).toMatchObject({ status: 'completed', content: complete });
  // a reader that comes when all is over misses nothing
  expect(await all(run.partialObjects())).toEqual(objects);
  const events = (await all(run.events())).map(({ event }) => event);
  expect(events.filter((event) => event === 'RunContent')).toHaveLength(1);
});

test('are those of the run alone, and a long text is not read again for each piece', async () => {
  const piece = (content: string, run_id = 'own') => ({ event: 'RunIntermediateContent', run_id, content });
  async function* events() {
    yield piece('{"a":1,');
    yield piece('{"of":"a member"}', 'other');
    yield piece('"b":2}');
    yield { event: 'RunContent', run_id: 'other', content: { of: 'a member' } };
    yield { event: 'RunContent', run_id: 'own', content: { a: 1, b: 2 } };
  }
  expect(await all(partialObjectsOf(events(), 'own'))).toEqual([{ a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2 }]);
  async function* long() {
    yield piece('{"text":"');
    for (let letter = 0; letter < 2_000; letter += 1) yield piece('x');
    yield piece('x'.repeat(1_000_000));
    yield piece('"}');
  }
  const shown = await all(partialObjectsOf(long(), 'own'));
  expect(shown.length).toBeLessThan(400);
  // one that is too long is shown when it is complete
  expect(JSON.stringify(shown.at(-1)).length).toBeLessThan(3_000);
});

test('begin again with another try', async () => {
  const error = new ModelError('lost', { provider: 'P', kind: 'connection', retryable: true });
  const model = scriptedModel([
    { chunks: ['{"city":"Lis'], error },
    { chunks: ['{"city":"Porto"', ',"stops":[]}'] },
  ]);
  const guide = agent({ id: 'guide', model, outputSchema, retries: 1, delayBetweenRetriesMs: 1 });
  const run = await guide.start('Porto', { partialObjects: true });
  const cities = (await all(run.partialObjects())).map(({ city }) => city);
  expect(cities.slice(0, 2)).toEqual(['Lis', 'Porto']);
});

test('are the whole alone where the answer is not streamed', async () => {
  const model = scriptedModel(() => ({ chunks }));
  const asked = await agent({ id: 'a', model, outputSchema }).start('Porto');
  expect(await all(asked.partialObjects())).toEqual([complete]);
  const checked = agent({ id: 'b', model, outputSchema, postHooks: [() => undefined] });
  const run = await checked.start('Porto', { partialObjects: true });
  expect((await all(run.partialObjects())).at(-1)).toEqual(complete);
  expect(await run.result()).toMatchObject({ content: complete });
});
