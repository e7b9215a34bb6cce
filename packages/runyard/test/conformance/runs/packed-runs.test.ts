import { expect, it } from 'vitest';
import { migrations } from '../../../src/capabilities/capabilities.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { TraceStore } from '../../../src/capabilities/traces/store.js';
import { newId } from '../../../src/core/ids.js';
import type { RunWrite } from '../../../src/core/runs/journal/ports.js';
import type { Run, StepRecord } from '../../../src/core/runs/run.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { migrate } from '../../../src/platform/storage/migrations/migrate.js';
import { forEachDatabase } from '../../support/databases.js';
import { aRun, aStep, creation, finished, resting, resumption, start } from '../builders.js';

const answer = 'An answer with "quotes", \\ and \u2028';
const result = { content: answer, contentType: 'str', metrics: { total_tokens: 12 } };
const events = {
  firstIndex: 0,
  count: 2,
  payload: `e\tRunStarted\tstarted\t{"event_index":0}\ne\tRunCompleted\tend\t{"content":${JSON.stringify(answer)},"event_index":1}`,
};

function ended(given: Partial<Run> = {}): Run {
  return aRun({ ...finished, ...resting, result, nextEventIndex: 2, ...given });
}

function stepsOf(run: Run): StepRecord[] {
  return [
    aStep(run, 0, { kind: 'context', input: null, output: { user: 'hello' } }),
    aStep(run, 1, {
      ...{ parentKey: 'root', output: { content: answer } },
      // the JSON of the answer is a part of a text, too
      input: { list: [1, null, 'x'], said: `It said "${answer}` },
    }),
    aStep(run, 2, { status: 'error', error: { message: 'no' }, output: false, endedAt: null }),
  ];
}

/** The only write of a run. */
function whole(run: Run, given: Partial<RunWrite> = {}): RunWrite {
  return creation(run, { steps: stepsOf(run), events, ...given });
}

async function rowsOf(database: Database): Promise<{ steps: number; blocks: number }> {
  const steps = await database.query.selectFrom('steps').select('run_id').execute();
  const blocks = await database.query.selectFrom('event_blocks').select('run_id').execute();
  return { steps: steps.length, blocks: blocks.length };
}

