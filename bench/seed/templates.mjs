import { join } from 'node:path';
import { agent, Runyard, step, team, tool, workflow } from '../../packages/runyard/bundle/index.js';
import { loadSqliteLibrary } from '../../packages/runyard/dist/platform/storage/sqlite/library.js';
import { marks, seedComponents } from './components.mjs';

/** What runs do, and how many in a thousand do it. */
const variants = [
  { of: 'agents', share: 120, script: { rounds: 0 } },
  { of: 'agents', share: 260, script: { rounds: 1 } },
  { of: 'agents', share: 330, script: { rounds: 2, calls: 2 } },
  { of: 'agents', share: 40, script: { rounds: 1, fails: 'tool' } },
  { of: 'agents', share: 40, script: { rounds: 0, fails: 'model' } },
  { of: 'teams', share: 110, script: { rounds: 1 } },
  { of: 'workflows', share: 90, script: { rounds: 1 } },
  { of: 'workflows', share: 10, script: { rounds: 0, fails: 'model' } },
];

/** One row of these for each run, or several. */
const tables = { steps: 'run_id, seq', event_blocks: 'run_id, first_index', run_usage: 'run_id, purpose' };

/**
 * The rows that Runyard stores of one run of each kind, of each component: the runs are made by the product itself in a
 * folder of their own, and read from its database.
 */
export async function recordTemplates(dataDir) {
  const { script, ...components } = seedComponents({ agent, team, workflow, tool, step });
  const app = new Runyard({ ...components, dataDir, logLevel: 'silent', autoMigrate: true });
  const recorded = [];
  try {
    for (const { of, share, script: wanted } of variants) {
      Object.assign(script, { calls: 1, fails: undefined }, wanted);
      for (const component of components[of]) {
        const options = { sessionId: `${marks.session}${recorded.length}`, userId: marks.user };
        await component.run(marks.question, options).catch(() => {});
        recorded.push({ share: share / components[of].length, kind: of, sessionId: options.sessionId });
      }
    }
  } finally {
    await app.close();
  }
  return readTemplates(join(dataDir, 'runyard.db'), recorded);
}

function readTemplates(path, recorded) {
  const { DatabaseSync } = loadSqliteLibrary();
  const database = new DatabaseSync(path, { readOnly: true });
  const all = (sql, ...parameters) => database.prepare(sql).all(...parameters);
  const templates = recorded.map(({ sessionId, ...facts }) => {
    const [session] = all('SELECT * FROM sessions WHERE session_id = ?', sessionId);
    const [run] = all('SELECT * FROM runs WHERE session_id = ?', sessionId);
    const parts = Object.entries(tables).map(([table, order]) => [
      table,
      all(`SELECT * FROM ${table} WHERE run_id = ? ORDER BY ${order}`, run.run_id),
    ]);
    const traces = all('SELECT * FROM traces WHERE run_id = ?', run.run_id);
    return { ...facts, session, rows: { runs: [run], traces, ...Object.fromEntries(parts) } };
  });
  database.close();
  return templates;
}
