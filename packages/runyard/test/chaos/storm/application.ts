import { agent, Runyard } from 'runyard';
import { plannedModel } from './application/models.js';
import { teams } from './application/teams.js';
import { tools } from './application/tools.js';
import { folder } from './application/traces.js';
import { workflows } from './application/workflows.js';

/**
 * The service in the storm. What a run does follows from its message alone, never from what this process did before;
 * only how long everything takes is left to chance, so that a kill finds it anywhere. What tools and steps do is
 * counted in a file that outlives the process.
 */
const { CHAOS_DATABASE: database, CHAOS_SETTINGS: settings = '{}', CHAOS_CLOCK_AHEAD_MS } = process.env;
if (CHAOS_CLOCK_AHEAD_MS !== undefined) shiftClock(Number(CHAOS_CLOCK_AHEAD_MS));

export const app = new Runyard({
  port: 0,
  dataDir: folder,
  ...(database !== undefined && { database }),
  autoMigrate: true,
  logFormat: 'json',
  logLevel: 'warn',
  agents: [agent({ id: 'storm', model: plannedModel('storm'), tools })],
  teams,
  workflows,
  ...(JSON.parse(settings) as object),
});

/** To this process, the time of day is another one than to its neighbours. */
function shiftClock(aheadMs: number): void {
  const rightNow = Date.now;
  globalThis.Date = class extends Date {
    constructor(...given: [] | [string | number | Date]) {
      if (given.length === 0) super(rightNow() + aheadMs);
      else super(...given);
    }

    static override now(): number {
      return rightNow() + aheadMs;
    }
  } as DateConstructor;
}
