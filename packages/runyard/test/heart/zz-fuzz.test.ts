import { expect, test } from 'vitest';
import type { RunStore } from '../../src/capabilities/runs/store.js';
import { executorRunsOf, stepResultsOf } from '../../src/core/workflows/fold/workflow-fold.js';
import { workflowRequirementsOf } from '../../src/core/workflows/review/workflow-requirements.js';
import { agent, condition, loop, parallel, router, step, team, tool, workflow } from '../../src/index.js';
import { systemTimers } from '../../src/platform/engine/local/timers.js';
import { scriptedModel } from '../../src/testing.js';
import { allEvents, begin, engineOver, freshStore } from './harness.js';

const nap = () => new Promise<void>((r) => setTimeout(r, 1 + Math.random() * 3));
const quick = {
  ...systemTimers,
  after: (ms: number, w: () => void) => systemTimers.after(ms === 25 ? 0 : ms, w),
};
const pauses = process.env.PAUSES === '1';
function make(count: (what: string) => void) {
  const t = (name: string) =>
    tool({
      name: 'work',
      description: 'w',
      requiresConfirmation: pauses && name === 'gated',
      execute: async () => {
        await nap();
        count(`tool ${name}`);
        await nap();
        return 'worked';
      },
    });
  const ag = (id: string) =>
    agent({
      id,
      tools: [t(id)],
      model: scriptedModel(async (request) => {
        await nap();
        const last = request.messages.at(-1)!;
        count(`model ${id} ${request.messages.filter((m) => m.role === 'tool').length}`);
        return last.role === 'tool'
          ? `answer ${id}`
          : { toolCalls: [{ name: 'work', arguments: {}, id: `c-${id}` }] };
      }),
    });
  const fn = (name: string) =>
    step({
      name,
      run: async ({ state, previousStepContent }) => {
        await nap();
        count(`fn ${name}`);
        state.set(name, ((state.get(name) as number | undefined) ?? 0) + 1);
        return `${name}(${String(previousStepContent).slice(0, 20)})`;
      },
    });
  const desk = (id: string, members: any[]) =>
    team({
      id,
      mode: 'broadcast',
      members,
      model: scriptedModel(async (request) => {
        await nap();
        count(`model ${id} ${request.messages.filter((m) => m.role === 'tool').length}`);
        return request.messages.at(-1)!.role === 'tool'
          ? `answer ${id}`
          : { toolCalls: [{ name: 'delegate_task_to_members', arguments: { task: 'go' }, id: `d-${id}` }] };
      }),
    });
  const inner = workflow({
    id: 'inner',
    steps: [fn('i1'), ag('iagent'), loop({ name: 'il', maxIterations: 2, steps: [fn('i2')] })],
  });
  return workflow({
    id: 'w',
    steps: [
      fn('one'),
      ag('solo'),
      parallel({
        name: 'par',
        steps: [fn('p1'), ag('gated'), desk('desk', [ag('m1'), desk('sub', [ag('m2')])]), inner],
      }),
      loop({ name: 'loop', maxIterations: 2, steps: [ag('looped'), fn('l1')] }),
      condition({
        name: 'cond',
        when: () => {
          count('when');
          return true;
        },
        steps: [fn('c1')],
      }),
      router({ name: 'route', choices: [fn('r1'), fn('r2')], select: () => 'r2' }),
      fn('last'),
    ],
  });
}

/** Store whose commits stop after n. */
function dying(store: RunStore, n: number) {
  let left = n;
  let reached!: () => void;
  const died = new Promise<void>((r) => {
    reached = r;
  });
  const proxy = new Proxy(store, {
    get(target, name) {
      const value = (target as any)[name];
      if (typeof value !== 'function') return value;
      if (name === 'commit')
        return (writes: any) => {
          if (left <= 0) {
            reached();
            return new Promise(() => {});
          }
          left -= 1;
          return value.call(target, writes);
        };
      if (name === 'renewLeases') return async () => {};
      return value.bind(target);
    },
  });
  return { proxy: proxy as RunStore, died };
}

function check(events: any[], where: string) {
  const keys = events.map((e) => e.key).filter((k) => k !== null);
  const dup = keys.filter((k, i) => keys.indexOf(k) !== i);
  if (dup.length) console.log(where, 'dup keys', dup.slice(0, 5));
  const idx = events.map((e) => e.index);
  if (idx.some((v, i) => i > 0 && v <= idx[i - 1])) console.log(where, 'index order');
  const data = events.map((e) => JSON.parse(e.data));
  const count = (f: (d: any) => boolean) => data.filter(f).length;
  for (const [start, end] of [
    ['StepStarted', 'StepCompleted'],
    ['LoopExecutionStarted', 'LoopExecutionCompleted'],
    ['LoopIterationStarted', 'LoopIterationCompleted'],
    ['ParallelExecutionStarted', 'ParallelExecutionCompleted'],
    ['ConditionExecutionStarted', 'ConditionExecutionCompleted'],
    ['RouterExecutionStarted', 'RouterExecutionCompleted'],
    ['ToolCallStarted', 'ToolCallCompleted'],
    ['TeamToolCallStarted', 'TeamToolCallCompleted'],
  ] as const) {
    const s = count((d) => d.event === start),
      e = count((d) => d.event === end);
    if (s !== e) console.log(where, start, s, end, e);
  }
  for (const d of data) {
    if (d.event.startsWith('Team') && 'agent_id' in d) console.log(where, 'agent_id on', d.event);
    if (
      /^(Workflow|Step|Loop|Parallel|Condition|Router)/.test(d.event) &&
      ('agent_id' in d || 'team_id' in d)
    )
      console.log(where, 'agent on', d.event);
  }
  const ids = [...new Set(data.map((d) => d.run_id))];
  for (const id of ids) {
    const mine = data.filter((d) => d.run_id === id).map((d) => d.event);
    const ends = mine.filter((n) => /^(Team)?(Run|Workflow)Completed$/.test(n)).length;
    if (ends !== 1) console.log(where, 'ends', id, ends, mine[0]);
    const starts = mine.filter((n) => /^(Team)?(Run|Workflow)Started$/.test(n)).length;
    if (starts < 1 || starts > 2) console.log(where, 'starts', id, starts);
  }
  return ids.length;
}
const strip = (v: any): any =>
  JSON.parse(
    JSON.stringify(v, (k, x) =>
      k === 'metrics' || k === 'step_id' || k === 'step_run_id' || k === 'duration' ? undefined : x,
    ),
  );

