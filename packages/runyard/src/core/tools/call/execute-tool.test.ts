import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../json.js';
import { silentLog } from '../../log.js';
import type { Timers } from '../../timers.js';
import { type Tool, tool } from '../tool.js';
import type { ToolCallSite, ToolContext } from '../tool-context.js';
import { toolResult } from '../tool-result.js';
import { executeTool } from './execute-tool.js';
import { parseArguments } from './parse-arguments.js';
import type { ToolHook } from './tool-hooks.js';
import type { ToolOutcome } from './tool-outcome.js';

/** Time that passes when the test says so. */
class ManualTimers implements Timers {
  #due: (() => void) | undefined;
  now = () => 0;
  elapsed = () => 0;
  soon = (work: () => void) => queueMicrotask(work);
  every = () => () => {};
  after(_ms: number, work: () => void): () => void {
    this.#due = work;
    return () => {
      this.#due = undefined;
    };
  }
  get running(): boolean {
    return this.#due !== undefined;
  }
  elapse(): void {
    this.#due?.();
  }
}

const timers = new ManualTimers();

function site(parts: Partial<ToolCallSite> = {}): ToolCallSite {
  const state = new Map<string, never>();
  return {
    runId: 'r',
    sessionId: 's',
    userId: null,
    toolCallId: 'c',
    idempotencyKey: 'k',
    signal: new AbortController().signal,
    state: {
      get: (key) => state.get(key),
      set: (key, value) => void state.set(key, value as never),
      delete: (key) => void state.delete(key),
      all: () => Object.fromEntries(state),
    },
    dependencies: {},
    metadata: {},
    media: [],
    messages: [],
    emit: async () => {},
    log: silentLog,
    ...parts,
  };
}

function execute(
  used: Tool | undefined,
  args: string,
  parts: Partial<ToolCallSite> = {},
): Promise<ToolOutcome> {
  const call = { id: 'c', name: used?.name ?? 'missing', arguments: args };
  return executeTool(used, call, site(parts), { timers, availableTools: ['add', 'now'] });
}

const add = tool({
  name: 'add',
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number().default(1), note: z.string().optional() }),
  execute: ({ a, b }) => a + b,
});

const simple = (execute: (args: JsonObject, context: ToolContext) => unknown, rest = {}) =>
  tool({ name: 'simple', description: 'x', execute, ...rest });

const weigh = (result: unknown, rest = {}) =>
  tool({
    name: 'weigh',
    description: 'x',
    outputSchema: z.object({ grams: z.number(), unit: z.string().default('g'), at: z.date().optional() }),
    execute: () => result as { grams: number },
    ...rest,
  });

describe('the output schema of a tool', () => {
  it('fills in defaults, and what the model reads is JSON', async () => {
    const { content } = await execute(weigh({ grams: 5, at: new Date(0), more: true }), '{}');
    expect(JSON.parse(content)).toEqual({ grams: 5, unit: 'g', at: '1970-01-01T00:00:00.000Z' });
    const outcome = await execute(weigh(toolResult({ grams: 5 }, { media: [] })), '{}');
    expect(outcome).toMatchObject({ error: false, content: '{"grams":5,"unit":"g"}' });
  });

  it('makes a result that does not fit a failure that names the field', async () => {
    const expected = "'weigh' failed: its result does not fit its outputSchema:\n- ";
    for (const result of [{ grams: 'five' }, toolResult({ grams: 'five' }, { media: [] })]) {
      const outcome = await execute(weigh(result, { stopAfterCall: true }), '{}');
      expect(outcome).toMatchObject({ error: true, stop: false });
      expect(outcome.content).toBe(`${expected}grams: Invalid input: expected number, received string`);
    }
    expect((await execute(weigh(undefined), '{}')).content).toBe(`${expected}the value: is required`);
    const outputSchema = { type: 'object', properties: { grams: { type: 'number' } }, required: ['grams'] };
    expect((await execute(weigh({}, { outputSchema }), '{}')).content).toBe(`${expected}grams: is required`);
  });

  it('is asked once: a result that does not fit is not tried again, and not cached', async () => {
    let executed = 0;
    const bad = () => {
      executed += 1;
      return { grams: executed < 2 ? 'five' : 5 };
    };
    const cached = weigh(0, { execute: bad, retries: 3, cacheResults: true });
    expect((await execute(cached, '{}')).error).toBe(true);
    expect(executed).toBe(1);
    expect((await execute(cached, '{}')).error).toBe(false);
    expect((await execute(cached, '{}')).error).toBe(false);
    expect(executed).toBe(2);
  });

  it('is what hooks see', async () => {
    const seen: unknown[] = [];
    const hook: ToolHook = async (_, next) => seen.push(await next());
    await execute(weigh({ grams: 5 }, { hooks: [hook] }), '{}');
    expect(seen).toEqual([{ grams: 5, unit: 'g' }]);
  });

  it('needs a function whose result it describes', () => {
    const outside = { externalExecution: true, execute: undefined };
    expect(() => weigh(0, outside)).toThrow("Tool 'weigh' has outputSchema without an execute function");
  });
});

