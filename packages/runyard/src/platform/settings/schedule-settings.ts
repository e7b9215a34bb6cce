import { z } from 'zod';
import { setting } from './setting.js';

/** Whether and how a process executes schedules, and how long their history is. */
export const scheduleSettings = {
  scheduler: setting({
    about: 'Whether this process executes schedules. Others with the same database may do so.',
    default: true,
    schema: () => z.boolean(),
  }),
  schedulerPollSeconds: setting({
    about: 'How often a process looks for schedules that other processes changed.',
    default: 15,
    schema: () => z.int().min(1).max(3600),
  }),
  maxScheduledCalls: setting({
    about:
      'How many executions of schedules one process has in progress at once; those that wait for a run, a retry or their turn do not count.',
    default: 50,
    schema: () => z.int().min(1).max(1000),
  }),
  scheduleTriggerSeconds: setting({
    about: 'How long the request that triggers a schedule waits for the end of the execution.',
    default: 60,
    schema: () => z.int().min(1).max(3600),
  }),
  scheduleHistoryRuns: setting({
    about: 'How many attempts of each schedule the history keeps.',
    default: 1000,
    schema: () => z.int().min(1).max(100_000),
  }),
  scheduleHistoryDays: setting({
    about: 'How many days the history of schedules is kept; 0: without a limit of time.',
    default: 90,
    schema: () => z.int().min(0).max(36_500),
  }),
};
