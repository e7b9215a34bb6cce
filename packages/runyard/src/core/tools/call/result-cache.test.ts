import { describe, expect, it } from 'vitest';
import { callTool, ManualTimers } from '../../../../test/tools/tool-call.js';
import type { JsonObject } from '../../json.js';
import { tool } from '../tool.js';
import type { CacheOptions } from '../tool-options.js';

function counting(cacheResults: boolean | CacheOptions, result?: (args: JsonObject) => unknown) {
  let calls = 0;
  const used = tool({
    name: 'look',
    description: 'x',
    inputSchema: { type: 'object' },
    readOnly: true,
    cacheResults,
    execute: (args) => {
      calls += 1;
      return result ? result(args) : { call: calls };
    },
  });
  return { used, calls: () => calls };
}

describe('cacheResults', () => {
  it('answers the same call of the same session from memory', async () => {
    const { used, calls } = counting(true);
    const first = await callTool(used, { a: 1, b: { c: 2, d: 3 } });
    const second = await callTool(used, { b: { d: 3, c: 2 }, a: 1 });
    expect(second).toEqual({ ...first, args: second.args });
    expect(calls()).toBe(1);
    await callTool(used, { a: 2 });
    expect(calls()).toBe(2);
  });

  it('does not share results between sessions or users', async () => {
    const { used, calls } = counting(true);
    await callTool(used, {}, { site: { sessionId: 'a', userId: 'ada' } });
    await callTool(used, {}, { site: { sessionId: 'b', userId: 'ada' } });
    await callTool(used, {}, { site: { sessionId: 'a', userId: 'bob' } });
    expect(calls()).toBe(3);
    const shared = counting({ scope: 'process' });
    await callTool(shared.used, {}, { site: { sessionId: 'a', userId: 'ada' } });
    await callTool(shared.used, {}, { site: { sessionId: 'b', userId: 'bob' } });
    expect(shared.calls()).toBe(1);
  });

  it('forgets after its time, and what was not used for longest', async () => {
    const timers = new ManualTimers();
    const { used, calls } = counting({ ttlMs: 1_000, maximumEntries: 2 });
    const look = (key: string) => callTool(used, { key }, { environment: { timers } });
    await look('a');
    timers.time = 999;
    await look('a');
    expect(calls()).toBe(1);
    timers.time = 1_000;
    await look('a');
    expect(calls()).toBe(2);
    await look('b');
    await look('a');
    await look('c');
    expect(calls()).toBe(4);
    await look('a');
    expect(calls()).toBe(4);
    await look('b');
    expect(calls()).toBe(5);
  });

  it('keeps no failure and nothing that cannot be read back', async () => {
    let up = false;
    const flaky = counting(true, () => {
      if (!up) throw new Error('down');
      return 'up';
    });
    expect(await callTool(flaky.used)).toMatchObject({ error: true });
    up = true;
    expect(await callTool(flaky.used)).toMatchObject({ content: 'up' });
    const empty = counting(true, () => undefined);
    await callTool(empty.used);
    await callTool(empty.used);
    expect(empty.calls()).toBe(2);
    const circular: JsonObject = {};
    circular.self = circular;
    expect((await callTool(counting(true, () => circular).used)).content).toMatch(/ran, but its result/);
  });

  it('returns a separate value to each caller', async () => {
    const { used } = counting(true, () => ({ list: [1] }));
    const hooks = [
      async (_: unknown, next: () => Promise<unknown>) => {
        const result = (await next()) as { list: number[] };
        return { list: [...result.list.splice(0)] };
      },
    ];
    for (let turn = 0; turn < 3; turn++)
      expect(await callTool(used, {}, { environment: { hooks } })).toMatchObject({ content: '{"list":[1]}' });
  });
});
