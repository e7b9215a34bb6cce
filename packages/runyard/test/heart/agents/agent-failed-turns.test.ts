import { expect, test } from 'vitest';
import { messagesOf } from '../../../src/core/agents/transcript.js';
import { newId } from '../../../src/core/ids.js';
import type { ContinueFrom } from '../../../src/core/runs/resume/continuation.js';
import { agent, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { goOn } from '../harness.js';
import { call, pausedRun, payTool, started } from '../paused-runs.js';

/** A run that failed between two calls of one turn: one was made, the other has just been confirmed. */
async function failedInTheMiddle() {
  const sent: string[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends',
    sideEffects: true,
    execute: () => {
      sent.push('a letter');
      return 'sent';
    },
  });
  const { pay, paid } = payTool({ requiresConfirmation: true });
  let isAway = false;
  const source = {
    name: 'elsewhere',
    tools: async () => {
      if (isAway) throw new Error('The tools cannot be reached.');
      return [pay];
    },
    close: async () => {},
  };
  const model = scriptedModel([{ toolCalls: [call('send', {}), call('pay', { cents: 5 })] }, 'Done.']);
  const component = agent({ id: 'a', model, tools: [send, source] });
  const run = await started(component);
  isAway = true;
  const failed = await run.reply({ 'call pay': { confirmed: true } });
  expect(failed.run.status).toBe('error');
  isAway = false;
  /** Continues the run in place, or another one as it. */
  const retry = async (runId = run.runId, from: ContinueFrom = 'end', input: string | null = null) => {
    const stored = (await run.store.load(runId))!;
    const kept = component.continuation(stored.run, stored.steps, from);
    const handle = await run.engine.retry(runId, kept, { ...goOn, turn: kept.turn, input });
    await handle.ended;
    return pausedRun(run.store, run.engine, runId).look();
  };
  return { ...run, model, failed, retry, sent, paid };
}

test('a run that failed between two calls resumes with them: no call is made and no answer requested twice', async () => {
  const { retry, events, model, sent, paid } = await failedInTheMiddle();
  const { run, tools } = await retry();
  expect(run).toMatchObject({ status: 'completed', result: { content: 'Done.' } });
  expect([sent, paid]).toEqual([['a letter'], [{ cents: 5, to: 'me' }]]);
  expect(tools).toMatchObject([{ result: 'sent' }, { result: 'paid 5', confirmed: true }]);
  expect(model.requests).toHaveLength(2);
  const completed = (await events()).filter(({ event }) => event === 'ToolCallCompleted');
  expect(completed.map(({ tool }) => (tool as { tool_name: string }).tool_name)).toEqual(['send', 'pay']);
});

test('new input comes after the calls', async () => {
  const { retry, runId } = await failedInTheMiddle();
  const { run, steps } = await retry(runId, 'end', 'and be quick');
  expect(messagesOf(run, steps).map(({ role, content }) => `${role}: ${content}`)).toEqual([
    'user: hello',
    'assistant: ',
    'tool: sent',
    'tool: paid 5',
    'user: and be quick',
    'assistant: Done.',
  ]);
});

test('a question without an answer is asked anew', async () => {
  const { pay, paid } = payTool({ requiresConfirmation: true });
  const { pay: other } = payTool({ name: 'other', requiresConfirmation: true });
  let isAway = false;
  const source = {
    name: 'elsewhere',
    tools: async () => {
      if (isAway) throw new Error('The tools cannot be reached.');
      return [pay, other];
    },
    close: async () => {},
  };
  const model = scriptedModel([
    { toolCalls: [call('pay', { cents: 5 }), call('other', { cents: 6 })] },
    'Done.',
  ]);
  const component = agent({ id: 'a', model, tools: [source] });
  const run = await started(component);
  const [, asked] = (await run.look()).open;
  isAway = true;
  const failed = await run.reply({ 'call pay': { confirmed: true } });
  isAway = false;
  const kept = component.continuation(failed.run, failed.steps, 'end');
  await (await run.engine.retry(run.runId, kept, { ...goOn, turn: kept.turn })).ended;
  const after = await run.look();
  expect(after.run.status).toBe('paused');
  expect(paid).toHaveLength(1);
  expect(after.open.map(({ requirement }) => requirement.callId)).toEqual(['call other']);
  expect(after.open[0]!.requirement.id).not.toBe(asked!.requirement.id);
});

test('a copy of the session does not have the answer: it is used once', async () => {
  const { retry, store, failed, paid } = await failedInTheMiddle();
  const newSessionId = newId();
  const copyId = newId();
  await store.copySession({
    sourceSessionId: failed.run.sessionId,
    newSessionId,
    now: Date.now(),
    newRunId: () => copyId,
  });
  await retry();
  await retry(copyId);
  expect(paid).toHaveLength(1);
});