async function finish(engine: any, store: RunStore, runId: string) {
  // answers pauses
  for (;;) {
    const { run, steps } = (await store.load(runId))!;
    if (run.status !== 'paused') return;
    const open = workflowRequirementsOf(run, steps).open.flatMap((s) => s.calls);
    await (
      await engine.answer(runId, {
        answers: new Map(open.map((c) => [c.waitKey, { answer: 'confirmed', confirmed: true }])),
        continuation: { turn: 0, input: null, options: {} },
      })
    ).ended.catch(() => {});
  }
}

test('fuzz', async () => {
  let baseline: any;
  let baseIds = 0;
  let baseCounts: any;
  {
    const counts: Record<string, number> = {};
    const store = await freshStore();
    const w = make((x) => {
      counts[x] = (counts[x] ?? 0) + 1;
    });
    const e = engineOver(store, [w]);
    const h = await begin(e, store, w);
    await h.ended;
    await finish(e, store, h.runId);
    const { run, steps } = (await store.load(h.runId))!;
    expect(run.status).toBe('completed');
    baseline = strip({
      c: run.result!.content,
      s: run.result!.sessionState,
      r: stepResultsOf(run, steps),
      runs: executorRunsOf(run, steps)
        .map((x) => [x.run.componentId, x.run.status])
        .sort(),
    });
    baseIds = check(await allEvents({ events: () => e.events(h.runId, 0) }), 'base');
    baseCounts = counts;
    console.log(JSON.stringify(counts));
  }
  for (let n = 1; n < 150; n += 1) {
    const counts: Record<string, number> = {};
    const note = (x: string) => {
      counts[x] = (counts[x] ?? 0) + 1;
    };
    const store = await freshStore();
    const first = make(note);
    const { proxy, died } = dying(store, n);
    const dead = engineOver(proxy, [first], { leaseMs: 1, timers: quick });
    const started = begin(dead, proxy, first, { background: true }).catch(() => undefined);
    const h = await Promise.race([started, died.then(() => undefined)]);
    const over =
      h === undefined
        ? true
        : await Promise.race([
            h.ended.then(
              () => false,
              () => true,
            ),
            died.then(() => true),
          ]);
    if (!over && !pauses) {
      console.log('commits', n);
      break;
    }
    let runId = h?.runId;
    if (!over) {
      // paused, crash during the continue
      const going = finish(dead, proxy, runId!).then(
        () => false,
        () => true,
      );
      if (!(await Promise.race([going, died.then(() => true)]))) {
        console.log('commits', n);
        break;
      }
    }
    if (runId === undefined) {
      const found = await store.expired(Date.now() + 10, 10, 0);
      if (found.length === 0) continue;
      runId = found[0]!.runId;
    }
    const before = (await store.load(runId))!;
    const doneBefore = before.steps.filter((s) => s.status === 'completed').map((s) => s.key);
    const countsBefore = { ...counts };
    const next = engineOver(store, [make(note)]);
    await new Promise((r) => setTimeout(r, 3));
    if (before.run.status !== 'paused') {
      await next.recover();
      await allEvents({ events: () => next.events(runId!, 0) });
    }
    await finish(next, store, runId);
    const events = await allEvents({ events: () => next.events(runId!, 0) });
    const { run, steps } = (await store.load(runId))!;
    const now = strip({
      c: run.result?.content,
      s: run.result?.sessionState,
      r: stepResultsOf(run, steps),
      runs: executorRunsOf(run, steps)
        .map((x) => [x.run.componentId, x.run.status])
        .sort(),
    });
    try {
      expect(now).toEqual(baseline);
    } catch (e) {
      console.log('n', n, run.status, (e as Error).message.slice(0, 600));
    }
    const ids = check(events, `n=${n}`);
    if (ids !== baseIds) console.log('n', n, 'run ids', ids, baseIds);
    for (const [k, v] of Object.entries(counts))
      if (v > baseCounts[k] * 2) console.log('n', n, 'too often', k, v);
    void doneBefore;
    void countsBefore;
    const repeated = Object.entries(counts)
      .filter(([k, v]) => v > baseCounts[k])
      .map(([k]) => k);
    if (repeated.length > 6) console.log('n', n, 'repeated', repeated.join(', '));
  }
}, 300000);