describe('tool', () => {
  it('says that parameters is called inputSchema', () => {
    const old = { name: 'old', description: 'x', parameters: z.object({}), execute: () => 1 };
    expect(() => tool(old)).toThrow("Tool 'old': parameters was renamed to inputSchema.");
  });

  it('gives the model its schema as JSON schema', () => {
    expect(add.definition).toMatchObject({
      name: 'add',
      description: 'Adds two numbers',
      inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
    });
    expect(add.definition.inputSchema).not.toHaveProperty('$schema');
    expect(add.definition).toBe(add.definition);
    expect(simple(() => 1).definition.inputSchema).toMatchObject({ type: 'object', properties: {} });
  });

  it('infers the arguments from zod', () => {
    tool({
      name: 'typed',
      description: 'x',
      inputSchema: z.object({ a: z.number(), b: z.number().default(1), note: z.string().optional() }),
      requiresConfirmation: ({ a, b }) => a > b,
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ a: number; b: number; note?: string }>(),
    });
    tool({
      name: 'plain',
      description: 'x',
      execute: (args) => expectTypeOf(args).toEqualTypeOf<JsonObject>(),
    });
  });

  it('asks about unknown outcomes only of tools with side effects', () => {
    expect(simple(() => 1, { sideEffects: true }).onUnknownOutcome).toBe('ask');
    expect(simple(() => 1, { readOnly: true }).onUnknownOutcome).toBe('retry');
    expect(simple(() => 1, { sideEffects: true, onUnknownOutcome: 'fail' }).onUnknownOutcome).toBe('fail');
  });

  it('refuses what models or the journal could not handle', () => {
    expect(() => tool({ name: 'no spaces', description: '', execute: () => 1 })).toThrow(
      "Tool name 'no spaces'",
    );
    expect(() => simple(() => 1, { readOnly: true, sideEffects: true })).toThrow('only one of them');
  });
});

describe('parseArguments', () => {
  it.each([
    ['', {}],
    ['  ', {}],
    ['null', {}],
    ['{"a":1}', { a: 1 }],
    ['```json\n{"a":1}\n```', { a: 1 }],
    ['"{\\"a\\":1}"', { a: 1 }],
    ['""', {}],
  ])('reads %j', (text, args) => {
    expect(parseArguments(text)).toEqual({ ok: true, args });
  });

  it.each(['{"a":', '[1]', '"hello"', '7'])('refuses %j and quotes it', (text) => {
    const parsed = parseArguments(text);
    expect(parsed).toMatchObject({ ok: false, message: expect.stringContaining(text) });
  });
});

