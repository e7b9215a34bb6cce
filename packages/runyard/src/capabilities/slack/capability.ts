import { systemTimers } from '../../platform/engine/local/timers.js';
import type { Capability } from '../capability.js';
import { slackTables } from './migrations/0027-slack.js';
import type { SlackService } from './service.js';
import './tables.js';

declare module '../capability.js' {
  interface Services {
    /** Loaded by the interface that needs it. */
    readonly slack: () => Promise<SlackService>;
  }
}

/** What Slack delivers, for all processes of the service. */
export const slack: Capability = {
  name: 'slack',
  migrations: [slackTables],
  open({ databases, log }) {
    let loaded: Promise<SlackService> | undefined;
    let service: SlackService | undefined;
    let isStarted = false;
    return {
      services: {
        slack: () => {
          loaded ??= import('./service.js').then((module) => {
            // a service has a database of its own
            service = new module.SlackService(databases[0]!, { timers: systemTimers, log });
            if (isStarted) service.start();
            return service;
          });
          return loaded;
        },
      },
      inDatabase: ({ id }) =>
        id === databases[0]?.id
          ? {
              start: () => {
                isStarted = true;
                service?.start();
              },
              stop: async (graceMs) => {
                isStarted = false;
                await service?.stop(graceMs);
              },
            }
          : {},
    };
  },
};
