import { describe, expect, test } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import type { Json } from '../../../src/core/json.js';
import type { RunContext } from '../../../src/core/runs/context.js';
import { RunFailed } from '../../../src/core/runs/executable.js';
import { anyRecord } from '../../../src/core/runs/journal/records.js';
import { freshSqlite } from '../../support/databases.js';
import { answers, begin, engineOver, executable, gate, goOn } from '../harness.js';

async function freshYard() {
  const database = await (await freshSqlite()).open();
  /** What is stored of the run: its own row first, then its usage. */
  const stored = async (runId: string) => {
    const rows = await database.query
      .selectFrom('run_usage')
      .select(['purpose', 'run_count', 'total_tokens'])
      .where('run_id', '=', runId)
      .orderBy('purpose')
      .execute();
    return rows.map((row) => [row.purpose, row.run_count, row.total_tokens]);
  };
  return { store: new RunStore(database), stored };
}

/** A model call that uses so many tokens. */
function call(context: RunContext, key: string, tokens: number): Promise<Json> {
  const model = { id: 'small', provider: 'Acme' };
  const usage = { inputTokens: tokens, outputTokens: 0, totalTokens: tokens };
  return context.step(key, { kind: 'model', name: 'small', record: anyRecord }, async () => ({
    content: '',
    model,
    usage,
  }));
}

const cancelRequest = (runId: string) => ({
  runId,
  kind: 'agent' as const,
  componentId: 'spender',
  sessionId: null,
  userId: null,
  reason: 'enough',
  requestedAt: Date.now(),
});

describe('what a run used is stored', () => {
  test('when it pauses, and once when it resumes and ends', async () => {
    const { store, stored } = await freshYard();
    const component = executable('spender', async (context) => {
      await call(context, 'model:0', 3);
      await context.wait({ key: 'go', kind: 'question', data: {} });
      await call(context, 'model:1', 4);
    });
    const engine = engineOver(store, [component]);
    const { runId, ended } = await begin(engine, component);
    await ended;
    expect(await stored(runId)).toEqual([
      ['', 1, 0],
      ['model', 0, 3],
    ]);
    await (await engine.answer(runId, answers({ 'wait:go': 'yes' }))).ended;
    expect(await stored(runId)).toEqual([
      ['', 1, 0],
      ['model', 0, 7],
    ]);
  });

  test('when it is cancelled, executed or not', async () => {
    const { store, stored } = await freshYard();
    const reached = gate();
    const component = executable('spender', async (context) => {
      await call(context, 'model:0', 3);
      if (context.run.input.content === 'ask') await context.wait({ key: 'go', kind: 'question', data: {} });
      reached.open();
      await new Promise(() => {});
    });
    const engine = engineOver(store, [component]);
    const input = { content: 'ask', media: [], options: { stream: false } };
    const asks = await begin(engine, component, { input });
    await asks.ended;
    await engineOver(store, [component]).cancel(asks.runId, cancelRequest(asks.runId));
    const works = await begin(engine, component);
    await reached.promise;
    await engine.cancel(works.runId, cancelRequest(works.runId));
    for (const { runId } of [asks, works]) {
      expect((await store.load(runId))?.run.status).toBe('cancelled');
      expect(await stored(runId)).toEqual([
        ['', 1, 0],
        ['model', 0, 3],
      ]);
    }
  });

  test('when its process died and another one ends it', async () => {
    const { store, stored } = await freshYard();
    const reached = gate();
    const component = executable('spender', async (context) => {
      await call(context, 'model:0', 3);
      reached.open();
      await new Promise(() => {});
    });
    const dead = engineOver(store, [component], { leaseMs: 1 });
    const handle = await begin(dead, component, { background: true });
    const { runId } = handle;
    await reached.promise;
    await handle.stored();
    expect(await stored(runId)).toEqual([]);
    await engineOver(store, [component]).cancel(runId, cancelRequest(runId));
    expect((await store.load(runId))?.run.status).toBe('cancelled');
    expect(await stored(runId)).toEqual([
      ['', 1, 0],
      ['model', 0, 3],
    ]);
  });

  test('without what was paid for in the session that its own was copied from', async () => {
    const { store, stored } = await freshYard();
    let failing = true;
    const component = executable('spender', async (context) => {
      await call(context, 'model:0', 3);
      await call(context, 'model:1', 10);
      if (failing) throw new RunFailed({ type: 'no', message: 'no' });
      await call(context, 'model:2', 100);
    });
    const engine = engineOver(store, [component]);
    const { runId, run, ended } = await begin(engine, component);
    await ended;
    const keep = async (id: string, key: string) => {
      const { steps } = (await store.load(id))!;
      return { steps: steps.filter((step) => step.key === key), messageIndex: 1, turn: 1 };
    };
    await (await engine.retry(runId, await keep(runId, 'model:0'), goOn)).ended;
    const copy = { sourceSessionId: run.sessionId, newSessionId: 'copy', newRunId: () => 'copied' };
    expect(await store.copySession({ ...copy, now: Date.now() })).toBe(1);
    failing = false;
    await (await engine.retry('copied', await keep('copied', 'model:0'), goOn)).ended;
    expect(await stored('copied')).toEqual([
      ['', 1, 0],
      ['model', 0, 110],
    ]);
    expect(await stored(runId)).toEqual([
      ['', 1, 0],
      ['model', 0, 23],
    ]);
  });

  test('with what was paid for turns that a retry does anew', async () => {
    const { store, stored } = await freshYard();
    let failing = true;
    const component = executable('spender', async (context) => {
      await call(context, 'model:0', 3);
      await call(context, 'model:1', 10);
      if (failing) throw new RunFailed({ type: 'no', message: 'no' });
    });
    const engine = engineOver(store, [component]);
    const { runId, ended } = await begin(engine, component);
    await ended;
    const kept = async () => {
      const { steps } = (await store.load(runId))!;
      return { steps: steps.filter(({ key }) => key === 'model:0'), messageIndex: 1, turn: 1 };
    };
    await (await engine.retry(runId, await kept(), goOn)).ended;
    failing = false;
    await (await engine.retry(runId, await kept(), goOn)).ended;
    expect((await store.load(runId))?.run.status).toBe('completed');
    expect(await stored(runId)).toEqual([
      ['', 1, 0],
      ['model', 0, 33],
    ]);
  });
});
