import { z } from 'zod';

/** Whether and how a process executes schedules, and how long their history is. */
export const scheduleSettingsShape = {
  scheduler: z
    .boolean()
    .default(true)
    .describe('Whether this process executes schedules. Others with the same database may do so.'),
  schedulerPollSeconds: z
    .int()
    .min(1)
    .max(3600)
    .default(15)
    .describe('How often a process looks for schedules that other processes changed.'),
  maxScheduledCalls: z
    .int()
    .min(1)
    .max(1000)
    .default(50)
    .describe(
      'How many executions of schedules one process has in progress at once; those that wait for a run, a retry or their turn do not count.',
    ),
  scheduleTriggerSeconds: z
    .int()
    .min(1)
    .max(3600)
    .default(60)
    .describe('How long the request that triggers a schedule waits for the end of the execution.'),
  scheduleHistoryRuns: z
    .int()
    .min(1)
    .max(100_000)
    .default(1000)
    .describe('How many attempts of each schedule the history keeps.'),
  scheduleHistoryDays: z
    .int()
    .min(0)
    .max(36_500)
    .default(90)
    .describe('How many days the history of schedules is kept; 0: without a limit of time.'),
};
