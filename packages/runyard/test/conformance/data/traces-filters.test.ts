import { expect, test } from 'vitest';
import { parseFilter } from '../../../src/capabilities/traces/filter.js';
import { SessionStatisticsStore } from '../../../src/capabilities/traces/sessions/session-statistics-store.js';
import { TraceStore } from '../../../src/capabilities/traces/store.js';
import type { JsonObject } from '../../../src/core/json.js';
import { type DatabasePlace, forEachDatabase } from '../../support/databases.js';
import { aTrace, noon, storeTraces } from './traces-rows.js';

const all = { kind: 'all' } as const;

/** Three recorded runs that differ in everything, named by a letter. */
const samples = [
  aTrace({
    run_id: 'a',
    trace_id: 'a'.repeat(32),
    name: 'Müller_50%.arun',
    component_id: 'Mill_1',
    session_id: 'S-1',
    user_id: 'ada',
    start_time: noon,
    end_time: noon + 90,
  }),
  aTrace({
    run_id: 'b',
    trace_id: 'b'.repeat(32),
    name: 'Crew.arun',
    kind: 'team',
    component_id: 'crew',
    session_id: 's-2',
    user_id: 'bob',
    status: 'ERROR',
    start_time: noon + 1000,
    end_time: noon + 3500,
  }),
  aTrace({
    run_id: 'c',
    trace_id: 'c'.repeat(32),
    name: 'Flow.arun',
    kind: 'workflow',
    component_id: 'flow',
    session_id: 's-2',
    user_id: null,
    status: 'UNSET',
    start_time: noon + 2000,
    end_time: noon + 2000,
  }),
];

const compare = (op: string, key: string, value: string | number | boolean) => ({ op, key, value });
const oneOf = (key: string, values: (string | number | null)[]) => ({ op: 'IN', key, values });
const not = (condition: JsonObject) => ({ op: 'NOT', condition });

