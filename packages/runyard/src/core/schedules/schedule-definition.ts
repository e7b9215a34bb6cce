import type { JsonObject } from '../json.js';

/** What happens at a tick while an execution of an earlier one is in progress. */
export const overlaps = ['skip', 'queue', 'allow'] as const;
export type Overlap = (typeof overlaps)[number];

/** What happens with ticks that no process executed in time: none of them, one for all of them, or each. */
export const missedTicks = ['skip', 'once', 'all'] as const;
export type MissedTicks = (typeof missedTicks)[number];

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof methods)[number];

/** What a schedule calls, when, and how often it tries. */
export interface ScheduleDefinition {
  readonly name: string;
  readonly description: string | null;
  readonly method: Method;
  readonly endpoint: string;
  readonly payload: JsonObject | null;
  readonly cronExpr: string;
  readonly timezone: string;
  readonly timeoutSeconds: number;
  readonly maxRetries: number;
  readonly retryDelaySeconds: number;
  readonly overlap: Overlap;
  readonly missed: MissedTicks;
  readonly jitterSeconds: number;
}

/** The values of what is left out. */
export const scheduleDefaults = {
  description: null,
  method: 'POST',
  payload: null,
  timezone: 'UTC',
  timeoutSeconds: 3600,
  maxRetries: 0,
  retryDelaySeconds: 60,
  overlap: 'skip',
  missed: 'once',
  jitterSeconds: 0,
} as const satisfies Partial<ScheduleDefinition>;

export const scheduleBounds = {
  nameLength: 255,
  descriptionLength: 1024,
  /** Characters as JSON: it is read at each tick. */
  payloadLength: 262_144,
  timeoutSeconds: 86_400,
  maxRetries: 10,
  retryDelaySeconds: 3600,
  jitterSeconds: 3600,
} as const;

export const scheduleName = /^[a-zA-Z0-9][a-zA-Z0-9 ._-]*$/;
