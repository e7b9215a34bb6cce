import { expect, it } from 'vitest';
import { DatabaseSessions } from '../../../src/capabilities/sessions/database-service.js';
import type { SessionFilter, SessionOrder } from '../../../src/capabilities/sessions/list-store.js';
import type { RunKind } from '../../../src/core/runs/run.js';
import type { DataScope } from '../../../src/platform/auth/caller.js';
import { forEachDatabase } from '../../support/databases.js';
import { start } from '../builders.js';

const everyone = { kind: 'all' } as const;
const newest: SessionOrder = { by: 'created_at', direction: 'desc' };
const all = { offset: 0, limit: 1_000 };

interface Given {
  readonly kind?: RunKind;
  readonly componentId?: string;
  readonly userId?: string | null;
  readonly name?: string | null;
  readonly at?: number;
}

forEachDatabase((_dialect, freshPlace) => {
  async function sessionsWith(given: Readonly<Record<string, Given>>) {
    const sessions = new DatabaseSessions(await (await freshPlace()).open());
    let at = start;
    for (const [sessionId, session] of Object.entries(given)) {
      at += 1;
      const { kind = 'agent', componentId = 'writer', userId = null, name = null } = session;
      const base = { sessionId, kind, componentId, userId, name };
      const nothing = { shownName: null, state: {}, metadata: null };
      await sessions.create({ ...base, ...nothing, now: session.at ?? at });
    }
    const list = (filter: SessionFilter = {}, order = newest, scope: DataScope = everyone) =>
      sessions.ids(scope, filter, order, all);
    return { sessions, list };
  }

  it('fits all filters', async () => {
    const { sessions, list } = await sessionsWith({
      a: { userId: 'ada', name: 'Birds of Rome', at: start },
      b: { userId: 'bob', kind: 'team', componentId: 'desk', at: start + 1_000 },
      c: { userId: 'ada', kind: 'workflow', componentId: 'writer', name: 'birds', at: start + 2_000 },
      d: { userId: '', at: start + 3_000 },
      e: { componentId: '', at: start + 4_000 },
    });
    const ada = { kind: 'user', userId: 'ada' } as const;
    expect(await list()).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect(await list({ kind: 'agent' })).toEqual(['e', 'd', 'a']);
    expect(await list({ componentId: 'writer' })).toEqual(['d', 'c', 'a']);
    expect(await list({ componentId: 'writer', kind: 'workflow' })).toEqual(['c']);
    expect(await list({ componentId: 'desk', kind: 'agent' })).toEqual([]);
    expect(await list({}, newest, ada)).toEqual(['c', 'a']);
    expect(await list({ kind: 'agent', componentId: 'writer', name: 'bird' }, newest, ada)).toEqual(['a']);
    expect(await list({}, newest, { kind: 'user', userId: '' })).toEqual(['d']);
    expect(await list({ name: 'BIRDS' })).toEqual(['c', 'a']);
    expect(await list({ created: { from: start + 1_000, until: start + 3_000 } })).toEqual(['c', 'b']);
    const query = { kind: 'agent', name: 'of' } as const;
    expect([await list(query), await sessions.count(everyone, query)]).toEqual([['a'], 1]);
    expect(await sessions.count(ada, { kind: 'workflow' })).toBe(1);
  });

  it('finds a part of a name in any case and script, and takes every character for itself', async () => {
    const { list } = await sessionsWith({
      umlaut: { name: 'ÜBER Ärzte' },
      percent: { name: '100% sure' },
      line: { name: 'snake_case' },
      kelvin: { name: 'Grüße aus \u212Aöln' },
      long: { name: `${'x'.repeat(300)} end` },
      quote: { name: `it's "quoted" \\ slashed` },
    });
    for (const order of [newest, { by: 'updated_at', direction: 'desc' }] as const) {
      const named = (name: string) => list({ name }, order);
      expect(await named('über ä')).toEqual(['umlaut']);
      expect(await named('%')).toEqual(['percent']);
      expect(await named('_')).toEqual(['line']);
      expect(await named('a_e')).toEqual([]);
      expect(await named('GRÜSSE')).toEqual([]);
      expect(await named('köln')).toEqual(['kelvin']);
      expect(await named('xxx')).toEqual(['long']);
      expect(await named('"QUOTED" \\')).toEqual(['quote']);
      expect(await named('')).toHaveLength(6);
    }
  });

  it('sorts by every column, both ways, with one order among equals', async () => {
    const same = start;
    const { sessions, list } = await sessionsWith({
      a: { userId: 'u2', componentId: 'z', at: same },
      b: { userId: null, kind: 'team', componentId: 'y', at: same },
      c: { userId: 'u1', componentId: 'x', at: same },
      d: { userId: 'u1', kind: 'workflow', componentId: 'w', at: same },
      e: { userId: 'u3', componentId: 'x', at: same },
    });
    await sessions.change(everyone, 'b', { now: same + 5 });
    const expected: Record<SessionOrder['by'], string> = {
      created_at: 'edcba',
      updated_at: 'bedca',
      session_id: 'edcba',
      user_id: 'eadcb',
      kind: 'dbeca',
      agent: 'aecdb',
      team: 'bedca',
      workflow: 'decba',
    };
    for (const [by, ids] of Object.entries(expected) as [SessionOrder['by'], string][]) {
      const backwards = [...ids].reverse();
      expect(await list({}, { by, direction: 'desc' }), by).toEqual([...ids]);
      expect(await list({}, { by, direction: 'asc' }), by).toEqual(backwards);
      for (const direction of ['asc', 'desc'] as const) {
        const paged: string[] = [];
        for (let offset = 0; offset < 6; offset += 2)
          paged.push(...(await sessions.ids(everyone, {}, { by, direction }, { offset, limit: 2 })));
        expect(paged, `${by} in pages`).toEqual(direction === 'desc' ? [...ids] : backwards);
      }
    }
    const byAgent = { by: 'agent', direction: 'desc' } as const;
    expect(await list({ kind: 'agent' }, byAgent)).toEqual(['a', 'e', 'c']);
    expect(await list({ kind: 'team' }, byAgent)).toEqual(['b']);
    expect(await sessions.ids(everyone, {}, byAgent, { offset: 100, limit: 5 })).toEqual([]);
  });
});
