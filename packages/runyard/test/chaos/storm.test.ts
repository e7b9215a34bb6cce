import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { patience } from '../support/patience.js';
import { embedded, onPostgres } from './places.js';
import { type StormOptions, type StormReport, storm } from './storm/storm.js';

/** RUNYARD_CHAOS_SEED repeats the choices of an earlier storm, RUNYARD_CHAOS_SECONDS says how long it lasts. */
const seed = Number(process.env.RUNYARD_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 32));
const seconds = Number(process.env.RUNYARD_CHAOS_SECONDS ?? 14);
const testMs = seconds * 1000 + patience(300_000);

const entry = fileURLToPath(new URL('./storm/application.ts', import.meta.url));
/** Few at once, so that some wait for their turn; heartbeats in every stream. */
const settings = { maxConcurrentRuns: 8, heartbeatMs: 200 };

async function rageOver(options: Omit<StormOptions, 'seed' | 'seconds'>): Promise<StormReport> {
  console.log(`RUNYARD_CHAOS_SEED=${seed} RUNYARD_CHAOS_SECONDS=${seconds}`);
  const report = await storm({ seed, seconds, ...options });
  console.log(`${report.kills} kills, ${report.acknowledged} runs`, report.counts);
  return report;
}

test(
  'a service that is killed again and again keeps every promise',
  async () => {
    const place = { ...(await embedded()), entry, settings };
    const weather = { alive: [250, 2800], away: [0, 200] } as const;
    const report = await rageOver({ place, processes: 1, clients: 16, weather });
    expect(report.violations, `seed ${seed}`).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
    expect(report.acknowledged).toBeGreaterThan(0);
  },
  testMs,
);

test(
  'two processes on one database, each killed again and again, keep every promise',
  async () => {
    const place = { ...(await onPostgres()), entry, settings: { ...settings, leaseMs: 3000 } };
    const weather = { alive: [500, 6000], away: [0, 4000] } as const;
    const report = await rageOver({ place, processes: 2, clients: 16, weather });
    expect(report.violations, `seed ${seed}`).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
    expect(report.acknowledged).toBeGreaterThan(0);
  },
  testMs,
);
