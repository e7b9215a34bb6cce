import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from '../lib/setup.mjs';

/** Provides PostgreSQL and Redis, runs every test (or those that the words name) and ends with the counts. */
export async function run(words) {
  await ensureInstalled();
  await ensureBuilt();
  const { providePostgres } = await import('../lib/postgres.mjs');
  const { provideRedis } = await import('../lib/redis.mjs');
  const interruption = watchForInterruption();
  let postgres;
  let redis;
  try {
    postgres = await providePostgres(interruption.signal);
    console.log(`PostgreSQL: ${postgres.description}`);
    redis = await provideRedis(interruption.signal);
    console.log(`Redis: ${redis.description}`);
  } catch (error) {
    await postgres?.stop();
    finish({ passed: 0, failed: 1, skipped: 0 }, interruption.signal.aborted ? undefined : error.message);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'runyard-test-'));
  const servers = { RUNYARD_TEST_POSTGRES_URL: postgres.url, RUNYARD_TEST_REDIS_URL: redis.url };
  const stop = () => Promise.all([postgres.stop(), redis.stop()]);
  try {
    const counts = await runVitest(words, servers, join(folder, 'counts.json'), interruption);
    await stop();
    finish(counts);
  } finally {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ctrl-C must not leave a database server behind: the first signal only asks everything to end. */
function watchForInterruption() {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => controller.abort());
  // npm passes a signal to the shell between us, which dies of it silently.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && controller.abort(), 250).unref();
  return controller;
}

async function runVitest(words, servers, countsFile, interruption) {
  const child = spawn(process.execPath, [`${root}node_modules/vitest/vitest.mjs`, 'run', ...words], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...servers, RUNYARD_TEST_COUNTS: countsFile },
  });
  interruption.signal.addEventListener('abort', () => {
    child.kill('SIGINT');
    setTimeout(() => child.kill('SIGKILL'), 5000).unref();
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  const counts = readCounts(countsFile);
  // A run that broke off, or that found no test for its words, is not a success whatever was counted.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

function finish({ passed, failed, skipped }, reason) {
  if (reason) console.error(reason);
  process.exitCode = failed === 0 ? 0 : 1;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
}
