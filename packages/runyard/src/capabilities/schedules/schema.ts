import { z } from 'zod';
import type { Json } from '../../core/json.js';
import { longestCron } from '../../core/schedules/cron.js';
import { endpointFault, longestEndpoint } from '../../core/schedules/endpoint.js';
import {
  type Method,
  methods,
  missedTicks,
  overlaps,
  scheduleBounds,
  scheduleDefaults,
  scheduleName,
} from '../../core/schedules/schedule-definition.js';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { formBoolean } from '../../platform/http/request/fields.js';
import { largestPage, pageBody, pageQuery } from '../../platform/http/request/pagination.js';

const name = () =>
  z
    .string()
    .max(scheduleBounds.nameLength, { abort: true })
    .refine(
      (given) => scheduleName.test(given),
      `name must match ${scheduleName.source}: letters, digits, blanks, '.', '_' and '-', starting with a letter or digit`,
    )
    .meta({ description: 'A name that no other schedule has.', pattern: scheduleName.source });

const cron = () =>
  z
    .string()
    .max(longestCron)
    .meta({
      description:
        'When it is executed: five fields (minute, hour, day of the month, month, day of the week), or @hourly, @daily, @weekly, @monthly or @yearly. There are no seconds.',
      examples: ['0 3 * * *'],
    });

const endpoint = () =>
  z
    .string()
    .max(longestEndpoint, { abort: true })
    .check((payload) => {
      const message = endpointFault(payload.value);
      if (message !== undefined) payload.issues.push({ code: 'custom', input: payload.value, message });
    })
    .meta({
      description: 'The path of this service that it calls. You need the scope of that route.',
      examples: ['/agents/assistant/runs'],
    });

const method = () =>
  z
    .string()
    .max(10, { abort: true })
    .transform((given, payload): Method => {
      const found = methods.find((one) => one === given.toUpperCase());
      if (found !== undefined) return found;
      payload.issues.push({
        code: 'custom',
        input: given,
        message: `method must be one of ${methods.join(', ')}`,
      });
      return z.NEVER;
    })
    .meta({ description: `${methods.join(', ')}, in any case.`, type: 'string', maxLength: 10 });

const description = () =>
  z.string().max(scheduleBounds.descriptionLength).nullable().meta({ description: 'What it is for.' });

const payload = () =>
  z
    .record(z.string(), z.custom<Json>())
    .refine(
      (given) => JSON.stringify(given).length <= scheduleBounds.payloadLength,
      `payload must have at most ${scheduleBounds.payloadLength} characters as JSON`,
    )
    .nullable()
    .meta({
      description: 'The fields of the request: a form for a run, JSON for other routes.',
      examples: [{ message: 'Summarise the day.' }],
    });

const timezone = () =>
  z
    .string()
    .max(64)
    .meta({
      description: 'The time zone of the cron expression: a name of the IANA database.',
      examples: ['Europe/Berlin'],
    });

const timeout = () =>
  z
    .int()
    .min(1)
    .max(scheduleBounds.timeoutSeconds)
    .meta({ description: 'After so many seconds an attempt is cancelled.' });
const retries = () =>
  z
    .int()
    .min(0)
    .max(scheduleBounds.maxRetries)
    .meta({ description: 'How often a failed attempt is repeated.' });
const retryDelay = () =>
  z.int().min(1).max(scheduleBounds.retryDelaySeconds).meta({ description: 'Seconds between attempts.' });

const overlap = () =>
  z.literal(overlaps).meta({
    description:
      'What happens at a tick while an earlier one is being executed: skip (leave it out), queue (execute it afterwards) or allow (execute both).',
  });
const missed = () =>
  z.literal(missedTicks).meta({
    description:
      'What happens with ticks while no process was there: skip (none is executed), once (one for all of them) or all.',
  });
const jitter = () =>
  z
    .int()
    .min(0)
    .max(scheduleBounds.jitterSeconds)
    .meta({ description: 'Each tick is executed up to so many seconds later.' });
const enabled = () => z.boolean().meta({ description: 'Whether it is executed at its times.' });

export const createScheduleBody = lazyObject(
  () => ({
    name: name(),
    cron_expr: cron(),
    endpoint: endpoint(),
    method: method().default(scheduleDefaults.method),
    description: description().optional(),
    payload: payload().optional(),
    timezone: timezone().default(scheduleDefaults.timezone),
    timeout_seconds: timeout().default(scheduleDefaults.timeoutSeconds),
    max_retries: retries().default(scheduleDefaults.maxRetries),
    retry_delay_seconds: retryDelay().default(scheduleDefaults.retryDelaySeconds),
    overlap: overlap().default(scheduleDefaults.overlap),
    missed: missed().default(scheduleDefaults.missed),
    jitter_seconds: jitter().default(scheduleDefaults.jitterSeconds),
    enabled: enabled().default(true),
  }),
  {
    id: 'ScheduleCreate',
    description: 'A schedule to create.',
    examples: [
      {
        name: 'nightly report',
        cron_expr: '0 3 * * *',
        timezone: 'Europe/Berlin',
        endpoint: '/agents/assistant/runs',
        payload: { message: 'Summarise the day.' },
      },
    ],
  },
);

