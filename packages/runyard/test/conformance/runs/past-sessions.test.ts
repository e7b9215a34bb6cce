import { expect, it } from 'vitest';
import { StoredPastSessions } from '../../../src/capabilities/runs/past-sessions.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { DatabaseSessions } from '../../../src/capabilities/sessions/database-service.js';
import { MemoryJournal } from '../../../src/core/runs/journal/memory-journal.js';
import type { RunJournal } from '../../../src/core/runs/journal/ports.js';
import type { PastSession, PastSessions } from '../../../src/core/runs/past-sessions.js';
import type { Run } from '../../../src/core/runs/run.js';
import { forEachDatabase } from '../../support/databases.js';
import { aRun, creation, start } from '../builders.js';

const ada = { userId: 'ada', kind: 'agent', componentId: 'writer' } as const;
const bob = { ...ada, userId: 'bob' };

interface Opened {
  readonly journal: RunJournal;
  readonly past: PastSessions;
}

forEachDatabase((_dialect, freshPlace) =>
  define(async () => {
    const database = await (await freshPlace()).open();
    const journal = new RunStore(database);
    return {
      journal,
      past: new StoredPastSessions({ sessions: new DatabaseSessions(database), runs: journal }),
    };
  }),
);

define(async () => {
  const journal = new MemoryJournal();
  return { journal, past: journal };
}, 'in memory: ');

function define(open: () => Promise<Opened>, where = ''): void {
  function ofAda(sessionId: string, ms: number, given: Partial<Run> = {}): Run {
    const at = start + ms;
    return aRun({ userId: 'ada', sessionId, status: 'completed', createdAt: at, updatedAt: at, ...given });
  }
  const shape = (sessions: readonly PastSession[]) =>
    sessions.map(({ sessionId, runs }) => [sessionId, runs.map(({ createdAt }) => createdAt - start)]);
  const all = { exceptSessionId: 'now', sessions: 10, runs: 10 };

  it(`${where}the sessions that were used last come first, each with its last completed runs`, async () => {
    const { journal, past } = await open();
    await journal.commit(
      [
        ofAda('old', 1),
        ofAda('middle', 2),
        ofAda('old', 5),
        ofAda('middle', 3),
        ofAda('middle', 4),
        ofAda('now', 9),
      ].map((run) => creation(run)),
    );
    expect(shape(await past.latest(ada, all))).toEqual([
      ['old', [1, 5]],
      ['middle', [2, 3, 4]],
    ]);
    expect(shape(await past.latest(ada, { ...all, sessions: 1, runs: 1 }))).toEqual([['old', [5]]]);
    expect(shape(await past.latest(ada, { ...all, sessions: 5, runs: 2 }))).toEqual([
      ['old', [1, 5]],
      ['middle', [3, 4]],
    ]);
    expect(shape([(await past.read(ada, 'middle', 2))!])).toEqual([['middle', [3, 4]]]);
  });

  it(`${where}sessions of another user, without a user and with another component are not found`, async () => {
    const { journal, past } = await open();
    await journal.commit(
      [
        ofAda('hers', 1),
        ofAda('elsewhere', 2, { componentId: 'reader' }),
        aRun({ sessionId: 'nobodys', status: 'completed' }),
        aRun({ sessionId: 'his', userId: 'bob', status: 'completed', createdAt: start + 3 }),
      ].map((run) => creation(run)),
    );
    expect(shape(await past.latest(ada, all))).toEqual([['hers', [1]]]);
    expect(shape(await past.latest(bob, all))).toEqual([['his', [3]]]);
    for (const sessionId of ['his', 'nobodys', 'elsewhere', 'unheard-of'])
      expect(await past.read(ada, sessionId, 10), sessionId).toBeUndefined();
    expect(await past.read(bob, 'hers', 10)).toBeUndefined();
  });

  it(`${where}runs that did not complete are left out, and their session still has a name`, async () => {
    const { journal, past } = await open();
    const failed = ofAda('hers', 1, { status: 'error' });
    await journal.commit([
      creation(failed, { session: { ...creation(failed).session!, name: 'Greece' } }),
      creation(ofAda('hers', 2, { status: 'paused' })),
    ]);
    expect(await past.latest(ada, all)).toMatchObject([{ sessionId: 'hers', name: 'Greece', runs: [] }]);
  });
}