const expected: readonly (readonly [JsonObject, string])[] = [
  // exact, with regard to case; what is missing fits neither this nor the opposite
  [compare('EQ', 'user_id', 'ada'), 'a'],
  [compare('EQ', 'user_id', 'Ada'), ''],
  [compare('NEQ', 'user_id', 'ada'), 'b'],
  [not(compare('EQ', 'user_id', 'ada')), 'b'],
  [not(not(compare('EQ', 'user_id', 'ada'))), 'a'],
  [compare('EQ', 'agent_id', 'Mill_1'), 'a'],
  [compare('NEQ', 'agent_id', 'other'), 'a'],
  [not(compare('EQ', 'agent_id', 'other')), 'a'],
  [not(compare('CONTAINS', 'team_id', 'x')), 'b'],
  [compare('EQ', 'team_id', 'Mill_1'), ''],
  [compare('EQ', 'workflow_id', 'flow'), 'c'],
  [compare('EQ', 'session_id', 's-2'), 'cb'],
  [compare('EQ', 'run_id', 'b'), 'b'],
  [compare('EQ', 'trace_id', 'c'.repeat(32)), 'c'],
  [compare('EQ', 'status', 'ERROR'), 'b'],
  [compare('NEQ', 'status', 'OK'), 'cb'],
  [compare('EQ', 'status', 'error'), ''],
  [compare('EQ', 'name', 'Crew.arun'), 'b'],
  // lists
  [oneOf('status', ['OK', 'UNSET']), 'ca'],
  [oneOf('user_id', ['ada', 'bob']), 'ba'],
  [oneOf('user_id', []), ''],
  [not(oneOf('user_id', [])), 'cba'],
  [oneOf('user_id', ['ada', null]), 'a'],
  [not(oneOf('user_id', ['ada', null])), ''],
  [not(oneOf('user_id', ['ada'])), 'b'],
  [oneOf('workflow_id', ['flow']), 'c'],
  [oneOf('name', ['Crew.arun']), 'b'],
  [oneOf('duration_ms', [90, '2500', 1.5]), 'ba'],
  [oneOf('start_time', ['2026-03-01T13:00:00+01:00', 'never']), 'a'],
  // parts of texts, in any case and script; nothing is a wildcard
  [compare('CONTAINS', 'name', 'CREW'), 'b'],
  [compare('CONTAINS', 'name', 'MÜLL'), 'a'],
  [compare('CONTAINS', 'name', 'müller_50%'), 'a'],
  [compare('CONTAINS', 'name', '%'), 'a'],
  [compare('CONTAINS', 'name', '_5'), 'a'],
  [compare('CONTAINS', 'name', 'r.arun'), ''],
  [compare('CONTAINS', 'name', 'Ü*'), ''],
  [compare('CONTAINS', 'name', 'ü?'), ''],
  [compare('CONTAINS', 'name', 'ü[lL]'), ''],
  [compare('CONTAINS', 'name', 'ü.'), ''],
  [compare('CONTAINS', 'name', '\\'), ''],
  [compare('CONTAINS', 'name', ''), 'cba'],
  [compare('STARTSWITH', 'name', 'mü'), 'a'],
  [compare('STARTSWITH', 'name', 'üller'), ''],
  [compare('STARTSWITH', 'session_id', 's-'), 'cba'],
  [compare('CONTAINS', 'session_id', 's-1'), 'a'],
  [compare('CONTAINS', 'session_id', 'S-2'), 'cb'],
  [compare('STARTSWITH', 'session_id', 's-1'), 'a'],
  [compare('CONTAINS', 'name', 'EW.arUN'), 'b'],
  [compare('STARTSWITH', 'name', 'crew.'), 'b'],
  [compare('STARTSWITH', 'session_id', '-1'), ''],
  [compare('CONTAINS', 'session_id', 'T-1'), ''],
  [compare('CONTAINS', 'session_id', '1'), 'a'],
  [not(compare('CONTAINS', 'session_id', 's-1')), 'cb'],
  [oneOf('user_id', [...'nopqrstuvw', 'ada']), 'a'],
  [compare('STARTSWITH', 'agent_id', 'mill'), 'a'],
  [compare('CONTAINS', 'status', 'err'), 'b'],
  [compare('CONTAINS', 'user_id', 'B'), 'b'],
  [compare('CONTAINS', 'duration_ms', 50), 'b'],
  [compare('STARTSWITH', 'start_time', '2026-03-01T12:00:01'), 'b'],
  // order
  [compare('GT', 'user_id', 'ada'), 'b'],
  [compare('LTE', 'name', 'Flow.arun'), 'cb'],
  [compare('GT', 'duration_ms', 90), 'b'],
  [compare('GTE', 'duration_ms', '90'), 'ba'],
  [compare('LT', 'duration_ms', 89.5), 'c'],
  [compare('GT', 'duration_ms', 89.5), 'ba'],
  [compare('EQ', 'duration_ms', 89.5), ''],
  [compare('NEQ', 'duration_ms', 89.5), 'cba'],
  [compare('LT', 'duration_ms', 1e300), 'cba'],
  [compare('GT', 'duration_ms', 'long'), ''],
  [not(compare('GT', 'duration_ms', 'long')), ''],
  [compare('GTE', 'start_time', '2026-03-01T12:00:01Z'), 'cb'],
  [compare('GTE', 'start_time', '2026-03-01T14:00:01+02:00'), 'cb'],
  [compare('GT', 'created_at', '2026-03-01T12:00:01'), 'c'],
  [compare('LT', 'start_time', '2026-03-01T12:00:00.000001Z'), 'a'],
  [compare('LTE', 'end_time', '2026-03-01 12:00:02'), 'ca'],
  [compare('LT', 'end_time', '2026-03-01T12:00:02Z'), 'a'],
  [not(compare('LTE', 'end_time', '2026-03-01T12:00:02Z')), 'b'],
  [compare('GT', 'start_time', '2026-03-01'), 'cba'],
  [compare('GT', 'start_time', '2026-03-02'), ''],
  [compare('EQ', 'start_time', '2026-03-01T12:00:00Z'), 'a'],
  [compare('GT', 'start_time', 'yesterday'), ''],
  [compare('GT', 'start_time', '2026-02-31'), ''],
  // together
  [{ op: 'AND', conditions: [compare('EQ', 'session_id', 's-2'), compare('EQ', 'status', 'ERROR')] }, 'b'],
  [{ op: 'OR', conditions: [compare('EQ', 'user_id', 'ada'), compare('EQ', 'workflow_id', 'flow')] }, 'ca'],
  [not({ op: 'OR', conditions: [compare('EQ', 'user_id', 'ada'), compare('EQ', 'status', 'UNSET')] }), 'b'],
  [not({ op: 'AND', conditions: [compare('EQ', 'user_id', 'ada'), compare('EQ', 'status', 'OK')] }), 'cb'],
];