describe('executeTool', () => {
  it('hands validated arguments to the tool and keeps those that the model sent', async () => {
    expect(await execute(add, '{"a":2}')).toEqual({
      content: '3',
      error: false,
      args: { a: 2 },
      stop: false,
      showResult: false,
    });
  });

  it('gives the tool its context and returns its flags', async () => {
    const events: JsonObject[] = [];
    const used = simple(
      (_, { runId, idempotencyKey, state, emit }) => {
        emit({ progress: 1 });
        state.set('seen', true);
        return `${runId} ${idempotencyKey} ${state.get('seen')}`;
      },
      { stopAfterCall: true, showResult: true },
    );
    const outcome = await execute(used, '', { emit: async (event) => void events.push(event) });
    expect(outcome).toMatchObject({ content: 'r k true', error: false, stop: true, showResult: true });
    expect(events).toEqual([{ progress: 1 }]);
  });

  it('writes results as the model can read them', async () => {
    const results: [unknown, string][] = [
      ['text', 'text'],
      [undefined, ''],
      [null, 'null'],
      [{ a: [1] }, '{"a":[1]}'],
      [() => 1, ''],
    ];
    for (const [result, content] of results) {
      expect(
        await execute(
          simple(() => result),
          '',
        ),
      ).toMatchObject({ content, error: false });
    }
    const media = [{ kind: 'image' as const, id: 'i', url: 'https://example.com/i.png' }];
    expect(
      await execute(
        simple(() => toolResult({ ok: 1 }, { media })),
        '',
      ),
    ).toMatchObject({ content: '{"ok":1}', media });
  });

  it('reports an unknown tool to the model', async () => {
    expect(await execute(undefined, '{}')).toMatchObject({
      content: "There is no tool 'missing'. Available: add, now.",
      error: true,
    });
  });

  it('reports malformed arguments to the model', async () => {
    const outcome = await execute(add, '{"a": 2');
    expect(outcome).toMatchObject({ error: true, args: null });
    expect(outcome.content).toMatch(/not valid JSON .*\{"a": 2\nCall 'add' again/s);
  });

  it('names every fault of arguments that do not fit zod', async () => {
    const outcome = await execute(add, '{"a":"two","b":"x"}');
    expect(outcome).toMatchObject({ error: true, args: { a: 'two', b: 'x' } });
    expect(outcome.content).toMatch(/- a: .*number.*\(given: "two"\)\n- b: .*number.*\(given: "x"\)\n/);
  });

  it('names every fault of arguments that do not fit a JSON schema', async () => {
    const inputSchema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        to: { type: 'string', format: 'email' },
        level: { enum: ['low', 'high'] },
        count: { type: 'integer', default: 3 },
        list: { type: 'array', items: { type: 'number' } },
      },
      required: ['to', 'subject'],
      additionalProperties: false,
    };
    const mail = tool({ name: 'mail', description: 'x', inputSchema, execute: (args) => args });
    const { content } = await execute(mail, '{"to":"nobody","level":"mid","list":[1,"2"],"extra":1}');
    expect(content).toContain('- subject: is required\n');
    expect(content).toContain('- extra: is not a known argument (given: 1)\n');
    expect(content).toContain('- to: must match format "email" (given: "nobody")\n');
    expect(content).toContain('["low","high"] (given: "mid")\n');
    expect(content).toContain('- list.1: must be number (given: "2")\n');
    const open = { ...inputSchema, required: ['to'] };
    const fits = tool({ name: 'mail', description: 'x', inputSchema: open, execute: (args) => args });
    expect(await execute(fits, '{"to":"a@b.cc"}')).toMatchObject({
      content: '{"to":"a@b.cc","count":3}',
      args: { to: 'a@b.cc' },
    });
  });

  it('turns whatever a tool throws into an answer', async () => {
    const thrown: [unknown, string][] = [
      [new Error('no luck'), "'simple' failed: no luck"],
      ['words', "'simple' failed: words"],
      [Object.create(null), "'simple' failed: it threw an object instead of an Error"],
    ];
    for (const [error, content] of thrown) {
      const used = simple(() => {
        throw error;
      });
      expect(await execute(used, '')).toMatchObject({ content, error: true, stop: false });
    }
  });

  it('says of a result that cannot be written that the tool did run', async () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const outcome = await execute(
      simple(() => circular),
      '',
    );
    expect(outcome.error).toBe(true);
    expect(outcome.content).toMatch(/^'simple' ran, but its result cannot be stored as JSON/);
  });

  it('bounds a huge result and says so', async () => {
    const outcome = await execute(
      simple(() => 'x'.repeat(1_000_000)),
      '',
    );
    expect(outcome.error).toBe(true);
    expect(outcome.content.length).toBeLessThan(101_000);
    expect(outcome.content).toMatch(
      /x\n\[Cut here: the result has 1000000 characters, the limit is 100000\./,
    );
  });

  it('tries again after a throw, as often as allowed', async () => {
    let calls = 0;
    const used = simple(
      () => {
        if (++calls < 3) throw new Error('not yet');
        return 'done';
      },
      { retries: 2 },
    );
    expect(await execute(used, '')).toMatchObject({ content: 'done', error: false });
    calls = 0;
    expect(
      await execute(
        simple(() => Promise.reject(new Error(`call ${++calls}`)), { retries: 1 }),
        '',
      ),
    ).toMatchObject({
      content: "'simple' failed: call 2",
    });
  });

  it('stops a tool whose time is up, once, and aborts its signal', async () => {
    let calls = 0;
    let signal: AbortSignal | undefined;
    const used = simple(
      (_, context) => {
        calls++;
        signal = context.signal;
        return new Promise(() => {});
      },
      { timeoutMs: 50, retries: 3 },
    );
    const outcome = execute(used, '');
    await expect.poll(() => timers.running).toBe(true);
    timers.elapse();
    expect(await outcome).toMatchObject({
      content: "'simple' did not finish within 50 ms and was stopped. It may or may not have taken effect.",
      error: true,
    });
    expect({ calls, aborted: signal?.aborted, running: timers.running }).toEqual({
      calls: 1,
      aborted: true,
      running: false,
    });
  });

  it('rejects at once when the run is aborted, even if the tool does not listen', async () => {
    const reason = new Error('cancelled');
    const controller = new AbortController();
    let calls = 0;
    const used = simple(
      (_, { signal }) => {
        calls++;
        controller.abort(reason);
        expect(signal.reason).toBe(reason);
        return new Promise(() => {});
      },
      { retries: 3 },
    );
    await expect(execute(used, '', { signal: controller.signal })).rejects.toBe(reason);
    await expect(execute(used, '', { signal: controller.signal })).rejects.toBe(reason);
    expect(calls).toBe(1);
  });
});
