import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agent, Runyard } from 'runyard';
import { scriptedModel } from 'runyard/testing';

/**
 * A service whose schedules have the ticks that the test has written into its folder, by the name that stands where
 * their cron expression does. What schedules do is appended to a file: the test counts it.
 */
const { CHAOS_FOLDER: folder = '.', CHAOS_DATABASE: database, CHAOS_SETTINGS: settings = '{}' } = process.env;

const all = JSON.parse(readFileSync(join(folder, 'ticks.json'), 'utf8')) as Record<string, number[]>;

async function ticksOf(cron: string) {
  const ticks = all[cron] ?? [];
  return {
    next: (after: number) => ticks.find((tick) => tick > after),
    between: (after: number, until: number, limit: number) =>
      ticks.filter((tick) => tick > after && tick <= until).slice(-limit),
  };
}
Reflect.set(globalThis, Symbol.for('runyard.ticks'), ticksOf);

export const app = new Runyard({
  port: 0,
  dataDir: folder,
  ...(database !== undefined && { database }),
  logFormat: 'json',
  logLevel: 'error',
  agents: [agent({ id: 'echo', model: scriptedModel(() => 'done') })],
  routes: (server) => {
    server.post('/effects', async ({ caller }) => {
      appendFileSync(join(folder, 'effects'), `tick\t${caller?.schedule?.scheduleRunId}\t${process.pid}\n`);
      return {};
    });
  },
  ...(JSON.parse(settings) as object),
});
