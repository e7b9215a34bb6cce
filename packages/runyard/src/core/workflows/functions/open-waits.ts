import type { JsonObject } from '../../json.js';
import { readIf } from '../../runs/journal/codec.js';
import { dueAtOf } from '../../runs/journal/due-questions.js';
import { awaitedEvent } from '../../runs/journal/received-events.js';
import type { StepRecord } from '../../runs/run.js';
import { waitPlace } from '../journal-records.js';

/** What functions wait for that no person answers, in the words of the wire. */
export function waitsOf(steps: readonly StepRecord[]): JsonObject[] {
  return steps.flatMap((step) => {
    if (step.kind !== 'wait' || step.status !== 'running') return [];
    const event = awaitedEvent(step);
    if (event === undefined && step.name !== 'sleep') return [];
    const due = dueAtOf(step);
    const time = due === undefined ? null : new Date(due).toISOString();
    const place = { ...readIf(step, waitPlace) };
    return event === undefined
      ? { kind: 'sleep', ...place, until: time }
      : { kind: 'event', ...place, event_name: event, timeout_at: time };
  });
}
