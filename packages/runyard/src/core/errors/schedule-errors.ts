import { define, RunyardError } from './runyard-error.js';

/** Schedules. */
export const scheduleErrors = {
  scheduleNotFound: define('schedule_not_found', 404, () => 'Schedule not found'),
  scheduleRunNotFound: define('schedule_run_not_found', 404, () => 'Schedule run not found'),
  scheduleExists: define(
    'schedule_exists',
    409,
    (name: string) => `Schedule with name '${name}' already exists`,
  ),
  scheduleDisabled: define('schedule_disabled', 409, () => 'Schedule is disabled'),
  scheduleOfCode: define(
    'schedule_of_code',
    409,
    (name: string) =>
      `Schedule '${name}' is defined in the code of the service. Change it there; over HTTP it can be enabled, disabled and triggered.`,
  ),
  scheduleRetired: define(
    'schedule_retired',
    409,
    (name: string) =>
      `Schedule '${name}' is no longer defined in the code of the service. It can only be read and deleted.`,
  ),
  scheduleChanged: define(
    'schedule_changed',
    409,
    () => 'Others are changing this schedule at the same time. Send the request again.',
  ),
  scheduleBusy: define(
    'schedule_busy',
    409,
    () =>
      'An execution of this schedule is in progress, and its overlap is skip. Try again when it has ended, or allow overlaps.',
  ),
  schedulerNotRunning: define('scheduler_not_running', 503, () => 'Scheduler is not running'),
  /** The contract has the first text alone; where the reference accepted the expression, the reason is part of it. */
  invalidCron: (cron: string, reason: string, isOurs: boolean) =>
    new RunyardError(
      'invalid_cron',
      422,
      isOurs ? `Invalid cron expression: ${cron}. ${reason}` : `Invalid cron expression: ${cron}`,
      { fields: { reason } },
    ),
  invalidTimezone: (zone: string) =>
    new RunyardError('invalid_timezone', 422, `Invalid timezone: ${zone}`, {
      fields: { reason: "Give the name of a time zone of the IANA database, such as 'Europe/Berlin'." },
    }),
  endpointUnknown: define(
    'endpoint_unknown',
    422,
    (method: string, endpoint: string) => `No route of this service matches ${method} ${endpoint}`,
  ),
  endpointTriggers: define(
    'endpoint_triggers_schedules',
    422,
    () => 'A schedule cannot trigger schedules. Give this schedule the endpoint of the other one.',
  ),
} as const;