export type CreateScheduleBody = z.output<typeof createScheduleBody>;

/** A field that may be left out, but not be emptied. */
function kept<Field extends z.ZodType>(field: string, schema: Field) {
  return z.preprocess((value, context) => {
    if (value !== null) return value;
    context.issues.push({ code: 'custom', input: value, message: `'${field}' cannot be set to null` });
    return z.NEVER;
  }, schema.optional());
}

export const updateScheduleBody = lazyObject(
  () => ({
    name: kept('name', name()),
    cron_expr: kept('cron_expr', cron()),
    endpoint: kept('endpoint', endpoint()),
    method: kept('method', method()),
    description: description().optional(),
    payload: payload().optional(),
    timezone: kept('timezone', timezone()),
    timeout_seconds: kept('timeout_seconds', timeout()),
    max_retries: kept('max_retries', retries()),
    retry_delay_seconds: kept('retry_delay_seconds', retryDelay()),
    overlap: kept('overlap', overlap()),
    missed: kept('missed', missed()),
    jitter_seconds: kept('jitter_seconds', jitter()),
    enabled: kept('enabled', enabled()),
  }),
  {
    id: 'ScheduleUpdate',
    description: 'What to change. Fields that are left out stay as they are.',
    examples: [{ cron_expr: '0 4 * * *' }],
  },
);

export type UpdateScheduleBody = z.output<typeof updateScheduleBody>;

export const listSchedulesQuery = lazyObject(() => ({
  enabled: formBoolean()
    .optional()
    .meta({ description: 'Only schedules that are enabled, or that are not.' }),
  ...pageQuery({ default: 100, max: largestPage }),
}));

export const listScheduleRunsQuery = lazyObject(() => pageQuery({ default: 100, max: largestPage }));

const scheduleId = lazySchema(() => z.string(), { description: 'The identifier of the schedule.' });

export const scheduleParams = lazyObject(() => ({ schedule_id: scheduleId }));

export const scheduleRunParams = lazyObject(() => ({
  schedule_id: scheduleId,
  run_id: z.string().meta({ description: 'The identifier (id) of the record of an attempt.' }),
}));

const seconds = () => z.int().meta({ description: 'Seconds since 1970, UTC.' });
const object = () => z.looseObject({});

const nextRun = () => z.int().nullable().meta({ description: 'The next tick, in seconds since 1970, UTC.' });

export const scheduleBody = lazyObject(
  () => ({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    method: z.string(),
    endpoint: z.string(),
    payload: object().nullable(),
    cron_expr: z.string(),
    timezone: z.string(),
    timeout_seconds: z.int(),
    max_retries: z.int(),
    retry_delay_seconds: z.int(),
    overlap: z.string().meta({ description: 'skip, queue or allow.' }),
    missed: z.string().meta({ description: 'skip, once or all.' }),
    jitter_seconds: z.int(),
    enabled: z.boolean(),
    disabled_reason: z
      .string()
      .nullable()
      .meta({ description: 'Why the service disabled it; null when a caller did.' }),
    source: z.string().meta({ description: 'api, or code when the code of the service defines it.' }),
    created_by: z
      .string()
      .nullable()
      .meta({ description: 'The user with whose rights it calls the endpoint; null when nobody is known.' }),
    next_run_at: nextRun(),
    created_at: seconds(),
    updated_at: seconds().nullable(),
  }),
  { id: 'Schedule', description: 'Calls a route of the service at given times.' },
);

export const schedulesPage = pageBody(scheduleBody, 'SchedulesPage');

export const scheduleState = lazyObject(
  () => ({
    id: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    next_run_at: nextRun(),
    updated_at: seconds().nullable(),
  }),
  {
    id: 'ScheduleState',
    description: 'Whether a schedule is enabled, and when it is executed next.',
  },
);

export const scheduleRunBody = lazyObject(
  () => ({
    id: z.string(),
    schedule_id: z.string(),
    attempt: z.int().meta({ description: 'From 1; each retry is an attempt.' }),
    trigger: z.string().meta({ description: 'cron, or manual for one that a caller triggered.' }),
    tick_at: seconds(),
    triggered_at: seconds().nullable(),
    completed_at: seconds().nullable(),
    status: z.string().meta({
      description: 'running, success, paused (the run waits for a person), failed, cancelled or timeout.',
    }),
    status_code: z.int().nullable().meta({ description: 'The HTTP status of the endpoint.' }),
    run_id: z.string().nullable(),
    session_id: z.string().nullable(),
    error: z.string().nullable(),
    input: object().nullable(),
    output: object().nullable(),
    requirements: z.array(object()).nullable().meta({ description: 'What a paused run waits for.' }),
    created_at: seconds().nullable(),
  }),
  { id: 'ScheduleRun', description: 'One attempt to execute a schedule.' },
);

export const scheduleRunsPage = pageBody(scheduleRunBody, 'ScheduleRunsPage');