forEachDatabase((_dialect, freshPlace, emptyPlace) => {
  async function stores() {
    const database = await (await freshPlace()).open();
    return { database, runs: new RunStore(database) };
  }

  it('keeps the journal of a run that ends with its first write in the row of the run', async () => {
    const { database, runs } = await stores();
    const run = ended();
    const steps = stepsOf(run);
    expect(await runs.commit([whole(run, { steps: [steps[2]!, steps[0]!, steps[1]!] })])).toEqual([]);
    expect(await rowsOf(database)).toEqual({ steps: 0, blocks: 0 });
    expect(await runs.load(run.runId)).toEqual({ run, steps });
    expect(await runs.loadAll([run.runId])).toEqual([{ run, steps }]);
    expect(await runs.eventBlocks(run.runId, 0, 5)).toEqual([events]);
    expect(await runs.eventBlocks(run.runId, 1, 5)).toEqual([events]);
    expect(await runs.eventBlocks(run.runId, 2, 5)).toEqual([]);
    expect(await runs.countEvents(run.runId, 0, 9)).toBe(2);
    expect(await runs.countEvents(run.runId, 1, 9)).toBe(1);
    expect(await runs.countEvents(run.runId, 5, 9)).toBe(0);
    const { counts } = await new TraceStore(database).shown([run.runId]);
    expect(counts.get(run.runId)).toEqual({ spans: 2, failed: 1 });
  });

  it('gives rows to a journal that is long, that is looked for, or that is not whole', async () => {
    const { database, runs } = await stores();
    const [long, member, running] = [ended(), ended(), aRun()];
    await runs.commit([
      whole(long, { size: 100_000 }),
      whole(member, { steps: [aStep(member, 0, { kind: 'member' })] }),
      whole(running),
    ]);
    expect(await rowsOf(database)).toEqual({ steps: 3 + 1 + 3, blocks: 3 });
    for (const run of [long, member, running])
      expect(await runs.eventBlocks(run.runId, 0, 5)).toEqual([events]);
    const odd = ended();
    const ofOdd = { ...events, payload: events.payload.replace('started', 'tool:\ud83d') };
    await runs.commit([whole(odd, { events: ofOdd })]);
    expect(await runs.eventBlocks(odd.runId, 0, 5)).toEqual([ofOdd]);
  });

  it('gives rows to the journal of a run that is continued', async () => {
    const { database, runs } = await stores();
    const run = ended({ status: 'error' });
    const [context, model] = stepsOf(run);
    await runs.commit([whole(run)]);
    const further = { firstIndex: 2, count: 1, payload: 'e\tRunContinued\tcontinued\t{}' };
    const again = { ...aStep(run, 1), attempt: 2 };
    const added = { ...aStep(run, 3), attempt: 2 };
    const write = resumption(run, start + 9, { steps: [again, added], removedSteps: [2], events: further });
    expect(await runs.commit([write])).toEqual([]);
    expect((await runs.load(run.runId))?.steps).toEqual([context, again, added]);
    expect(model).not.toEqual(again);
    expect(await runs.eventBlocks(run.runId, 0, 5)).toEqual([events, further]);
    expect(await runs.countEvents(run.runId, 0, 9)).toBe(3);
    expect(await rowsOf(database)).toEqual({ steps: 3, blocks: 2 });
  });

  it('stores what a run forgets in the write that continues it', async () => {
    const { runs } = await stores();
    const run = ended({ status: 'error' });
    await runs.commit([whole(run)]);
    const left = { ...events, payload: events.payload.replace('quotes', 'nothing') };
    const forgotten = { blocks: [left], texts: [] };
    expect(await runs.commit([resumption(run, start + 9, { forgotten })])).toEqual([]);
    expect(await runs.eventBlocks(run.runId, 0, 5)).toEqual([left]);
  });

  it('leaves the journal as it is when continuing the run is refused', async () => {
    const { runs } = await stores();
    const run = ended({ status: 'error' });
    await runs.commit([whole(run)]);
    const refused = await runs.commit([resumption({ ...run, attempt: 4 }, start + 9)]);
    expect(refused).toEqual([{ runId: run.runId, reason: 'fenced' }]);
    expect(await runs.load(run.runId)).toEqual({ run, steps: stepsOf(run) });
    expect(await runs.eventBlocks(run.runId, 0, 5)).toEqual([events]);
  });

  it('copies the steps with a session, and not the events', async () => {
    const { runs } = await stores();
    const run = ended();
    await runs.commit([whole(run)]);
    const copyId = newId();
    const copy = { sourceSessionId: run.sessionId, newSessionId: 'copy', now: start, newRunId: () => copyId };
    expect(await runs.copySession(copy)).toBe(1);
    expect((await runs.load(copyId))?.steps).toEqual(stepsOf({ ...run, runId: copyId }));
    expect(await runs.eventBlocks(copyId, 0, 5)).toEqual([]);
  });

  it('goes down to rows, and up again', async () => {
    const database = await (await emptyPlace()).openUnprepared();
    await migrate(database);
    const runs = new RunStore(database);
    // PostgreSQL takes no text out of JSON that has one of these
    const odd = ['NUL \0 in it', 'half \ud83d of a character'].map((content) =>
      ended({ result: { ...result, content } }),
    );
    const all = [ended(), ended({ result: null }), ...odd];
    await runs.commit(all.map((run) => whole(run)));
    const named = ended();
    const steps = [aStep(named, 0, { name: 'half \udc00' })];
    await runs.commit([whole(named, { steps })]);
    const { version } = migrations.find(({ name }) => name === 'packed-runs')!;
    const down = await migrate(database, { to: version - 1 });
    expect(down.at(-1)).toMatchObject({ name: 'packed-runs', status: 'done' });
    expect((await rowsOf(database)).steps).toBe(3 * all.length + 1);
    await migrate(database);
    for (const run of all) expect(await runs.load(run.runId)).toEqual({ run, steps: stepsOf(run) });
    expect((await runs.load(named.runId))?.steps).toEqual(steps);
  });
});
