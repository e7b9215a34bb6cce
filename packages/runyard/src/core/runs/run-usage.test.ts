import { describe, expect, it } from 'vitest';
import type { Json } from '../json.js';
import type { Run, StepRecord } from './run.js';
import { usageOf, usageOfRemoved } from './run-usage.js';

const agentRun: Run = {
  runId: 'run',
  kind: 'agent',
  componentId: 'writer',
  componentName: 'Writer',
  sessionId: 'session',
  userId: null,
  askers: [],
  parentRunId: null,
  model: 'small',
  modelProvider: 'Acme',
  input: { content: 'hello', media: [], options: { stream: false } },
  createdAt: 0,
  status: 'running',
  result: null,
  attempt: 1,
  leaseOwner: null,
  leaseExpiresAt: null,
  nextEventIndex: 0,
  updatedAt: 0,
  wakeAt: null,
  lineage: null,
  traceParent: null,
  definition: null,
};
const teamRun: Run = { ...agentRun, kind: 'team' };
const workflowRun: Run = { ...agentRun, kind: 'workflow', model: null, modelProvider: null };

let seq = 0;
function step(key: string, given: Partial<StepRecord>): StepRecord {
  seq += 1;
  return {
    runId: 'run',
    seq,
    key,
    kind: 'model',
    name: key,
    parentKey: null,
    status: 'completed',
    attempt: 1,
    input: null,
    output: null,
    error: null,
    startedAt: 0,
    endedAt: 0,
    ...given,
  };
}

const tokens = (input: number, output: number, more: Record<string, number> = {}) => ({
  inputTokens: input,
  outputTokens: output,
  totalTokens: input + output,
  ...more,
});

const call = (key: string, usage: object, record: object = {}, given: Partial<StepRecord> = {}) =>
  step(key, { output: { content: '', ...record, usage } as unknown as Json, ...given });

const inside = (
  key: string,
  kind: 'member' | 'step',
  model: string | null,
  given: Partial<StepRecord> = {},
) =>
  step(key, { kind, input: { runId: key, kind: 'agent', model, modelProvider: model && 'Acme' }, ...given });

/** What is left of the entries when zeros are left out. */
const short = (usage: ReturnType<typeof usageOf>) =>
  usage.models.map(({ purpose, provider, model, inputTokens, outputTokens }) => [
    purpose,
    `${provider}:${model}`,
    inputTokens,
    outputTokens,
  ]);

