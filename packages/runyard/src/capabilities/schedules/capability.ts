import { timeOf } from '../../platform/storage/database.js';
import { type Capability, routesOf } from '../capability.js';
import { checkCodeSchedules, storeCodeSchedules } from './code-schedules.js';
import { Endpoints } from './endpoints.js';
import { schedules as tables } from './migrations/0020-schedules.js';
import { type ScheduleServices, scheduleRoutes } from './routes.js';
import { SchedulesService } from './service.js';
import { ScheduleStore } from './store.js';

declare module '../capability.js' {
  interface Services extends ScheduleServices {}
}

export const schedules: Capability = {
  name: 'schedules',
  migrations: [tables],
  routes: scheduleRoutes,
  open({ databases, capabilities, customRoutes, components, ownCalls, schedules: defined = [] }) {
    checkCodeSchedules(defined, components);
    // a service has a database of its own
    const own = databases[0]!;
    const store = new ScheduleStore(own);
    const now = () => timeOf(own);
    const endpoints = new Endpoints(routesOf(capabilities), customRoutes !== undefined);
    return {
      services: { schedules: new SchedulesService({ store, endpoints, now, trigger: undefined }) },
      inDatabase: (database) =>
        database === own && ownCalls !== undefined
          ? {
              async start() {
                if (defined.length > 0)
                  endpoints.assertOwn(await ownCalls.caller({ by: 'service' }), defined);
                await storeCodeSchedules(defined, store, now);
              },
            }
          : {},
    };
  },
};
