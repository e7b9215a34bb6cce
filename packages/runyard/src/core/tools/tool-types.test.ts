import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { agent } from '../../library.js';
import { toolCallsOf } from '../agents/tool-calls.js';
import type { Json, JsonObject } from '../json.js';
import { scriptedModel } from '../models/scripted.js';
import type { ToolHook } from './call/tool-hooks.js';
import { type Tool, tool } from './tool.js';
import { type ToolResult, toolResult } from './tool-result.js';
import type { ToolEntry } from './toolkit.js';

const report = z.object({ celsius: z.number(), sky: z.enum(['clear', 'cloudy']).default('clear') });

const weather = tool({
  name: 'weather',
  description: 'The weather in a city',
  inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
  outputSchema: report,
  execute: ({ city, days }) => {
    expectTypeOf(city).toEqualTypeOf<string>();
    expectTypeOf(days).toEqualTypeOf<number>();
    return { celsius: 21 };
  },
});

const greet = tool({
  name: 'greet',
  description: 'Greets',
  inputSchema: { type: 'object', properties: { whom: { type: 'string' } } },
  execute: (args) => {
    expectTypeOf(args).toEqualTypeOf<JsonObject>();
    return `Hello ${args.whom}`;
  },
});

test('the schemas of a tool type its arguments, its return value and its hooks', () => {
  const facts = { name: 'typed', description: 'x', outputSchema: report };
  tool({ ...facts, execute: async () => toolResult({ celsius: 1, sky: 'cloudy' as const }, { media: [] }) });
  // @ts-expect-error a number is not a report
  tool({ ...facts, execute: () => 21 });
  // @ts-expect-error a report without its temperature
  tool({ ...facts, execute: async () => ({ sky: 'clear' as const }) });
  // @ts-expect-error the same beside media
  tool({ ...facts, execute: () => toolResult('warm', { media: [] }) });
  const anything: ToolHook = (_, next) => next();
  tool({
    ...facts,
    execute: () => ({ celsius: 1 }),
    hooks: [
      anything,
      async (_, next) => {
        const result = await next();
        expectTypeOf(result).toEqualTypeOf<z.output<typeof report> | ToolResult<z.output<typeof report>>>();
        return result;
      },
    ],
  });
  tool({ ...facts, outputSchema: { type: 'number' }, execute: () => 21 });
  expectTypeOf(weather).toExtend<ToolEntry>();
  expectTypeOf(weather.name).toEqualTypeOf<'weather'>();
  expectTypeOf<typeof weather>().toExtend<Tool>();
});

test('the calls of a run are typed by the name of their tool', async () => {
  const model = scriptedModel([
    {
      toolCalls: [
        { name: 'weather', arguments: { city: 'Rome' } },
        { name: 'weather', arguments: { town: 'Rome' } },
        { name: 'greet', arguments: { whom: 'Ada' } },
      ],
    },
    'Done.',
  ]);
  const output = await agent({ name: 'Guide', model, tools: [weather, greet] }).run('Go');
  const calls = toolCallsOf(output, [weather, greet]);
  for (const call of calls) {
    if (call.name === 'weather') {
      expectTypeOf(call.args).toEqualTypeOf<{ city: string; days?: number | undefined }>();
      expectTypeOf(call.result).toEqualTypeOf<{ celsius: number; sky: 'clear' | 'cloudy' }>();
    } else expectTypeOf(call.result).toEqualTypeOf<string>();
  }
  expect(calls).toMatchObject([
    { name: 'weather', args: { city: 'Rome' }, result: { celsius: 21, sky: 'clear' } },
    { name: 'greet', result: 'Hello Ada' },
  ]);
  expect(toolCallsOf(output, [greet]).map(({ result }) => result)).toEqual(['Hello Ada']);
});

test('calls are asked for by tools, not by their names', () => {
  const output = { tools: [] };
  expect(() => toolCallsOf(output, ['weather'] as never)).toThrow(
    "toolCallsOf(): tools[0] is 'weather'. Give what tool() made.",
  );
  expect(() => toolCallsOf(output, weather as never)).toThrow('toolCallsOf(): tools is');
});

test('only a schema that an object can fit is taken for arguments and inputs', async () => {
  const facts = { name: 'typed', description: 'x', execute: () => 1 };
  for (const inputSchema of [z.string(), z.array(z.string()), { type: 'array' }]) {
    const refusal = /inputSchema is a schema of the type '(string|array)'\. Give one of an object/;
    expect(() => tool({ ...facts, inputSchema })).toThrow(refusal);
    expect(() => agent({ id: 'a', model: 'offline', inputSchema })).toThrow(refusal);
  }
  const either = z.union([z.object({ city: z.string() }), z.object({ code: z.int() })]);
  for (const inputSchema of [either, z.record(z.string(), z.string()), z.lazy(() => either), {}])
    expect(tool({ ...facts, inputSchema }).name).toBe('typed');
  const booking = agent({ id: 'a', model: 'offline', inputSchema: z.object({ city: z.string() }) });
  // @ts-expect-error the other name of the field
  const refused = booking.run({ town: 'x' });
  await expect(refused).rejects.toThrow(/^message\.city: Field required/);
});

test('a result of a JSON schema is JSON, and a text stays a text', async () => {
  const facts = { description: 'x', inputSchema: { type: 'object' } };
  const count = tool({ ...facts, name: 'count', outputSchema: { type: 'number' }, execute: () => 7 });
  const word = tool({ ...facts, name: 'word', outputSchema: z.string(), execute: () => '7' });
  const calling = { toolCalls: ['count', 'word'].map((name) => ({ name, arguments: {} })) };
  const model = scriptedModel([calling, 'Done.']);
  const output = await agent({ name: 'Counter', model, tools: [count, word] }).run('Go');
  const [counted, spelt] = toolCallsOf(output, [count, word]);
  expect([counted?.result, spelt?.result]).toEqual([7, '7']);
  expectTypeOf(toolCallsOf(output, [count])[0]!.result).toEqualTypeOf<Json>();
});

test.each<[string, z.ZodType, unknown, unknown]>([
  ['a text that may be null', z.string().nullable(), '7', '7'],
  ['null where a text may be', z.string().nullable(), null, null],
  ['a text that becomes a number', z.string().transform(Number), '7', 7],
  ['a number that becomes a text', z.number().transform(String), 7, '7'],
  ['a text that becomes an object', z.string().transform((text) => ({ text })), '7', { text: '7' }],
])('a result is the value that the schema let through: %s', async (_, outputSchema, returned, expected) => {
  const facts = { description: 'x', inputSchema: { type: 'object' } };
  const make = tool({ ...facts, name: 'make', outputSchema, execute: () => returned });
  const model = scriptedModel([{ toolCalls: [{ name: 'make', arguments: {} }] }, 'Done.']);
  const output = await agent({ name: 'Maker', model, tools: [make] }).run('Go');
  expect(toolCallsOf(output, [make])).toMatchObject([{ result: expected }]);
});
