import { systemTimers } from '../../platform/engine/local/timers.js';
import type { Capability } from '../capability.js';
import { RetentionService } from './service.js';

export const retention: Capability = {
  name: 'retention',
  open: ({ settings, log }) => ({
    inDatabase(database) {
      const retention = new RetentionService(database, { settings, timers: systemTimers, log });
      return { start: () => retention.begin(), stop: () => retention.end() };
    },
  }),
};
