import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { callTool, ManualTimers } from '../../../../test/tools/tool-call.js';
import type { JsonObject } from '../../json.js';
import type { MadeMedia } from '../../media/made-media.js';
import type { Message } from '../../models/message.js';
import { type Tool, tool } from '../tool.js';
import { toolResult } from '../tool-result.js';

const facts = { name: 'search', description: 'Searches' };

async function call(used: Tool, parts: Parameters<typeof callTool>[2] = {}) {
  const events: JsonObject[] = [];
  const emit = async (event: JsonObject) => void events.push(event);
  const outcome = await callTool(used, {}, { ...parts, site: { emit, ...parts.site } });
  return { ...outcome, events };
}

it('a generator shows what it yields, and its result is what it returns', async () => {
  const search = tool({
    ...facts,
    execute: async function* () {
      yield { found: 1 };
      yield;
      yield toolResult('a picture', { media: [] });
      return 'all of it';
    },
  });
  expect(await call(search)).toMatchObject({
    content: 'all of it',
    error: false,
    events: [{ partial_result: { found: 1 } }, { partial_result: 'a picture' }],
  });
});

it('a generator that returns nothing ends with what it yielded last, and the schema checks that', async () => {
  const execute = function* () {
    yield { hits: 1 };
    yield { hits: 2 };
  };
  const outputSchema = z.object({ hits: z.number(), page: z.number().default(1) });
  const search = tool({ ...facts, outputSchema, execute });
  expect(await call(search)).toMatchObject({ content: '{"hits":2,"page":1}', error: false });
  const strict = tool({
    ...facts,
    outputSchema: z.object({ hits: z.literal(3) }),
    execute: execute as never,
  });
  expect((await call(strict)).content).toMatch(/^'search' failed: its result does not fit its outputSchema/);
});

it('a generator that throws is a failure, and is executed again as often as the tool allows', async () => {
  let executions = 0;
  const search = tool({
    ...facts,
    retries: 1,
    execute: async function* () {
      executions += 1;
      yield executions;
      throw new Error('the index is gone');
    },
  });
  const outcome = await call(search);
  expect(outcome).toMatchObject({ content: "'search' failed: the index is gone", error: true });
  expect(outcome.events).toEqual([{ partial_result: 1 }, { partial_result: 2 }]);
});

it('a value that JSON cannot hold is a failure, and the generator can tidy up', async () => {
  let tidied = false;
  const search = tool({
    ...facts,
    execute: async function* () {
      try {
        yield 1n;
      } finally {
        tidied = true;
      }
    },
  });
  const emit = async () => {
    throw new Error('BigInt');
  };
  expect(await call(search, { site: { emit } })).toMatchObject({
    content: "'search' failed: BigInt",
    error: true,
  });
  expect(tidied).toBe(true);
});

it('a generator whose time is up is closed where it is', async () => {
  const timers = new ManualTimers();
  let tidied = false;
  const search = tool({
    ...facts,
    timeoutMs: 50,
    execute: async function* (_args, { signal }) {
      try {
        yield 'first';
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        yield 'too late';
      } finally {
        tidied = true;
      }
    },
  });
  const outcome = call(search, { environment: { timers } });
  await expect.poll(() => timers.running).toBe(true);
  timers.elapse();
  const { content, events } = await outcome;
  expect(content).toMatch(/^'search' did not finish within 50 ms/);
  expect(events.length).toBeLessThanOrEqual(1);
  await expect.poll(() => tidied).toBe(true);
});

it('iterables that are no generators stay values', async () => {
  const list = tool({ ...facts, execute: () => [1, 2] });
  expect(await call(list)).toMatchObject({ content: '[1,2]', events: [] });
});

it('the schema types what a generator returns, or all that it yields', () => {
  const outputSchema = z.object({ hits: z.number() });
  tool({
    ...facts,
    outputSchema,
    execute: async function* (_args, { media, messages }) {
      expectTypeOf(media).toEqualTypeOf<readonly MadeMedia[]>();
      expectTypeOf(messages).toEqualTypeOf<readonly Message[]>();
      yield 'looking';
      return { hits: 1 };
    },
  });
  tool({
    ...facts,
    outputSchema,
    // @ts-expect-error what it returns does not fit
    execute: async function* () {
      yield 'looking';
      return { hits: 'one' };
    },
  });
  tool({
    ...facts,
    outputSchema,
    // @ts-expect-error it returns nothing, and what it yields does not fit
    execute: async function* () {
      yield 'looking';
    },
  });
});
