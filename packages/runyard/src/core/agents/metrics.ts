import type { JsonObject } from '../json.js';
import type { RunContext } from '../runs/context.js';
import { usageBody } from './agent-events.js';
import type { ModelRecord } from './journal-records.js';
import { usageOf } from './transcript.js';

/** Metrics of the wire, summed over the journal. */
export function metricsOf(model: { id: string; provider: string }, context: RunContext): JsonObject {
  const steps = context.steps();
  const tokens = usageBody(usageOf(steps));
  const first = steps.find(({ kind, status }) => kind === 'model' && status === 'completed');
  const ended = steps.reduce((latest, step) => Math.max(latest, step.endedAt ?? 0), context.run.createdAt);
  return {
    ...tokens,
    ...(first && { time_to_first_token: (first.output as ModelRecord).timeToFirstToken }),
    duration: (ended - context.run.createdAt) / 1000,
    details: { model: [{ ...tokens, id: model.id, provider: model.provider }] },
  };
}
