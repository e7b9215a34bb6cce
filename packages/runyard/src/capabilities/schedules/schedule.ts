import type { Json, JsonObject } from '../../core/json.js';
import type { ScheduleDefinition } from '../../core/schedules/schedule-definition.js';
import type { KeptCaller } from '../../platform/auth/kept-caller.js';

export type ScheduleSource = 'api' | 'code';

/** All times are milliseconds since the epoch. */
export interface Schedule extends ScheduleDefinition {
  readonly id: string;
  readonly enabled: boolean;
  /** Why the service disabled it; null when a caller did, and while it is enabled. */
  readonly disabledReason: string | null;
  readonly source: ScheduleSource;
  /** Since when no code defines it. */
  readonly retiredAt: number | null;
  /** The owner: who sees it where users are kept apart. */
  readonly userId: string | null;
  /** Who made it: at each tick, what is left of their rights is found out. */
  readonly creator: KeptCaller;
  /** Counts the changes. */
  readonly revision: number;
  /** The exact time of the next tick. */
  readonly nextTick: number | null;
  /** When that tick is executed: with its jitter. */
  readonly dueAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number | null;
}

/** Where the ticks of a schedule stand. */
export interface NextTick {
  readonly tick: number;
  readonly dueAt: number;
}

export type Trigger = 'cron' | 'manual';

export type AttemptStatus = 'running' | 'success' | 'paused' | 'failed' | 'cancelled' | 'timeout';

/** What an attempt ended with. */
export interface AttemptResult {
  readonly status: Exclude<AttemptStatus, 'running'>;
  readonly statusCode: number | null;
  readonly runId: string | null;
  readonly sessionId: string | null;
  readonly error: string | null;
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
  readonly requirements: Json[] | null;
}

/** One attempt to execute a tick. */
export interface ScheduleRun extends Omit<AttemptResult, 'status'> {
  readonly id: string;
  readonly scheduleId: string;
  readonly trigger: Trigger;
  /** The tick; of a manual trigger when it was asked for. */
  readonly tickAt: number;
  /** From 1. */
  readonly attempt: number;
  readonly jobId: string;
  readonly status: AttemptStatus;
  readonly triggeredAt: number | null;
  readonly completedAt: number | null;
  readonly createdAt: number;
}

/** An attempt that begins. */
export interface NewAttempt {
  readonly id: string;
  readonly scheduleId: string;
  readonly trigger: Trigger;
  readonly tickAt: number;
  readonly attempt: number;
  readonly jobId: string;
  readonly at: number;
  readonly input: JsonObject | null;
}