describe('what a run used', () => {
  it('is nothing but the run itself when no model answered', () => {
    expect(usageOf(agentRun, [step('tool:0:0', { kind: 'tool' })])).toEqual({
      runs: [{ provider: 'Acme', model: 'small', count: 1 }],
      models: [],
    });
    expect(usageOf(workflowRun, [])).toEqual({ runs: [{ provider: '', model: '', count: 1 }], models: [] });
  });

  it('is summed by purpose and by who answered', () => {
    const steps = [
      call('model:0', tokens(10, 5, { cacheReadTokens: 4, audioInputTokens: 1 })),
      call('model:1', tokens(20, 7, { reasoningTokens: 3, audioOutputTokens: 2, cacheWriteTokens: 6 })),
      call('model:2', tokens(1, 1), { model: { id: 'other', provider: 'Else' } }),
      call(
        'memory',
        tokens(3, 2),
        { role: 'memory_model', model: { id: 'tiny', provider: 'Acme' } },
        {
          kind: 'auxiliary',
        },
      ),
    ];
    const usage = usageOf(agentRun, steps);
    expect(short(usage)).toEqual([
      ['model', 'Acme:small', 30, 12],
      ['model', 'Else:other', 1, 1],
      ['memory_model', 'Acme:tiny', 3, 2],
    ]);
    expect(usage.models[0]).toEqual({
      purpose: 'model',
      provider: 'Acme',
      model: 'small',
      inputTokens: 30,
      outputTokens: 12,
      totalTokens: 42,
      audioInputTokens: 1,
      audioOutputTokens: 2,
      cacheReadTokens: 4,
      cacheWriteTokens: 6,
      reasoningTokens: 3,
      cost: null,
    });
  });

  it('leaves out calls that failed, that are not over, and that another run has paid for', () => {
    const steps = [
      call('model:0', tokens(10, 5), {}, { attempt: 0 }),
      call('summary', tokens(9, 9), { role: 'session_summary_model', failure: 'no' }, { kind: 'auxiliary' }),
      step('model:1', { status: 'error' }),
      step('model:2', { status: 'running' }),
      step('model:3:try:1:1', { kind: 'try', status: 'error' }),
    ];
    expect(usageOf(agentRun, steps).models).toEqual([]);
  });

  it('counts answers that an agent did not accept: they have been paid for', () => {
    const steps = [
      call('model:0:try:1:0', tokens(7, 7), {}, { kind: 'try', status: 'error' }),
      call('model:0', tokens(8, 8), {}, { status: 'error' }),
    ];
    expect(usageOf(agentRun, steps).models).toMatchObject([{ inputTokens: 15, outputTokens: 15 }]);
  });

  it('costs what the calls cost whose price is known', () => {
    const prices = { 'acme:small': { input: 1_000_000, output: 2_000_000 } };
    const steps = [
      call('model:0', tokens(1, 1)),
      call('model:1', tokens(2, 0)),
      call('model:2', tokens(5, 5), { model: { id: 'unknown', provider: 'Acme' } }),
    ];
    expect(usageOf(agentRun, steps, prices).models.map(({ cost }) => cost)).toEqual([5, null]);
  });

  it('takes no number that cannot be stored', () => {
    const odd = { inputTokens: 1.6, outputTokens: Number.NaN, totalTokens: undefined };
    const prices = { 'acme:small': { input: 1, output: 1 } };
    expect(usageOf(agentRun, [call('model:0', odd)], prices).models).toMatchObject([
      { inputTokens: 2, outputTokens: 0, totalTokens: 0, cost: null },
    ]);
    const endless = call('model:0', { inputTokens: 1e300, outputTokens: -1e300, totalTokens: 1e21 });
    const [used] = usageOf(agentRun, Array(1000).fill(endless)).models;
    // a column holds whole numbers of this size, and sums of many of them
    for (const tokens of [used!.inputTokens, used!.outputTokens, used!.totalTokens])
      expect(Number.isSafeInteger(tokens)).toBe(true);
  });

  it('includes the members of a team, at any depth, under their own models', () => {
    const steps = [
      call('model:0', tokens(10, 1)),
      inside('member:1', 'member', 'small'),
      call('member:1/model:0', tokens(20, 2)),
      inside('member:2', 'member', 'large', { status: 'running' }),
      call('member:2/model:0', tokens(30, 3)),
      inside('member:2/member:1', 'member', 'tiny'),
      call('member:2/member:1/model:0', tokens(40, 4)),
    ];
    const usage = usageOf(teamRun, steps);
    expect(usage.runs).toEqual([
      { provider: 'Acme', model: 'small', count: 2 },
      { provider: 'Acme', model: 'large', count: 1 },
      { provider: 'Acme', model: 'tiny', count: 1 },
    ]);
    expect(short(usage)).toEqual([
      ['model', 'Acme:small', 30, 3],
      ['model', 'Acme:large', 30, 3],
      ['model', 'Acme:tiny', 40, 4],
    ]);
  });

  it('includes what the steps of a workflow used, and counts the workflow alone', () => {
    const steps = [
      step('node:0', { kind: 'step', input: { node: 'Step' } }),
      inside('node:0:run:1', 'step', 'small'),
      call('node:0:run:1/model:0', tokens(20, 2)),
      inside('node:0:run:1/member:1', 'member', 'tiny'),
      call('node:0:run:1/member:1/model:0', tokens(5, 5)),
    ];
    const usage = usageOf(workflowRun, steps);
    expect(usage.runs).toEqual([{ provider: '', model: '', count: 1 }]);
    expect(short(usage)).toEqual([
      ['model', 'Acme:small', 20, 2],
      ['model', 'Acme:tiny', 5, 5],
    ]);
  });

  it('keeps what was paid for steps that are gone, however often the run is tried again', () => {
    const first = [call('model:0', tokens(10, 1)), call('model:1', tokens(20, 2))];
    const spent = usageOfRemoved(teamRun, first, first.slice(1));
    const goesOn = step('continue:2', {
      kind: 'continue',
      attempt: 2,
      input: { spent: spent as unknown as Json },
    });
    const second = [
      first[0]!,
      goesOn,
      inside('member:1', 'member', 'tiny'),
      call('member:1/model:0', tokens(1, 1)),
    ];
    const again = usageOfRemoved(teamRun, second, second.slice(1));
    const last = [
      first[0]!,
      step('continue:3', { kind: 'continue', attempt: 3, input: { spent: again as unknown as Json } }),
    ];
    const usage = usageOf(teamRun, last);
    expect(short(usage)).toEqual([
      ['model', 'Acme:small', 30, 3],
      ['model', 'Acme:tiny', 1, 1],
    ]);
    expect(usage.runs.map(({ model, count }) => [model, count])).toEqual([
      ['small', 1],
      ['tiny', 1],
    ]);
  });
});
