import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capture, root } from '../../scripts/lib/setup.mjs';
import { seedConversations } from './conversations.mjs';
import { seedLearnings, seedMemories } from './knowledge.mjs';
import { PostgresLoader } from './postgres-loader.mjs';
import { Random } from './random.mjs';
import { SqliteLoader } from './sqlite-loader.mjs';
import { recordTemplates } from './templates.mjs';

/** What the speed of lists, searches and details is promised for: a million spans and more. */
const whole = {
  sessions: 50_000,
  runs: 200_000,
  longestSession: 10_000,
  users: 10_000,
  memories: 100_000,
  learnings: 20_000,
  days: 60,
};

const dayMs = 86_400_000;

/**
 * Fills a new database, an SQLite file in `dataDir` or the PostgreSQL at `url`, as the service would have in sixty days,
 * and answers with what is in it. `scale`: 1 is the whole amount.
 */
export async function seedDatabase({ dataDir, url, scale = 1 }) {
  const amounts = Object.fromEntries(
    Object.entries(whole).map(([name, count]) => [name, name === 'days' ? count : Math.ceil(count * scale)]),
  );
  const until = Date.now() - 60_000;
  const templates = await recorded();
  await migrate(dataDir, url);
  const load =
    url === undefined ? new SqliteLoader(join(dataDir, 'runyard.db')) : await PostgresLoader.open(url);
  const random = new Random(6);
  const given = { load, random, amounts, until };
  const { sessions, runs, spans } = await seedConversations({ ...given, templates });
  const memoryIds = await seedMemories(given);
  const learningIds = await seedLearnings({ ...given, sessions });
  // events that are older than a day are gone
  load.insert('retention_progress', ['events', until - dayMs]);
  await load.finish();
  return { amounts, runs, spans, until, sessions: sessions.map(factsOf), memoryIds, learningIds };
}

function factsOf({ id, user, component, runs, first }) {
  return { id, user, kind: component.kind, runs, first };
}

async function recorded() {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-seed-'));
  try {
    return await recordTemplates(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In a process of its own: a connection that was open here before would hinder the loader. */
async function migrate(dataDir, url) {
  const words = ['migrate', 'bench/seed/service.mjs', '--data-dir', dataDir, '--log-level', 'warn'];
  const env = { ...process.env, ...(url && { RUNYARD_DATABASE: url }) };
  const script = join(root, 'packages/runyard/bin/runyard.mjs');
  const { code, output } = await capture(process.execPath, [script, ...words], { env });
  if (code !== 0) throw new Error(`The schema could not be made:\n${output}`);
}
