import type { JsonObject } from '../../json.js';
import { customEventName, type RunEvent } from './logged-event.js';

/** Whose event it is: that of the run itself, or of a run inside it. */
export interface EventOrigin {
  readonly runId: string;
  /** Fields that each of its events carries (the component's id and name, and what it is a part of). */
  readonly fields: JsonObject;
  /** What the names of its events begin with (`Team`); those of the application's own events stay as they are. */
  readonly prefix?: string;
  /** How many runs are around it. */
  readonly depth: number;
}

export function asToldBy({ prefix }: EventOrigin, event: RunEvent): RunEvent {
  if (prefix === undefined || event.name === customEventName) return event;
  return { ...event, name: prefix + event.name };
}
