import type { JsonObject } from '../json.js';
import type { Usage } from '../models/message.js';
import { costOf } from '../models/prices.js';
import type { RunContext } from '../runs/context.js';
import { inheritedAttempt } from '../runs/run.js';
import { answeredCall } from '../runs/run-usage.js';
import { usageBody } from './agent-events.js';

/** What calls used and cost together. */
class Tally {
  /** US dollars; undefined while no price is known. */
  cost: number | undefined;
  inputTokens = 0;
  outputTokens = 0;
  totalTokens = 0;
  audioInputTokens = 0;
  audioOutputTokens = 0;
  cacheReadTokens = 0;
  cacheWriteTokens = 0;
  reasoningTokens = 0;

  constructor(
    readonly role: string,
    readonly model: CalledModel,
  ) {}

  add(usage: Partial<Usage>, cost: number | undefined): void {
    this.inputTokens += usage.inputTokens ?? 0;
    this.outputTokens += usage.outputTokens ?? 0;
    this.totalTokens += usage.totalTokens ?? 0;
    this.audioInputTokens += usage.audioInputTokens ?? 0;
    this.audioOutputTokens += usage.audioOutputTokens ?? 0;
    this.cacheReadTokens += usage.cacheReadTokens ?? 0;
    this.cacheWriteTokens += usage.cacheWriteTokens ?? 0;
    this.reasoningTokens += usage.reasoningTokens ?? 0;
    if (cost !== undefined) this.cost = (this.cost ?? 0) + cost;
  }

  isOf(role: string, { id, provider }: CalledModel): boolean {
    return this.role === role && this.model.id === id && this.model.provider === provider;
  }

  /** In the words of the wire. */
  body(): JsonObject {
    const body = usageBody(this);
    if (this.cost !== undefined) body.cost = this.cost;
    return body;
  }
}

interface CalledModel {
  readonly id: string;
  readonly provider: string;
}

/** Of calls that do not name their model, in a run whose component no longer has one. */
const unknownModel: CalledModel = { id: '', provider: '' };

/** Metrics of the wire, summed over the journal: the whole, and by role and model. */
export function metricsOf(model: CalledModel | null, context: RunContext): JsonObject {
  // a run has few roles and models
  const tallies: Tally[] = [];
  const total = new Tally('', unknownModel);
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
    let tally = tallies.find((known) => known.isOf(role, used));
    if (tally === undefined) {
      tally = new Tally(role, used);
      tallies.push(tally);
    }
    const cost = costOf(used.provider, used.id, record.usage, context.prices);
    tally.add(record.usage, cost);
    total.add(record.usage, cost);
  }
  const metrics = total.body();
  if (first !== undefined) metrics.time_to_first_token = first;
  if (cachedCalls > 0) metrics.cached_calls = cachedCalls;
  metrics.duration = (ended - context.run.createdAt) / 1000;
  if (tallies.length > 0) metrics.details = detailsOf(tallies);
  return metrics;
}

function detailsOf(tallies: readonly Tally[]): JsonObject {
  const details: Record<string, JsonObject[]> = {};
  for (const tally of tallies) {
    const body = tally.body();
    body.id = tally.model.id;
    body.provider = tally.model.provider;
    details[tally.role] ??= [];
    details[tally.role]?.push(body);
  }
  return details;
}
