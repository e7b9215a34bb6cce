import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { callTool, ManualTimers, MediaShelf } from '../../../../test/tools/tool-call.js';
import type { JsonObject } from '../../json.js';
import { tool } from '../tool.js';
import { toolResult } from '../tool-result.js';
import { type ToolHook, ToolRefused } from './tool-hooks.js';

function double(hooks: readonly ToolHook[] = []) {
  return tool({
    name: 'double',
    description: 'Doubles',
    inputSchema: z.object({ value: z.number() }),
    hooks,
    execute: ({ value }) => value * 2,
  });
}

describe('hooks around a tool', () => {
  it('are called in order, the agent’s outside, and may change arguments and result', async () => {
    const order: string[] = [];
    const hook =
      (name: string, add: number): ToolHook =>
      async ({ toolName, args }, next) => {
        order.push(`${name} before ${toolName}`);
        const result = await next({ value: Number(args.value) + add });
        order.push(`${name} after ${result}`);
        return Number(result) + 1;
      };
    const used = double([hook('inner', 10)]);
    const outcome = await callTool(used, { value: 1 }, { environment: { hooks: [hook('outer', 100)] } });
    expect(outcome).toMatchObject({ content: '224', error: false, args: { value: 111 } });
    expect(order).toEqual([
      'outer before double',
      'inner before double',
      'inner after 222',
      'outer after 223',
    ]);
  });

  it('may refuse in words that the model reads, or answer themselves', async () => {
    const refuse: ToolHook = () => {
      throw new ToolRefused('Not on Sundays.');
    };
    expect(await callTool(double([refuse]), { value: 1 })).toMatchObject({
      content: 'Not on Sundays.',
      error: true,
    });
    expect(await callTool(double([() => 'from memory']), { value: 1 })).toMatchObject({
      content: 'from memory',
      error: false,
    });
  });

  it('that fail are an outcome, and so are arguments that they spoil', async () => {
    const fail: ToolHook = () => {
      throw new Error('hook down');
    };
    expect(await callTool(double([fail]), { value: 1 })).toMatchObject({
      content: "'double' failed: hook down",
      error: true,
    });
    const spoil: ToolHook = (_, next) => next({ value: 'many' });
    expect((await callTool(double([spoil]), { value: 1 })).content).toContain('do not fit:\n- value');
  });

  it('see what a tool throws and may recover from it', async () => {
    const used = tool({
      name: 'flaky',
      description: 'x',
      execute: () => {
        throw new Error('down');
      },
      hooks: [async (_, next) => next().catch((error: Error) => `mended: ${error.message}`)],
    });
    expect(await callTool(used)).toMatchObject({ content: 'mended: down', error: false });
  });

  it('that hang do not keep a cancelled run', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const hang: ToolHook = () => {
      controller.abort(reason);
      return new Promise(() => {});
    };
    await expect(
      callTool(double([hang]), { value: 1 }, { site: { signal: controller.signal } }),
    ).rejects.toBe(reason);
  });
});

describe('a running tool', () => {
  it('emits its progress, each step once', async () => {
    const events: JsonObject[] = [];
    const used = tool({
      name: 'long',
      description: 'x',
      execute: (_, { progress }) => {
        progress(0);
        for (let done = 0; done < 1_000; done++) progress(done / 2_000, 'reading');
        progress(7, 'done');
        return '';
      },
    });
    await callTool(used, {}, { site: { emit: async (event) => void events.push(event) } });
    expect(events[0]).toEqual({ progress: 0 });
    expect(events.at(-1)).toEqual({ progress: 1, message: 'done' });
    expect(events.length).toBeLessThan(60);
  });

  it('has the media that it makes stored', async () => {
    const media = new MediaShelf();
    const bytes = new Uint8Array([1, 2, 3]);
    const used = tool({
      name: 'draw',
      description: 'x',
      execute: () => toolResult('drawn', { media: [{ kind: 'image', bytes, mimeType: 'image/png' }] }),
    });
    const outcome = await callTool(used, {}, { environment: { media } });
    expect(outcome).toMatchObject({
      content: 'drawn',
      media: [{ kind: 'image', hash: 'hash-0', mimeType: 'image/png', size: 3, id: expect.any(String) }],
    });
    expect(outcome.media![0]).not.toHaveProperty('bytes');
    expect(media.stored.get('hash-0')).toEqual(bytes);
    expect((await callTool(used)).content).toMatch(/^drawn\n\[The image .* could not be stored/);
  });

  it('says of media without bytes and without an address that they are missing', async () => {
    const media = [{ kind: 'image', content: new Uint8Array([1]) }] as never;
    const used = tool({ name: 'draw', description: 'x', execute: () => toolResult('drawn', { media }) });
    expect(await callTool(used, {}, { environment: { media: new MediaShelf() } })).toMatchObject({
      content: 'drawn\n[The image of this result could not be stored: it has neither bytes nor a url.]',
    });
  });

  it('waits longer and longer between attempts', async () => {
    const timers = new ManualTimers();
    let calls = 0;
    const used = tool({
      name: 'flaky',
      description: 'x',
      retries: 3,
      backoff: { delayMs: 100, maximumMs: 250 },
      execute: () => {
        if (++calls < 4) throw new Error('not yet');
        return 'done';
      },
    });
    const outcome = callTool(used, {}, { environment: { timers } });
    for (let attempt = 1; attempt < 4; attempt++) {
      await expect.poll(() => timers.running).toBe(true);
      expect(calls).toBe(attempt);
      timers.elapse();
    }
    expect(await outcome).toMatchObject({ content: 'done', error: false });
    // up to a quarter is left to chance
    for (const [position, whole] of [100, 200, 250].entries()) {
      expect(timers.delays[position]).toBeLessThanOrEqual(whole);
      expect(timers.delays[position]).toBeGreaterThanOrEqual(whole * 0.75);
    }
  });

  it('stops waiting for the next attempt when the run is cancelled', async () => {
    const timers = new ManualTimers();
    const controller = new AbortController();
    const used = tool({
      name: 'flaky',
      description: 'x',
      retries: 3,
      backoff: { delayMs: 100 },
      execute: () => Promise.reject(new Error('no')),
    });
    const outcome = callTool(used, {}, { environment: { timers }, site: { signal: controller.signal } });
    await expect.poll(() => timers.running).toBe(true);
    controller.abort(new Error('cancelled'));
    await expect(outcome).rejects.toThrow('cancelled');
    expect(timers.running).toBe(false);
  });
});
