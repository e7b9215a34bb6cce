import type { Method } from '../../core/schedules/schedule-definition.js';
import { storedJson, storedJsonOrNull } from '../../platform/storage/text.js';
import type { Schedule, ScheduleRun } from './schedule.js';
import type { ScheduleRunsTable, SchedulesTable } from './tables.js';

export function rowOf(schedule: Schedule, nameSpace: string): SchedulesTable {
  return {
    id: schedule.id,
    name: schedule.name,
    name_space: nameSpace,
    description: schedule.description,
    method: schedule.method,
    endpoint: schedule.endpoint,
    payload: schedule.payload === null ? null : JSON.stringify(schedule.payload),
    cron_expr: schedule.cronExpr,
    timezone: schedule.timezone,
    timeout_seconds: schedule.timeoutSeconds,
    max_retries: schedule.maxRetries,
    retry_delay_seconds: schedule.retryDelaySeconds,
    overlap: schedule.overlap,
    missed: schedule.missed,
    jitter_seconds: schedule.jitterSeconds,
    enabled: schedule.enabled ? 1 : 0,
    disabled_reason: schedule.disabledReason,
    source: schedule.source,
    retired_at: schedule.retiredAt,
    user_id: schedule.userId,
    creator: JSON.stringify(schedule.creator),
    revision: schedule.revision,
    next_tick: schedule.nextTick,
    due_at: schedule.dueAt,
    created_at: schedule.createdAt,
    updated_at: schedule.updatedAt,
  };
}

export function scheduleFromRow(row: SchedulesTable): Schedule {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    // only methods that were checked are stored
    method: row.method as Method,
    endpoint: row.endpoint,
    payload: storedJsonOrNull(row.payload),
    cronExpr: row.cron_expr,
    timezone: row.timezone,
    timeoutSeconds: row.timeout_seconds,
    maxRetries: row.max_retries,
    retryDelaySeconds: row.retry_delay_seconds,
    overlap: row.overlap,
    missed: row.missed,
    jitterSeconds: row.jitter_seconds,
    enabled: row.enabled === 1,
    disabledReason: row.disabled_reason,
    source: row.source,
    retiredAt: row.retired_at,
    userId: row.user_id,
    creator: storedJson(row.creator),
    revision: row.revision,
    nextTick: row.next_tick,
    dueAt: row.due_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function scheduleRunFromRow(row: ScheduleRunsTable): ScheduleRun {
  return {
    id: row.id,
    scheduleId: row.schedule_id,
    trigger: row.triggered_by,
    tickAt: row.tick_at,
    attempt: row.attempt,
    jobId: row.job_id,
    status: row.status,
    statusCode: row.status_code,
    runId: row.run_id,
    sessionId: row.session_id,
    error: row.error,
    input: storedJsonOrNull(row.input),
    output: storedJsonOrNull(row.output),
    requirements: storedJsonOrNull(row.requirements),
    triggeredAt: row.triggered_at,
    completedAt: row.completed_at,
    createdAt: row.created_at,
  };
}
