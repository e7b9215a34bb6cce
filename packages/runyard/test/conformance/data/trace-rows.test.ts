import { expect, it } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { TraceStore } from '../../../src/capabilities/traces/store.js';
import { introductionOf } from '../../../src/core/runs/execution/introduction.js';
import { inheritedAttempt } from '../../../src/core/runs/run.js';
import { isFailedStep, spanStepKinds, traceIdOf } from '../../../src/core/traces/span.js';
import { spansOf } from '../../../src/core/traces/spans-of-run.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';
import { aRun, aStep, creation, finished, progress, resting, resumption, start } from '../builders.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const rowsIn = (database: Database) =>
  database.query.selectFrom('traces').selectAll().orderBy('run_id').execute();

forEachDatabase((_, freshPlace) => {
  async function opened() {
    const database = await (await freshPlace()).open();
    return { database, runs: new RunStore(database) };
  }

  it('writes the row of a trace with the first write of its run', async () => {
    const { database, runs } = await opened();
    const run = aRun({ componentName: 'Good Writer', userId: 'ada', traceParent: traceparent });
    await runs.commit([creation(run)]);
    expect(await rowsIn(database)).toEqual([
      {
        run_id: run.runId,
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
        name: 'Good_Writer.arun',
        status: 'UNSET',
        kind: 'agent',
        component_id: 'writer',
        session_id: 'session-1',
        user_id: 'ada',
        start_time: start,
        end_time: start,
      },
    ]);
  });

  it('follows the run: it rests, resumes, and ends', async () => {
    const { database, runs } = await opened();
    const run = aRun();
    const look = async () =>
      (await rowsIn(database)).map(({ status, end_time }) => [status, end_time - start]);
    await runs.commit([creation(run)]);
    await runs.commit([progress(run, { updatedAt: start + 5 })]);
    expect(await look()).toEqual([['UNSET', 0]]);
    await runs.commit([progress(run, { ...finished, status: 'paused', updatedAt: start + 10 })]);
    expect(await look()).toEqual([['OK', 10]]);
    const paused = aRun({ ...run, ...resting, status: 'paused' });
    await runs.commit([resumption(paused, start + 20)]);
    expect(await look()).toEqual([['UNSET', 20]]);
    const next = { ...run, attempt: 2 };
    await runs.commit([progress(next, { ...finished, status: 'error', updatedAt: start + 30 })]);
    expect(await look()).toEqual([['ERROR', 30]]);
    await runs.commit([resumption({ ...paused, attempt: 2, status: 'error' }, start + 40)]);
    await runs.commit([progress({ ...run, attempt: 3 }, { ...finished, updatedAt: start + 50 })]);
    expect(await look()).toEqual([['OK', 50]]);
  });

  it('writes one row for a run that ends with its first write, and none for a write that is refused', async () => {
    const { database, runs } = await opened();
    const run = aRun();
    await runs.commit([
      { ...creation(run), update: progress(run, { ...finished, updatedAt: start + 7 }).update! },
    ]);
    await runs.commit([creation(aRun({ ...run, componentId: 'thief' }))]);
    expect(await rowsIn(database)).toMatchObject([
      { trace_id: traceIdOf(run), status: 'OK', component_id: 'writer', end_time: start + 7 },
    ]);
  });

  it('has no trace of an introduction, a nested run, or a copied session', async () => {
    const { database, runs } = await opened();
    const run = aRun({ ...resting, status: 'completed' });
    await runs.commit([
      introductionOf(run, 'Welcome!').drain()!,
      creation(run),
      creation(aRun({ parentRunId: run.runId })),
    ]);
    let copies = 0;
    await runs.copySession({
      sourceSessionId: run.sessionId,
      newSessionId: 'copy',
      now: start,
      newRunId: () => `copy-${++copies}`,
    });
    expect(copies).toBeGreaterThan(0);
    expect((await rowsIn(database)).map(({ run_id }) => run_id)).toEqual([run.runId]);
  });

  it('creates the row of a run that resumes without one', async () => {
    const { database, runs } = await opened();
    const failed = aRun({ ...resting, status: 'error', userId: 'ada' });
    await runs.commit([creation(failed)]);
    const copy = { sourceSessionId: failed.sessionId, newSessionId: 'copy', newRunId: () => 'copied' };
    await runs.copySession({ ...copy, now: start });
    const copied = (await runs.load('copied'))!.run;
    const goesOn = { ...copied, status: 'running', attempt: 2, updatedAt: start + 20 } as const;
    const write = resumption(copied, start + 20);
    expect(await runs.commit([{ ...write, claims: { ...write.claims!, run: goesOn } }])).toEqual([]);
    const row = async () => (await rowsIn(database)).find(({ run_id }) => run_id === 'copied');
    expect(await row()).toMatchObject({
      status: 'UNSET',
      session_id: 'copy',
      user_id: 'ada',
      start_time: start,
      end_time: start + 20,
    });
    await runs.commit([progress(goesOn, { ...finished, updatedAt: start + 30 })]);
    expect(await row()).toMatchObject({ status: 'OK', end_time: start + 30 });
  });

  it('takes an id that was used before as another run', async () => {
    const { database, runs } = await opened();
    const run = aRun({ ...resting, status: 'completed' });
    await runs.commit([creation(run)]);
    await database.query.deleteFrom('runs').execute();
    await runs.commit([creation(aRun({ runId: run.runId, createdAt: start + 99, componentId: 'other' }))]);
    expect(await rowsIn(database)).toMatchObject([{ start_time: start + 99, component_id: 'other' }]);
  });

  it('records nothing when it is not asked to', async () => {
    const { database } = await opened();
    const runs = new RunStore(database, { traces: false });
    const run = aRun();
    expect(await runs.commit([creation(run)])).toEqual([]);
    expect(await runs.commit([progress(run, finished)])).toEqual([]);
    expect(await rowsIn(database)).toEqual([]);
    expect((await runs.load(run.runId))?.run.status).toBe('completed');
  });

  it('counts the same spans and failures as the fold finds', async () => {
    const { database, runs } = await opened();
    const run = aRun();
    const output = {
      callId: 'c',
      content: 'x',
      error: false,
      args: {},
      listed: true,
      usage: {},
      finishReason: 'stop',
      timeToFirstToken: 0,
      role: 'model',
      model: { id: 'small', provider: 'Acme' },
      outcome: 'passed',
      turn: 0,
      input: null,
      options: {},
      query: 'x',
      references: [],
      format: 'json',
    };
    const kinds = [...spanStepKinds, 'context', 'continue', 'answer', 'decision', 'introduction'] as const;
    const steps = kinds.flatMap((kind, position) => {
      const base = {
        kind,
        key: `${kind}:0:0`,
        output: kind === 'context' ? { system: null, user: '', history: [] } : output,
      };
      const seq = position * 4;
      return [
        aStep(run, seq, base),
        aStep(run, seq + 1, {
          ...base,
          key: `${kind}:1:0`,
          status: 'error',
          output: null,
          error: { message: 'no' },
        }),
        aStep(run, seq + 2, { ...base, key: `${kind}:2:0`, error: true }),
        aStep(run, seq + 3, { ...base, key: `${kind}:3:0`, error: true, attempt: inheritedAttempt }),
      ];
    });
    await runs.commit([creation(run, { steps })]);
    const [, ...spans] = spansOf((await runs.load(run.runId))!);
    const counted = (await new TraceStore(database).shown([run.runId])).counts.get(run.runId);
    expect(spans).toHaveLength(spanStepKinds.length * 3);
    expect(counted).toEqual({
      spans: spans.length,
      failed: spans.filter(({ status }) => status === 'ERROR').length,
    });
    expect(steps.filter(isFailedStep).length).toBeGreaterThan(counted!.failed);
  });
});
