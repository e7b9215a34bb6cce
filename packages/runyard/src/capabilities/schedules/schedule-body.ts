import { schedulerUser } from '../../platform/auth/named-user.js';
import type { Schedule, ScheduleRun } from './schedule.js';

/** A schedule in the form of the wire. */
export function scheduleBodyOf(schedule: Schedule) {
  return {
    id: schedule.id,
    name: schedule.name,
    description: schedule.description,
    method: schedule.method,
    endpoint: schedule.endpoint,
    payload: schedule.payload,
    cron_expr: schedule.cronExpr,
    timezone: schedule.timezone,
    timeout_seconds: schedule.timeoutSeconds,
    max_retries: schedule.maxRetries,
    retry_delay_seconds: schedule.retryDelaySeconds,
    overlap: schedule.overlap,
    missed: schedule.missed,
    jitter_seconds: schedule.jitterSeconds,
    enabled: isActive(schedule),
    disabled_reason: reasonOf(schedule),
    source: schedule.source,
    created_by: creatorName(schedule),
    next_run_at: seconds(schedule.nextTick),
    created_at: seconds(schedule.createdAt),
    updated_at: seconds(schedule.updatedAt),
  };
}

export function scheduleStateOf(schedule: Schedule) {
  const { id, name, nextTick, updatedAt } = schedule;
  return {
    id,
    name,
    enabled: isActive(schedule),
    next_run_at: seconds(nextTick),
    updated_at: seconds(updatedAt),
  };
}

export function scheduleRunBodyOf(run: ScheduleRun) {
  return {
    id: run.id,
    schedule_id: run.scheduleId,
    attempt: run.attempt,
    trigger: run.trigger,
    tick_at: seconds(run.tickAt),
    triggered_at: seconds(run.triggeredAt),
    completed_at: seconds(run.completedAt),
    status: run.status,
    status_code: run.statusCode,
    run_id: run.runId,
    session_id: run.sessionId,
    error: run.error,
    input: run.input,
    output: run.output,
    requirements: run.requirements,
    created_at: seconds(run.createdAt),
  };
}

function isActive({ enabled, retiredAt }: Schedule): boolean {
  return enabled && retiredAt === null;
}

function reasonOf({ disabledReason, retiredAt }: Schedule): string | null {
  return retiredAt === null ? disabledReason : 'The code of the service no longer defines it.';
}

function creatorName({ creator }: Schedule): string | null {
  if (creator.by === 'service') return schedulerUser;
  return 'userId' in creator ? creator.userId : null;
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}
