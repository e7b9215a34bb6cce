import { expect, it } from 'vitest';
import type { TraceFilter } from '../../../src/capabilities/traces/filter.js';
import { SessionStatisticsStore } from '../../../src/capabilities/traces/sessions/session-statistics-store.js';
import type { TracesTable } from '../../../src/capabilities/traces/tables.js';
import { newId } from '../../../src/core/ids.js';
import { queryBuilder } from '../../../src/platform/storage/query-builder.js';
import { forEachDatabase } from '../../support/databases.js';
import { aTrace, noon, storeTraces } from './traces-rows.js';

const everyone = { kind: 'all' } as const;
const minute = 60_000;

/** Always the same numbers. */
function numbers() {
  let state = 7;
  return (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

/** What a page has to hold: all traces are grouped, sorted and cut. */
function expected(traces: readonly TracesTable[], fits: (trace: TracesTable) => boolean) {
  const sessions = new Map<string, { sessionId: string; traces: number; last: number }>();
  for (const { session_id: sessionId, start_time: time } of traces.filter(fits)) {
    const known = sessions.get(sessionId) ?? { sessionId, traces: 0, last: 0 };
    sessions.set(sessionId, { sessionId, traces: known.traces + 1, last: Math.max(known.last, time) });
  }
  return [...sessions.values()].sort(
    (one, other) => other.last - one.last || (one.sessionId < other.sessionId ? 1 : -1),
  );
}

forEachDatabase((dialect, freshPlace) => {
  it('pages of sessions are those of all traces, also after new ones and after the removal of old ones', async () => {
    const database = await (await freshPlace()).open();
    const store = new SessionStatisticsStore(database);
    const below = numbers();
    // several sessions end in the same minute, and some have many traces
    const random = (time: number, sessions = 1_500) =>
      aTrace({
        run_id: newId(),
        session_id: `session-${String(below(below(2) === 0 ? sessions : 50)).padStart(5, '0')}`,
        user_id: below(3) === 0 ? null : `user-${below(2)}`,
        component_id: below(10) === 0 ? 'rare' : 'writer',
        start_time: time - (time % minute),
      });
    let traces = Array.from({ length: 7_000 }, () => random(noon - below(1_000) * minute));
    await storeTraces(database, traces);
    // autovacuum does this within a minute; until then PostgreSQL plans for a table that is empty
    if (dialect === 'postgres') await queryBuilder().sql`ANALYZE traces`.execute(database.query);
    const filters: [TraceFilter | null, (trace: TracesTable) => boolean][] = [
      [null, () => true],
      [{ op: 'EQ', key: 'agent_id', value: 'writer' }, ({ component_id: id }) => id === 'writer'],
      [
        { op: 'NEQ', key: 'user_id', value: 'user-0' },
        ({ user_id: user }) => ![null, 'user-0'].includes(user),
      ],
      [{ op: 'LTE', key: 'duration_ms', value: 100 }, () => true],
    ];
    const compare = async () => {
      for (const [filter, fits] of filters) {
        const all = expected(traces, fits);
        for (const offset of [0, 180, 490, 501, 777, all.length - 23, all.length - 1, all.length]) {
          const page = await store.page(everyone, filter, { offset, limit: 20 });
          expect(page.total).toBe(all.length);
          const items = page.items.map(({ sessionId, traces: count, last }) => ({
            sessionId,
            traces: count,
            last,
          }));
          expect(items).toEqual(all.slice(offset, offset + 20));
        }
      }
    };
    const add = async (more: TracesTable[]) => {
      traces = [...traces, ...more];
      await storeTraces(database, more);
    };
    await compare();
    // of known sessions, of new ones, and a bit earlier than what was there
    await add(Array.from({ length: 40 }, () => random(noon + below(3) * minute, 1_900)));
    await compare();
    const cut = noon - 900 * minute;
    traces = traces.filter(({ start_time: time }) => time >= cut);
    await database.query.deleteFrom('traces').where('start_time', '<', cut).execute();
    await compare();
    await add([random(noon + 10 * minute, 3_000)]);
    await compare();
  });
});
