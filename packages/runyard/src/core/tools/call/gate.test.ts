import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { callTool } from '../../../../test/tools/tool-call.js';
import type { JsonObject } from '../../json.js';
import { tool } from '../tool.js';
import type { ToolOptions } from '../tool-options.js';
import { Approval, ClearedCall } from './gate.js';
import { ToolRefused } from './tool-hooks.js';

const inputSchema = z.object({ cents: z.number(), to: z.string().default('me') });
const paid: JsonObject[] = [];

function pay(options: Partial<ToolOptions<typeof inputSchema>>) {
  paid.length = 0;
  return tool({
    name: 'pay',
    description: 'Pays',
    inputSchema,
    execute: (args) => {
      paid.push(args);
      return 'paid';
    },
    ...options,
  });
}

const approvalOf = (args: JsonObject, parts = {}) =>
  Approval.ofRecordedAnswer({ callId: 'call', toolName: 'pay', args, ...parts });

describe('a gated tool', () => {
  it.each([
    ['confirmation', { requiresConfirmation: true }, 'a person must confirm it first'],
    ['an approval', { approval: 'required' as const }, 'a person must confirm it first'],
    ['user input', { requiresUserInput: true }, 'a person must fill in a part of it first'],
    ['execution outside', { externalExecution: true }, 'it must be executed outside this service'],
  ])(
    'that needs %s is never executed without it, and the model gets the reason',
    async (_, flags, reason) => {
      const seen: string[] = [];
      const hooks = [() => seen.push('hook')];
      const outcome = await callTool(pay({ ...flags, hooks }), { cents: 7 }, { environment: { hooks } });
      expect(outcome).toMatchObject({ error: true, stop: false, args: { cents: 7 } });
      expect(outcome.content).toContain(`'pay' was not executed: ${reason}`);
      expect(paid).toEqual([]);
      expect(seen).toEqual([]);
    },
  );

  it('asks only where its function says so, and where the function fails', async () => {
    const dear = pay({ requiresConfirmation: ({ cents }) => cents > 100 });
    expect(await callTool(dear, { cents: 100 })).toMatchObject({ content: 'paid', error: false });
    expect(await callTool(dear, { cents: 101 })).toMatchObject({ error: true });
    const broken = pay({
      requiresConfirmation: () => {
        throw new Error('broken');
      },
    });
    expect(await callTool(broken, { cents: 1 })).toMatchObject({ error: true });
    expect(
      await callTool(pay({ requiresConfirmation: (() => undefined) as never }), { cents: 1 }),
    ).toMatchObject({
      error: true,
    });
    expect(paid).toEqual([]);
  });

  it('runs with the approval that names exactly this call, once', async () => {
    const used = pay({ requiresConfirmation: true });
    const approval = approvalOf({ to: 'you', cents: 7 });
    const args = { cents: 7, to: 'you' };
    expect(await callTool(used, args, { approval })).toMatchObject({ content: 'paid' });
    expect(await callTool(used, args, { approval })).toMatchObject({ error: true });
    expect(paid).toEqual([args]);
  });

  it('does not run with an approval of another call', async () => {
    const used = pay({ requiresConfirmation: true });
    const others = [
      approvalOf({ cents: 8 }),
      approvalOf({ cents: 7 }, { callId: 'another' }),
      approvalOf({ cents: 7 }, { toolName: 'refund' }),
    ];
    for (const approval of others)
      expect(await callTool(used, { cents: 7 }, { approval })).toMatchObject({ error: true });
    expect(paid).toEqual([]);
  });

  it('does not run with what a hook made of an approved call', async () => {
    const hooks = [
      async (_: unknown, next: (args?: JsonObject) => Promise<unknown>) => next({ cents: 999_999 }),
    ];
    const approval = approvalOf({ cents: 7 });
    const used = pay({ requiresConfirmation: true, hooks });
    expect(await callTool(used, { cents: 7 }, { approval })).toMatchObject({ error: true });
    const twice = [
      async (_: unknown, next: () => Promise<unknown>) => {
        await next();
        return next();
      },
    ];
    const again = pay({ requiresConfirmation: true, hooks: twice });
    expect(await callTool(again, { cents: 7 }, { approval: approvalOf({ cents: 7 }) })).toMatchObject({
      error: true,
    });
    expect(paid).toHaveLength(1);
  });

  it('does not escape its gate by a hook that changes the arguments', async () => {
    const hooks = [async (_: unknown, next: (args?: JsonObject) => Promise<unknown>) => next({ cents: 101 })];
    const used = pay({ requiresConfirmation: ({ cents }) => cents > 100, hooks });
    expect(await callTool(used, { cents: 1 })).toMatchObject({ error: true });
    expect(paid).toEqual([]);
  });

  it('takes from a person what it asked for, and nothing else', async () => {
    const used = pay({ requiresUserInput: true, userInputFields: ['to'] });
    expect(used.definition.inputSchema).toMatchObject({ properties: { cents: {} }, required: ['cents'] });
    expect(used.definition.inputSchema.properties).not.toHaveProperty('to');
    const approval = approvalOf({ cents: 7 }, { input: { to: 'you', cents: 999_999 } });
    expect(await callTool(used, { cents: 7 }, { approval })).toMatchObject({
      content: 'paid',
      args: { cents: 7, to: 'you' },
    });
    expect(paid).toEqual([{ cents: 7, to: 'you' }]);
    expect(pay({ requiresUserInput: true }).definition.inputSchema).toMatchObject({
      properties: {},
      required: [],
    });
  });

  it('does not let the model fill in what a person has to', async () => {
    const used = pay({ requiresUserInput: true, userInputFields: ['to'] });
    const args = { cents: 7, to: 'the model' };
    expect(await callTool(used, args, { approval: approvalOf(args, { input: {} }) })).toMatchObject({
      content: 'paid',
    });
    expect(paid).toEqual([{ cents: 7, to: 'me' }]);
  });

  it('reports faults in the part of the model before a person is asked', async () => {
    for (const flags of [{ requiresUserInput: true, userInputFields: ['to'] }, { externalExecution: true }]) {
      const outcome = await callTool(pay(flags), { cents: 'many' });
      expect(outcome.content).toContain('cents');
      expect(outcome.content).toContain('do not fit');
    }
  });

  it('asks how an interrupted call ended when a person agreed to it', () => {
    expect(pay({ requiresConfirmation: true }).onUnknownOutcome).toBe('ask');
    expect(pay({ approval: 'required' }).onUnknownOutcome).toBe('ask');
    expect(pay({ requiresConfirmation: true, readOnly: true }).onUnknownOutcome).toBe('retry');
    expect(pay({ requiresConfirmation: true, onUnknownOutcome: 'fail' }).onUnknownOutcome).toBe('fail');
    expect(pay({}).onUnknownOutcome).toBe('retry');
  });

  it('is never executed here when it is executed outside', async () => {
    const used = tool({ name: 'pay', description: 'x', externalExecution: true });
    expect(await callTool(used, {}, { approval: approvalOf({}) })).toMatchObject({ error: true });
  });

  it('cannot be run with a call that was not cleared', async () => {
    const used = pay({ requiresConfirmation: true });
    // @ts-expect-error only the gate makes one
    expect(() => new ClearedCall('pay', {})).not.toThrow();
    // @ts-expect-error an object that looks like one is not one
    await expect(used.run({ argumentsFor: undefined }, {})).rejects.toThrow();
    // @ts-expect-error an approval comes from a record
    const made = new Approval({ callId: 'call', toolName: 'pay', args: {} });
    expect(made).toBeInstanceOf(Approval);
  });
});

