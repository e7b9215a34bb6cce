import type { JsonObject } from '../json.js';
import type { Usage } from '../models/message.js';
import { costOf } from '../models/prices.js';
import type { RunContext } from '../runs/context.js';
import { inheritedAttempt } from '../runs/run.js';
import { answeredCall } from '../runs/run-usage.js';
import { usageBody } from './agent-events.js';

interface Tally {
  readonly role: string;
  readonly id: string;
  readonly provider: string;
  readonly usage: Record<string, number>;
  /** US dollars; undefined while no price is known. */
  cost?: number;
}

interface CalledModel {
  readonly id: string;
  readonly provider: string;
}

/** Of calls that do not name their model, in a run whose component no longer has one. */
const unknownModel: CalledModel = { id: '', provider: '' };

/** Metrics of the wire, summed over the journal: the whole, and by role and model. */
export function metricsOf(model: CalledModel | null, context: RunContext): JsonObject {
  const tallies = new Map<string, Tally>();
  const total: Record<string, number> = {};
  let cost: number | undefined;
  let first: number | undefined;
  let cachedCalls = 0;
  let ended = context.run.createdAt;
  for (const step of context.steps()) {
    // what a run was copied with, another run has paid for
    if (step.attempt === inheritedAttempt) continue;
    ended = Math.max(ended, step.endedAt ?? 0);
    const record = answeredCall(step);
    if (record === undefined) continue;
    if (record.cached) cachedCalls += 1;
    const used = record.model ?? model ?? unknownModel;
    const role = record.role ?? 'model';
    if (role === 'model') first ??= record.timeToFirstToken;
    const key = `${role}\n${used.provider}\n${used.id}`;
    const tally = tallies.get(key) ?? { role, ...used, usage: {} };
    tallies.set(key, tally);
    add(tally.usage, record.usage);
    add(total, record.usage);
    const callCost = costOf(used.provider, used.id, record.usage, context.prices);
    if (callCost === undefined) continue;
    tally.cost = (tally.cost ?? 0) + callCost;
    cost = (cost ?? 0) + callCost;
  }
  const details = detailsOf(tallies.values());
  return {
    ...usageBody(total),
    ...(cost !== undefined && { cost }),
    ...(first !== undefined && { time_to_first_token: first }),
    ...(cachedCalls > 0 && { cached_calls: cachedCalls }),
    duration: (ended - context.run.createdAt) / 1000,
    ...(tallies.size > 0 && { details }),
  };
}

function detailsOf(tallies: Iterable<Tally>): JsonObject {
  const details: Record<string, JsonObject[]> = {};
  for (const { role, id, provider, usage, cost } of tallies) {
    details[role] ??= [];
    details[role].push({ ...usageBody(usage), ...(cost !== undefined && { cost }), id, provider });
  }
  return details;
}

function add(total: Record<string, number>, usage: Partial<Usage>): void {
  let name: keyof Usage;
  for (name in usage) total[name] = (total[name] ?? 0) + (usage[name] ?? 0);
}
