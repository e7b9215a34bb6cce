import { systemTimers } from '../../platform/engine/local/timers.js';
import { type Database, timeOf } from '../../platform/storage/database.js';
import { type Capability, type RunSpace, routesOf, type ServiceSite } from '../capability.js';
import { checkCodeSchedules, storeCodeSchedules } from './code-schedules.js';
import { Endpoints } from './endpoints.js';
import { type ExecutorOptions, ScheduleExecutor } from './execution/executor.js';
import { TurnStore } from './execution/turns-store.js';
import { schedules as tables } from './migrations/0020-schedules.js';
import { scheduleTurns } from './migrations/0022-schedule-turns.js';
import { type ScheduleServices, scheduleRoutes } from './routes.js';
import { SchedulesService } from './service.js';
import { ScheduleStore } from './store.js';
import { ScheduleTicksStore } from './ticks-store.js';

declare module '../capability.js' {
  interface Services extends ScheduleServices {}
}

export const schedules: Capability = {
  name: 'schedules',
  migrations: [tables, scheduleTurns],
  routes: scheduleRoutes,
  open(site) {
    const { databases, capabilities, customRoutes, components, ownCalls, schedules: defined = [] } = site;
    checkCodeSchedules(defined, components);
    // a service has a database of its own
    const own = databases[0]!;
    const store = new ScheduleStore(own);
    const now = () => timeOf(own);
    const endpoints = new Endpoints(routesOf(capabilities), customRoutes !== undefined);
    let space: RunSpace | undefined;
    const executor = executorOf(site, own, () => {
      if (space === undefined) throw new Error('The service is not open.');
      return space.jobs;
    });
    const trigger = executor?.trigger.bind(executor);
    const onChange = () => executor?.wake();
    return {
      services: { schedules: new SchedulesService({ store, endpoints, now, trigger, onChange }) },
      inDatabase: (database, ownSpace) => {
        if (database !== own || ownCalls === undefined) return {};
        space = ownSpace;
        return {
          ...(executor !== undefined && { jobs: [executor.job], stop: () => executor.stop() }),
          async start() {
            if (defined.length > 0) endpoints.assertOwn(await ownCalls.caller({ by: 'service' }), defined);
            await storeCodeSchedules(defined, store, now);
            executor?.start();
          },
        };
      },
    };
  },
};

/** Where tests that count thousands of ticks put faster ones. It is no part of the API. */
const ticksOfTests = Symbol.for('runyard.ticks');

function fasterTicks(): Pick<ExecutorOptions, 'ticksOf'> {
  const ticksOf: unknown = Reflect.get(globalThis, ticksOfTests);
  // a test knows the type of what it puts there
  return ticksOf === undefined ? {} : { ticksOf: ticksOf as NonNullable<ExecutorOptions['ticksOf']> };
}

/** Processes that share a database do not all look at the same moment. */
const spreadMs = 20;

/** What executes the schedules; undefined where the scheduler is off, or no routes are served. */
function executorOf(
  { settings, services, ownCalls, log }: ServiceSite,
  database: Database,
  jobs: ExecutorOptions['jobs'],
): ScheduleExecutor | undefined {
  if (!settings.scheduler || ownCalls === undefined) return undefined;
  return new ScheduleExecutor({
    store: new ScheduleTicksStore(database, settings.scheduleHistoryRuns),
    turns: new TurnStore(database),
    // opened before this capability
    runs: services.runs,
    ownCalls,
    jobs,
    now: () => timeOf(database),
    slots: settings.maxScheduledCalls,
    pollMs: settings.schedulerPollSeconds * 1000,
    spreadMs: database.dialect === 'postgres' ? spreadMs : 0,
    triggerWaitMs: settings.scheduleTriggerSeconds * 1000,
    timers: systemTimers,
    log,
    ...fasterTicks(),
  });
}