forEachDatabase((_dialect, freshPlace) => {
  async function stores(place: DatabasePlace) {
    const database = await place.open();
    return {
      database,
      traces: new TraceStore(database),
      statistics: new SessionStatisticsStore(database),
    };
  }

  test('every filter finds its matches, as single traces and as sessions', async () => {
    const { database, traces, statistics } = await stores(await freshPlace());
    await storeTraces(database, samples);
    const range = { offset: 0, limit: 20 };
    for (const [given, runIds] of expected) {
      const filter = parseFilter(given);
      const { items, total } = await traces.page(all, filter, range);
      expect({ given, found: items.map(({ run_id }) => run_id).join(''), total }).toEqual({
        given,
        found: runIds,
        total: runIds.length,
      });
      const sessions = await statistics.page(all, filter, range);
      const counted = sessions.items.reduce((sum, session) => sum + session.traces, 0);
      expect({ given, counted }).toEqual({ given, counted: runIds.length });
    }
  });

  test('texts that databases cannot hold are no danger', async () => {
    const { database, traces } = await stores(await freshPlace());
    await storeTraces(database, samples);
    for (const value of ["'; DROP TABLE traces; --", '\0', '\ud800', '%"\\', '$1']) {
      for (const op of ['EQ', 'CONTAINS', 'STARTSWITH', 'GT']) {
        await traces.page(all, parseFilter(compare(op, 'name', value)), { offset: 0, limit: 5 });
      }
    }
    expect((await traces.page(all, null, { offset: 0, limit: 5 })).total).toBe(3);
  });

  test('a caller who sees only their own finds nothing else, whatever they request', async () => {
    const { database, traces, statistics } = await stores(await freshPlace());
    await storeTraces(database, samples);
    const bob = { kind: 'user', userId: 'bob' } as const;
    const range = { offset: 0, limit: 20 };
    const everybody = parseFilter({
      op: 'OR',
      conditions: [compare('EQ', 'user_id', 'ada'), compare('CONTAINS', 'name', 'a')],
    });
    for (const filter of [null, everybody]) {
      const { items, total } = await traces.page(bob, filter, range);
      expect([items.map(({ run_id }) => run_id), total]).toEqual([['b'], 1]);
      const sessions = await statistics.page(bob, filter, range);
      expect(sessions.items).toMatchObject([
        { sessionId: 's-2', traces: 1, teamId: 'crew', workflowId: null },
      ]);
    }
    expect(await traces.ofTrace(bob, 'a'.repeat(32))).toEqual([]);
    const nobody = { kind: 'unowned' } as const;
    const unowned = await traces.page(nobody, everybody, range);
    expect([unowned.items.map(({ run_id }) => run_id), unowned.total]).toEqual([['c'], 1]);
    expect((await statistics.page(nobody, null, range)).items).toMatchObject([
      { sessionId: 's-2', traces: 1 },
    ]);
    expect(await traces.ofTrace(nobody, 'a'.repeat(32))).toEqual([]);
  });

  test('pages of many traces hold each one once, in order, also with equal times', async () => {
    const { database, traces } = await stores(await freshPlace());
    // more than are sorted in memory, four at each time
    const many = Array.from({ length: 1600 }, (_, index) =>
      aTrace({
        run_id: `run-${String((index * 7919) % 1600).padStart(4, '0')}`,
        name: index % 4 === 0 ? 'Rare.arun' : 'Usual.arun',
        start_time: noon + Math.floor(index / 4),
      }),
    );
    await storeTraces(database, many);
    const inOrder = [...many]
      .sort((one, other) => other.start_time - one.start_time || (one.run_id < other.run_id ? 1 : -1))
      .map(({ run_id, name }) => ({ run_id, name }));
    for (const [filter, fits] of [
      [null, inOrder],
      [parseFilter(compare('CONTAINS', 'name', 'arun')), inOrder],
      [parseFilter(compare('CONTAINS', 'name', 'rare')), inOrder.filter(({ name }) => name === 'Rare.arun')],
    ] as const) {
      const found: string[] = [];
      for (let offset = 0; offset < fits.length; offset += 333) {
        const { items, total } = await traces.page(all, filter, { offset, limit: 333 });
        expect(total).toBe(fits.length);
        found.push(...items.map(({ run_id }) => run_id));
      }
      expect(found).toEqual(fits.map(({ run_id }) => run_id));
      const whole = await traces.page(all, filter, { offset: 0, limit: 1_000_000 });
      expect(whole.items.map(({ run_id }) => run_id)).toEqual(found);
      expect(await traces.page(all, filter, { offset: 5000, limit: 10 })).toEqual({
        items: [],
        total: fits.length,
      });
    }
  });

  test('sessions of many traces are counted the same in every way of paging', async () => {
    const { database, statistics } = await stores(await freshPlace());
    // more than are put together in memory
    const many = Array.from({ length: 5400 }, (_, index) =>
      aTrace({
        session_id: `s-${String((index * 31) % 600).padStart(3, '0')}`,
        start_time: noon + Math.floor(index / 3),
        user_id: index % 2 === 0 ? 'ada' : 'bob',
        status: index % 100 === 0 ? 'ERROR' : 'OK',
      }),
    );
    await storeTraces(database, many);
    for (const filter of [null, parseFilter(compare('CONTAINS', 'status', 'ok'))]) {
      const fits = filter === null ? many : many.filter(({ status }) => status === 'OK');
      const whole = await statistics.page(all, filter, { offset: 0, limit: 1_000_000 });
      expect(whole.total).toBe(new Set(fits.map(({ session_id }) => session_id)).size);
      expect(whole.items.reduce((sum, { traces }) => sum + traces, 0)).toBe(fits.length);
      const lasts = whole.items.map(({ last }) => last);
      expect(lasts).toEqual([...lasts].sort((one, other) => other - one));
      const paged = [];
      for (let offset = 0; offset < whole.total; offset += 200) {
        paged.push(...(await statistics.page(all, filter, { offset, limit: 200 })).items);
      }
      expect(paged).toEqual(whole.items);
    }
    const ada = await statistics.page({ kind: 'user', userId: 'ada' }, null, { offset: 0, limit: 1 });
    expect(ada.items).toMatchObject([{ userId: 'ada', agentId: 'writer', teamId: null }]);
  });
});
