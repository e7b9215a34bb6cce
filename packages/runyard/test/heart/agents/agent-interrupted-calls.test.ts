import { describe, expect, test } from 'vitest';
import { answerOfApproval } from '../../../src/core/agents/requirements/approvals.js';
import { type GivenAnswer, readAnswer } from '../../../src/core/agents/requirements/read-answer.js';
import { requirementsOf } from '../../../src/core/agents/requirements/tool-requirements.js';
import { toWaitOutput } from '../../../src/core/agents/requirements/wait-output.js';
import type { Tool } from '../../../src/core/tools/tool.js';
import type { ToolOptions } from '../../../src/core/tools/tool-options.js';
import { agent } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { answers, begin, engineOver, freshStore, gate } from '../harness.js';
import { call, decided, type inputSchema, pausedRun, payTool } from '../paused-runs.js';

describe('a crash', () => {
  /** Lets the tool hang in an engine that dies, and looks at the run from another one. */
  async function interrupted(options: Partial<ToolOptions<typeof inputSchema>>, first: GivenAnswer | null) {
    const began = gate();
    const executions: string[] = [];
    let hangs = true;
    const { pay } = payTool({
      ...options,
      execute: async (_args, { idempotencyKey }) => {
        executions.push(idempotencyKey);
        if (!hangs) return 'paid at last';
        began.open();
        return new Promise(() => {});
      },
    });
    const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 })] }, 'Done.']);
    const component = agent({ id: 'a', model, tools: [pay] });
    const store = await freshStore();
    const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
    const handle = await begin(dead, component);
    const { runId } = handle;
    if (first !== null || options.approval === 'required') {
      await handle.ended;
      const [state] = requirementsOf((await store.load(runId))!.steps);
      const answer =
        options.approval === 'required'
          ? answerOfApproval(state!, decided('approved'))!
          : readAnswer(state!, first!)!;
      await dead.answer(runId, answers({ [state!.waitKey]: toWaitOutput(state!, answer) }));
    }
    await began.promise;
    await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
    hangs = false;
    const next = engineOver(store, [component]);
    await next.recover();
    await expect.poll(async () => (await store.load(runId))?.run.status).not.toBe('running');
    return { ...pausedRun(store, next, runId), executions };
  }

  test.each([
    [{ confirmed: true }, 2, 'paid at last', false],
    [{ confirmed: false, note: 'it failed' }, 1, 'it failed', true],
    [{ result: 'it went through' }, 1, 'it went through', false],
  ] as const)('inside a confirmed call asks how it ended: %j', async (answer, executed, result, error) => {
    const run = await interrupted({ requiresConfirmation: true }, { confirmed: true });
    const { tools, run: paused } = await run.look();
    expect(paused.status).toBe('paused');
    expect(tools).toMatchObject([{ requires_confirmation: true, confirmed: null, result: null }]);
    expect((await run.events()).at(-1)).toMatchObject({
      event: 'RunPaused',
      content: "I was interrupted: tell me how 'pay' ended.",
      requirements: [{ outcome_unknown: true, message: expect.stringContaining('not known') }],
    });
    const after = await run.reply({ 'call pay': answer });
    expect(after.run.status).toBe('completed');
    expect(after.tools).toMatchObject([{ result, tool_call_error: error }]);
    expect(run.executions).toHaveLength(executed);
    expect(new Set(run.executions).size).toBe(1);
  });

  test('inside an approved call needs another approval', async () => {
    const run = await interrupted({ approval: 'required' }, null);
    const { steps } = await run.look();
    const [before, outcome] = requirementsOf(steps);
    expect(outcome!.requirement).toMatchObject({ kind: 'unknown_outcome', approval: { type: 'required' } });
    expect(outcome!.requirement.approval!.id).not.toBe(before!.requirement.approval!.id);
    expect(readAnswer(outcome!, { confirmed: true })).toBeUndefined();
    const after = await run.answerAll((state) =>
      answerOfApproval(state, decided('approved', { result: 'the bank says yes' })),
    );
    expect(after.tools).toMatchObject([{ result: 'the bank says yes', tool_call_error: false }]);
    expect(run.executions).toHaveLength(1);
  });

  test('between the answer and the execution executes the call once', async () => {
    const { pay, paid } = payTool({ requiresConfirmation: true });
    const model = scriptedModel([{ toolCalls: [call('pay', { cents: 5 })] }, 'Done.']);
    const reached = gate();
    let stuck = false;
    // asked for its tools whenever an execution of the run begins
    const source = {
      name: 'source',
      tools: async () => {
        if (!stuck) return [pay];
        reached.open();
        return new Promise<Tool[]>(() => {});
      },
      close: async () => {},
    };
    const component = agent({ id: 'a', model, tools: [source] });
    const store = await freshStore();
    const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
    const { runId } = (await (await begin(dead, component)).ended).run;
    const [state] = requirementsOf((await store.load(runId))!.steps);
    stuck = true;
    const answer = toWaitOutput(state!, readAnswer(state!, { confirmed: true })!);
    await dead.answer(runId, answers({ [state!.waitKey]: answer }));
    await reached.promise;
    await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
    stuck = false;
    const next = engineOver(store, [component]);
    await next.recover();
    await expect.poll(async () => (await store.load(runId))?.run.status).toBe('completed');
    expect(paid).toEqual([{ cents: 5, to: 'me' }]);
    await expect(next.answer(runId, answers({ [state!.waitKey]: answer }))).rejects.toMatchObject({
      status: 409,
    });
    expect(paid).toHaveLength(1);
  });
});
