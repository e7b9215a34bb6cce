import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { patience } from '../support/patience.js';
import { openRedis, redisServer } from '../support/redis.js';
import { ServerBetween } from '../support/server-between.js';
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
  const { kills, freezes, outages, acknowledged, counts } = report;
  console.log(`${kills} kills, ${freezes} freezes, ${outages} outages, ${acknowledged} runs`, counts);
  return report;
}

test(
  'a service that is killed again and again keeps every promise',
  async () => {
    const place = { ...(await embedded()), entry, settings };
    const weather = { alive: [250, 2800], away: [0, 200] } as const;
    const report = await rageOver({ places: [place], clients: 16, weather });
    expect(report.violations, `seed ${seed}`).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
    expect(report.acknowledged).toBeGreaterThan(0);
  },
  testMs,
);

test(
  'three processes with other clocks, killed and frozen, whose Redis and database come and go, keep every promise',
  async () => {
    const { database, folder } = await onPostgres();
    const postgres = await ServerBetween.before(database!);
    // other tests use the same server
    const emptied = new URL('/7', redisServer()).href;
    const redis = await Promise.all([ServerBetween.before(emptied), ServerBetween.before(emptied)]);
    const places = [0, -40_000, 55_000].map((clockAheadMs, slot) => ({
      folder,
      entry,
      database: postgres.url,
      // the last one has a way of its own to Redis
      settings: { ...settings, leaseMs: 3000, redis: redis[slot === 2 ? 1 : 0]!.url },
      clockAheadMs,
    }));
    const connection = await openRedis(emptied);
    const outages = [
      ...redis.flatMap((way) => [
        { begin: () => way.refuse(), end: () => way.open(), lasts: [100, 3000] as const },
        { begin: () => way.silence(), end: () => way.open(), lasts: [100, 3000] as const },
        { begin: () => way.breakAll(), end: () => {}, lasts: [0, 50] as const },
      ]),
      { begin: () => connection.client.flushdb(), end: () => {}, lasts: [0, 50] as const },
      { begin: () => postgres.breakAll(), end: () => {}, lasts: [0, 50] as const },
      { begin: () => postgres.refuse(), end: () => postgres.open(), lasts: [100, 1000] as const },
    ];
    const weather = { alive: [500, 6000], away: [0, 4000], frozen: [200, 5000] } as const;
    const report = await rageOver({ places, clients: 16, weather, outages });
    expect(report.violations, `seed ${seed}`).toEqual([]);
    expect(report.kills + report.freezes).toBeGreaterThan(0);
    expect(report.outages).toBeGreaterThan(0);
    expect(report.acknowledged).toBeGreaterThan(0);
  },
  testMs,
);
