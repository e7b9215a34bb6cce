import { describe, expect, it } from 'vitest';
import type { RunWrite, SessionWrite } from '../../core/runs/journal/ports.js';
import { PlanBuilder } from '../../platform/storage/write-plan.js';
import { addSessionGuards } from './write-store.js';

const session: SessionWrite = {
  sessionId: 's',
  kind: 'agent',
  componentId: 'a',
  userId: null,
  name: 'Name',
  now: 1,
};
const existing = { ...session, existing: true };
const aWrite = (parts: Partial<RunWrite>): RunWrite => ({ runId: 'r', attempt: 1, steps: [], ...parts });
const usageIn = (sessionId: string): RunWrite['usage'] => ({
  run: { sessionId, kind: 'agent', userId: null, createdAt: 1 },
  runs: [],
  models: [],
});
const summaryIn = (sessionId: string): RunWrite['summary'] => ({
  sessionId,
  summary: '',
  topics: [],
  updatedAt: 1,
  coversUntil: 1,
});
const stateIn = (sessionId: string): RunWrite['state'] => ({ sessionId, set: {}, remove: [] });
const row = (sessionId: string, runs: number) => [
  sessionId,
  'agent',
  'a',
  null,
  'Name',
  'name',
  null,
  1,
  runs,
];

/** The rows of each guard, by its name. */
function guardsOf(...writes: RunWrite[]) {
  const plan = new PlanBuilder<'foreign_session'>();
  addSessionGuards(plan, writes);
  return Object.fromEntries(plan.guards.map(({ write, rows }) => [write.name, rows]));
}

describe('the guards of sessions', () => {
  it('lock a session that may be made by making it', () => {
    const own = { state: stateIn('s'), summary: summaryIn('s'), usage: usageIn('s') };
    expect(guardsOf(aWrite({ session, ...own }))).toEqual({ touched_sessions: [row('s', 0)] });
  });

  it.each([{ state: stateIn('other') }, { summary: summaryIn('other') }, { usage: usageIn('other') }])(
    'lock all sessions in one order when a write changes another one, too: %j',
    (parts) => {
      const expected = { locked_sessions: [['s'], ['other']], touched_sessions: [row('s', 0)] };
      expect(guardsOf(aWrite({ session, ...parts }))).toEqual(expected);
    },
  );

  it('lock a session that was there, and one that only gets rows', () => {
    expect(guardsOf(aWrite({ session: existing }))).toEqual({
      locked_sessions: [['s']],
      touched_known_sessions: [row('s', 0)],
    });
    expect(guardsOf(aWrite({ usage: usageIn('s') }))).toEqual({ locked_sessions: [['s']] });
    expect(guardsOf(aWrite({}))).toEqual({});
  });

  it('lock those that writes together may make, and those that were there', () => {
    const other = { ...existing, sessionId: 'other' };
    expect(guardsOf(aWrite({ session }), aWrite({ session: other }))).toEqual({
      locked_sessions: [['s'], ['other']],
      touched_sessions: [row('s', 0)],
      touched_known_sessions: [row('other', 0)],
    });
    // what one of them may make is made
    expect(guardsOf(aWrite({ session: existing }), aWrite({ session, usage: usageIn('s') }))).toEqual({
      touched_sessions: [row('s', 0)],
    });
  });
});
