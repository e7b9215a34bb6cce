import { pageOf } from '../../platform/http/request/pagination.js';
import { ResourceRoutes } from '../../platform/http/resource-routes.js';
import { reply } from '../../platform/http/response/results.js';
import type { Route } from '../../platform/http/route.js';
import { scheduleBodyOf, scheduleRunBodyOf, scheduleStateOf } from './schedule-body.js';
import {
  type CreateScheduleBody,
  createScheduleBody,
  listScheduleRunsQuery,
  listSchedulesQuery,
  scheduleBody,
  scheduleParams,
  scheduleRunBody,
  scheduleRunParams,
  scheduleRunsPage,
  scheduleState,
  schedulesPage,
  type UpdateScheduleBody,
  updateScheduleBody,
} from './schema.js';
import type { SchedulesService } from './service.js';

export interface ScheduleServices {
  readonly schedules: SchedulesService;
}

const resource = new ResourceRoutes<ScheduleServices>('Schedules', 'schedules');

const listSchedules = resource.list({
  path: '/schedules',
  operationId: 'list_schedules',
  summary: 'List schedules',
  description: 'Newest first.',
  query: listSchedulesQuery,
  shows: schedulesPage,
  find: ({ schedules }, { query, caller }) => schedules.list(caller, { enabled: query.enabled }, query),
  entry: scheduleBodyOf,
});

const createSchedule = resource.create({
  path: '/schedules',
  operationId: 'create_schedule',
  summary: 'Create a schedule',
  description:
    'The schedule calls the endpoint with the rights of the caller, who must be allowed to call it now. The rights are checked again at each tick.',
  body: createScheduleBody,
  shows: scheduleBody,
  handler: async ({ schedules }, { body, caller }) => {
    const created = await schedules.create(caller, newDefinition(body), body.enabled);
    return reply(201, scheduleBodyOf(created));
  },
});

const getSchedule = resource.get({
  path: '/schedules/:schedule_id',
  operationId: 'get_schedule',
  summary: 'Get a schedule',
  params: scheduleParams,
  shows: scheduleBody,
  handler: async ({ schedules }, { params, caller }) =>
    scheduleBodyOf(await schedules.get(caller, params.schedule_id)),
});

const updateSchedule = resource.change({
  path: '/schedules/:schedule_id',
  operationId: 'update_schedule',
  summary: 'Change a schedule',
  description:
    'Fields that are left out stay as they are. A caller who changes method, endpoint or payload becomes the one with whose rights the schedule calls.',
  params: scheduleParams,
  body: updateScheduleBody,
  shows: scheduleBody,
  handler: async ({ schedules }, { params, body, caller }) =>
    scheduleBodyOf(await schedules.change(caller, params.schedule_id, changeOf(body))),
});

const deleteSchedule = resource.remove({
  path: '/schedules/:schedule_id',
  operationId: 'delete_schedule',
  summary: 'Delete a schedule',
  description: 'Deletes the schedule and the history of its attempts. Runs that it started stay.',
  params: scheduleParams,
  gone: 'The schedule is deleted.',
  handler: ({ schedules }, { params, caller }) => schedules.delete(caller, params.schedule_id),
});

const enableSchedule = resource.act({
  path: '/schedules/:schedule_id/enable',
  operationId: 'enable_schedule',
  summary: 'Enable a schedule',
  description: 'Its next tick is the first one after now.',
  params: scheduleParams,
  shows: scheduleState,
  handler: async ({ schedules }, { params, caller }) =>
    scheduleStateOf(await schedules.setEnabled(caller, params.schedule_id, true)),
});

const disableSchedule = resource.act({
  path: '/schedules/:schedule_id/disable',
  operationId: 'disable_schedule',
  summary: 'Disable a schedule',
  description: 'It is not executed until it is enabled. An execution in progress continues.',
  params: scheduleParams,
  shows: scheduleState,
  handler: async ({ schedules }, { params, caller }) =>
    scheduleStateOf(await schedules.setEnabled(caller, params.schedule_id, false)),
});

const triggerSchedule = resource.act({
  path: '/schedules/:schedule_id/trigger',
  operationId: 'trigger_schedule',
  summary: 'Execute a schedule now',
  description:
    'Answers with the record of the last attempt when the execution ends. One that takes longer is answered with its record as it is, with the status running, and continues. The next tick stays as it is.',
  params: scheduleParams,
  shows: scheduleRunBody,
  handler: async ({ schedules }, { params, caller, signal }) =>
    scheduleRunBodyOf(await schedules.trigger(caller, params.schedule_id, signal)),
});

const listScheduleRuns = resource.get({
  path: '/schedules/:schedule_id/runs',
  operationId: 'list_schedule_runs',
  summary: 'List the attempts of a schedule',
  description: 'Newest first. Each retry is an attempt of its own.',
  params: scheduleParams,
  query: listScheduleRunsQuery,
  shows: scheduleRunsPage,
  handler: async ({ schedules }, { params, query, caller }) => {
    const { items, total } = await schedules.runs(caller, params.schedule_id, query);
    return pageOf(items.map(scheduleRunBodyOf), query, total);
  },
});

const getScheduleRun = resource.get({
  path: '/schedules/:schedule_id/runs/:run_id',
  operationId: 'get_schedule_run',
  summary: 'Get an attempt of a schedule',
  params: scheduleRunParams,
  shows: scheduleRunBody,
  handler: async ({ schedules }, { params, caller }) =>
    scheduleRunBodyOf(await schedules.run(caller, params.schedule_id, params.run_id)),
});

export const scheduleRoutes: readonly Route<ScheduleServices>[] = [
  listSchedules,
  createSchedule,
  getSchedule,
  updateSchedule,
  deleteSchedule,
  enableSchedule,
  disableSchedule,
  triggerSchedule,
  listScheduleRuns,
  getScheduleRun,
];

function newDefinition(body: CreateScheduleBody) {
  return {
    name: body.name,
    description: body.description ?? null,
    method: body.method,
    endpoint: body.endpoint,
    payload: body.payload ?? null,
    cronExpr: body.cron_expr,
    timezone: body.timezone,
    timeoutSeconds: body.timeout_seconds,
    maxRetries: body.max_retries,
    retryDelaySeconds: body.retry_delay_seconds,
    overlap: body.overlap,
    missed: body.missed,
    jitterSeconds: body.jitter_seconds,
  };
}

function changeOf(body: UpdateScheduleBody) {
  return {
    name: body.name,
    description: body.description,
    method: body.method,
    endpoint: body.endpoint,
    payload: body.payload,
    cronExpr: body.cron_expr,
    timezone: body.timezone,
    timeoutSeconds: body.timeout_seconds,
    maxRetries: body.max_retries,
    retryDelaySeconds: body.retry_delay_seconds,
    overlap: body.overlap,
    missed: body.missed,
    jitterSeconds: body.jitter_seconds,
    enabled: body.enabled,
  };
}
