import type { JsonObject } from '../../../core/json.js';
import { inputRecord, outputRecord } from '../../../core/runs/journal/codec.js';
import {
  flag,
  json,
  jsonObject,
  list,
  nullable,
  number,
  object,
  optional,
  type Shaped,
  text,
  word,
} from '../../../core/runs/journal/shapes.js';
import type { AttemptResult } from '../schedule.js';

const tickShape = object({
  schedule_id: text,
  /** The tick; of a manual trigger, when it was asked for. */
  tick: number,
  trigger: word('cron', 'manual'),
  /** One of several ticks that were missed: they wait for each other. */
  caught_up: optional(flag),
});

/** What the job of a tick is given. */
export type TickInput = Shaped<typeof tickShape>;
export const tickInput = inputRecord('schedule_tick', 1, tickShape);

export const tickResult = outputRecord('schedule_tick_result', 1, object({ attempts: number }));

/** When an attempt began, by the clock of the database, and the id of the run that it starts. */
const begunShape = object({ run_id: text, at: number });
export type BegunAttempt = Shaped<typeof begunShape>;
export const begunAttempt = outputRecord('schedule_attempt', 1, begunShape);

const outcomeShape = object({
  status: word('success', 'paused', 'failed', 'cancelled'),
  status_code: nullable(number),
  run_id: nullable(text),
  session_id: nullable(text),
  error: nullable(text),
  input: nullable(jsonObject),
  output: nullable(jsonObject),
  requirements: nullable(list(json)),
  /** When it ended, by the clock of the database. */
  at: number,
  /** Why the schedule is to be disabled. */
  disables: optional(text),
});

/** How an attempt ended. */
export type AttemptOutcome = Shaped<typeof outcomeShape>;
export const attemptOutcome = outputRecord('schedule_attempt_outcome', 1, outcomeShape);

/** An outcome of which only these fields are known. */
export function outcomeOf(
  known: Pick<AttemptOutcome, 'status' | 'at'> & Partial<AttemptOutcome>,
): AttemptOutcome {
  const nothing = { status_code: null, run_id: null, session_id: null, error: null };
  return { ...nothing, input: null, output: null, requirements: null, ...known };
}

export function resultOf(outcome: AttemptOutcome): AttemptResult {
  return {
    status: outcome.status,
    statusCode: outcome.status_code,
    runId: outcome.run_id,
    sessionId: outcome.session_id,
    error: outcome.error,
    input: outcome.input,
    output: outcome.output,
    requirements: outcome.requirements,
  };
}

/** The most characters of an output, as JSON, that the history keeps. */
const mostOutput = 65_536;

/** The output of a run as the history keeps it. */
export function keptOutput(content: unknown, contentType: string): JsonObject {
  const shown = JSON.stringify(content ?? null);
  if (shown.length <= mostOutput) return { content: JSON.parse(shown), content_type: contentType };
  const text = typeof content === 'string' ? content : shown;
  return { content: `${text.slice(0, mostOutput)}…`, content_type: 'str' };
}