describe('the flags of a tool', () => {
  it.each([
    [{ requiresConfirmation: true, requiresUserInput: true }, 'waits for more than one thing'],
    [{ approval: 'audit' as const }, 'nothing to decide on'],
    [{ execute: undefined }, 'has no execute function'],
    [{ userInputFields: ['to'] }, 'userInputFields without requiresUserInput'],
    [{ cacheResults: true, sideEffects: true }, 'each of its calls must be executed'],
    [{ cacheResults: true, requiresConfirmation: true }, 'each of its calls must be executed'],
    [{ retries: -1 }, 'retries is -1'],
    [{ timeoutMs: 0 }, 'timeoutMs is 0'],
    [{ approval: 'required' as const, approvalTimeoutMs: 0 }, 'approvalTimeoutMs is 0'],
    [{ requiresConfirmation: true, approvalTimeoutMs: 5 }, "without approval: 'required'"],
    [{ askPerson: () => ({ fields: [] }) }, 'askPerson and an execute function'],
    [
      { askPerson: () => ({ fields: [] }), execute: undefined, approval: 'required' as const },
      'remove approval',
    ],
  ])('refuse %j', (flags, message) => {
    expect(() => pay(flags)).toThrow(message);
  });

  it('refuse user input into parameters that are not there', () => {
    const used = pay({ requiresUserInput: true, userInputFields: ['address'] });
    expect(() => used.definition).toThrow(
      'userInputFields address, which its inputSchema does not have: cents, to',
    );
  });

  it('are passed to a provider that can be strict', () => {
    const strict = tool({
      name: 'strict',
      description: 'x',
      inputSchema: z.object({ inner: z.object({ a: z.string() }) }),
      strict: true,
      execute: () => {
        throw new ToolRefused('no');
      },
    });
    expect(strict.definition).toMatchObject({
      strict: true,
      inputSchema: { additionalProperties: false, properties: { inner: { additionalProperties: false } } },
    });
    expect(pay({}).definition).not.toHaveProperty('strict');
  });
});
