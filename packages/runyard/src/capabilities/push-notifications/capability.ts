import { systemTimers } from '../../platform/engine/local/timers.js';
import type { Capability } from '../capability.js';
import { DatabasePushes } from './database-pushes.js';
import { pushNotifications as tables } from './migrations/0024-push-notifications.js';
import { PushNotificationsService } from './service.js';
import { PushStore } from './store.js';
import './tables.js';

declare module '../capability.js' {
  interface Services {
    readonly pushNotifications: PushNotificationsService;
  }
  interface RunSpace {
    readonly pushStore: PushStore;
    readonly pushes: DatabasePushes;
  }
}

/** Notifies clients of their runs at addresses that they register. Nothing happens unless an interface enables it. */
export const pushNotifications: Capability = {
  name: 'push-notifications',
  migrations: [tables],
  open({ services, spaces, log }) {
    const service = new PushNotificationsService(() => services.runs, spaces);
    return {
      services: { pushNotifications: service },
      inDatabase(database, space) {
        const store = new PushStore(database);
        const pushes = new DatabasePushes({
          store,
          load: (runId) => space.runs.load(runId),
          senders: service.senders,
          timers: systemTimers,
          log,
        });
        return {
          parts: { pushStore: store, pushes },
          onRest: (rested) => pushes.rested(rested),
          start: () => pushes.start(),
          stop: () => pushes.stop(),
        };
      },
    };
  },
};
