import { expect, it } from 'vitest';
import { copySession } from '../../../src/capabilities/runs/storage/session-copy-store.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { usageOf } from '../../../src/capabilities/sessions/usage-store.js';
import type { ModelUsage, UsageWrite } from '../../../src/core/runs/journal/ports.js';
import type { Run } from '../../../src/core/runs/run.js';
import { forEachDatabase } from '../../support/databases.js';
import { aRun, creation, finished, progress, resting, resumption, start } from '../builders.js';

const dayMs = 86_400_000;

function modelUsage(given: Partial<ModelUsage> = {}): ModelUsage {
  return {
    purpose: 'model',
    provider: 'Acme',
    model: 'small',
    inputTokens: 10,
    outputTokens: 5,
    totalTokens: 15,
    audioInputTokens: 0,
    audioOutputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    cost: null,
    ...given,
  };
}

function used(
  run: Run,
  models: readonly ModelUsage[],
  runs = [{ provider: 'Acme', model: 'small', count: 1 }],
): UsageWrite {
  return { run, runs, models };
}

forEachDatabase((_dialect, freshPlace) => {
  async function stores() {
    const database = await (await freshPlace()).open();
    const rows = () =>
      database.query
        .selectFrom('run_usage')
        .selectAll()
        .orderBy('run_id')
        .orderBy('purpose')
        .orderBy('model')
        .execute();
    return { database, runs: new RunStore(database), rows };
  }

  it('sums up what the runs of a session used, by purpose and model', async () => {
    const { database, runs } = await stores();
    const models = ['tiny', 'Large', 'small', 'medium', 'huge'];
    for (const index of models.keys()) {
      const run = aRun({ ...finished, createdAt: start + index });
      const usage = [
        ...models.slice(index).map((model) => modelUsage({ model, cost: 0.5 })),
        modelUsage({ purpose: 'memory_model' }),
      ];
      expect(await runs.commit([creation(run, { usage: used(run, usage) })])).toEqual([]);
    }
    const other = aRun({ ...finished, sessionId: 'session-2' });
    expect(await runs.commit([creation(other, { usage: used(other, []) })])).toEqual([]);
    const found = await usageOf(database, ['session-1', 'session-2', 'nowhere']);
    expect([...found.keys()].sort()).toEqual(['session-1', 'session-2']);
    const shown = (found.get('session-1') ?? []).map((row) => [
      row.purpose,
      row.model,
      row.input_tokens,
      row.cost,
    ]);
    expect(shown).toEqual([
      ['', '', 0, null],
      ['memory_model', 'small', 50, null],
      ['model', 'Large', 20, 1],
      ['model', 'huge', 50, 2.5],
      ['model', 'medium', 40, 2],
      ['model', 'small', 30, 1.5],
      ['model', 'tiny', 10, 0.5],
    ]);
    expect(found.get('session-2')).toMatchObject([{ purpose: '', total_tokens: 0 }]);
  });

  it('stores the usage of a run in the write that creates and ends it', async () => {
    const { runs, rows } = await stores();
    const run = aRun({ userId: 'ada', kind: 'team', createdAt: 20_000 * dayMs + 5, ...finished });
    const spoken = modelUsage({
      audioInputTokens: 3,
      audioOutputTokens: 4,
      cacheReadTokens: 1,
      cacheWriteTokens: 2,
    });
    const write = creation(run, {
      usage: used(
        run,
        [{ ...spoken, reasoningTokens: 6, cost: 0.25 }],
        [{ provider: 'Q:R', model: 'm2', count: 3 }],
      ),
    });
    expect(await runs.commit([write])).toEqual([]);
    const shared = {
      session_id: 'session-1',
      run_id: run.runId,
      kind: 'team',
      user_id: 'ada',
      day: 20_000,
      updated_at: expect.any(Number),
    };
    const [head, model, ...others] = await rows();
    expect(others).toEqual([]);
    expect(head).toMatchObject({
      ...shared,
      purpose: '',
      provider: 'Q:R',
      model: 'm2',
      run_count: 3,
      total_tokens: 0,
      cost: null,
    });
    expect(model).toEqual({
      ...shared,
      purpose: 'model',
      provider: 'Acme',
      model: 'small',
      run_count: 0,
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      audio_input_tokens: 3,
      audio_output_tokens: 4,
      audio_total_tokens: 7,
      cache_read_tokens: 1,
      cache_write_tokens: 2,
      reasoning_tokens: 6,
      cost: 0.25,
    });
  });

  it('replaces the stored usage of a run when it rests again', async () => {
    const { runs, rows } = await stores();
    const run = aRun({ ...resting, status: 'paused' });
    const gone = modelUsage({ purpose: 'memory_model', provider: 'odd \0 "provider"' });
    const kept = modelUsage({ provider: 'even \0 "provider"' });
    await runs.commit([creation(run, { usage: used(run, [kept, gone]) })]);
    expect(await rows()).toHaveLength(3);
    await runs.commit([resumption(run, start + 10)]);
    expect(await rows()).toHaveLength(3);
    const again = { ...run, attempt: 2 };
    const more = modelUsage({
      provider: 'even \0 "provider"',
      inputTokens: 40,
      outputTokens: 5,
      totalTokens: 45,
    });
    const other = modelUsage({ model: 'large', inputTokens: 1 });
    await runs.commit([progress(again, finished, { usage: used(run, [more, other]) })]);
    const stored = (await rows()).map((row) => [row.purpose, row.provider, row.model, row.input_tokens]);
    expect(stored).toEqual([
      ['', 'Acme', 'small', 0],
      ['model', 'Acme', 'large', 1],
      ['model', 'even \0 "provider"', 'small', 40],
    ]);
  });

  it('is the same when the write is made twice', async () => {
    const { runs, rows } = await stores();
    const run = aRun();
    await runs.commit([creation(run)]);
    const last = progress(run, finished, { usage: used(run, [modelUsage()]) });
    await runs.commit([last]);
    await runs.commit([last]);
    expect((await rows()).map(({ input_tokens: tokens }) => tokens)).toEqual([0, 10]);
  });

  it('stores nothing of a refused write, and all of the others', async () => {
    const { runs, rows } = await stores();
    const [lost, held] = [aRun({ runId: 'lost' }), aRun({ runId: 'held' })];
    await runs.commit([creation(lost), creation(held)]);
    const writes = [lost, held].map((run) =>
      progress(run, finished, {
        attempt: run === lost ? 7 : 1,
        usage: used(run, [modelUsage()]),
      }),
    );
    expect(await runs.commit(writes)).toEqual([{ runId: 'lost', reason: 'fenced' }]);
    expect((await rows()).map(({ run_id: runId }) => runId)).toEqual(['held', 'held']);
  });

  it('goes with its session', async () => {
    const { database, runs, rows } = await stores();
    const run = aRun(finished);
    await runs.commit([creation(run, { usage: used(run, [modelUsage()]) })]);
    await database.query.deleteFrom('sessions').execute();
    expect(await rows()).toEqual([]);
  });

  it('is not copied with a session: another run has paid', async () => {
    const { database, runs, rows } = await stores();
    const run = aRun(finished);
    await runs.commit([creation(run, { usage: used(run, [modelUsage()]) })]);
    const copy = {
      sourceSessionId: 'session-1',
      newSessionId: 'session-2',
      newRunId: () => 'copied',
      now: start + 1,
    };
    expect(await copySession(database, copy)).toBe(1);
    expect(new Set((await rows()).map(({ run_id: runId }) => runId))).toEqual(new Set([run.runId]));
  });
});
