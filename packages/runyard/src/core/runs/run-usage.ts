import { costOf, type ModelPrices } from '../models/prices.js';
import { prefixOf } from './journal/child-steps.js';
import { read, readIf } from './journal/codec.js';
import type { CountedRuns, ModelUsage, RunUsage } from './journal/ports.js';
import { callRecord, childModel, continueInput } from './journal/records.js';
import type { Shaped } from './journal/shapes.js';
import { inheritedAttempt, type Run, type StepRecord } from './run.js';

type MainModel = Partial<Pick<Run, 'model' | 'modelProvider'>>;

/** What a run has used so far, including the runs within it. */
export function usageOf(run: Run, steps: readonly StepRecord[], prices: ModelPrices = {}): RunUsage {
  const fold = new UsageFold(run, steps, prices);
  fold.countRun(run);
  for (const step of steps) fold.add(step);
  return fold.usage();
}

/** What was used for steps that no longer belong to the run: it has been paid for nevertheless. */
export function usageOfRemoved(
  run: Run,
  steps: readonly StepRecord[],
  removed: readonly StepRecord[],
  prices: ModelPrices = {},
): RunUsage {
  const fold = new UsageFold(run, steps, prices);
  for (const step of removed) fold.add(step);
  return fold.usage();
}

/** Sums up steps of one journal by what models were called for. */
class UsageFold {
  /** One for each model: most runs have one. */
  private readonly runs: CountedRuns[] = [];
  private readonly models: ModelUsage[] = [];
  /** The steps that are runs of their own, by key; null while there are none. */
  private inside: Map<string, StepRecord> | null = null;
  private readonly paidAttempt: number;

  constructor(
    private readonly run: Run,
    steps: readonly StepRecord[],
    private readonly prices: ModelPrices,
  ) {
    this.paidAttempt = run.lineage?.paidAttempt ?? inheritedAttempt;
    for (const step of steps) {
      if (!isRunInside(step)) continue;
      this.inside ??= new Map();
      this.inside.set(step.key, step);
    }
  }

  add(step: StepRecord): void {
    // what a run was copied with, another run has paid for
    if (step.attempt <= this.paidAttempt) return;
    if (step.kind === 'continue') this.addAll(readIf(step, continueInput)?.spent);
    else if (isRunInside(step)) {
      if (this.isCounted(step)) this.countRun(read(step, childModel));
    } else this.addCall(step);
  }

  countRun({ model, modelProvider }: MainModel): void {
    this.addRuns({ provider: modelProvider ?? '', model: model ?? '', count: 1 });
  }

  usage(): RunUsage {
    return { runs: this.runs, models: this.models };
  }

  private addAll(usage: RunUsage | undefined): void {
    for (const counted of usage?.runs ?? []) this.addRuns(counted);
    for (const used of usage?.models ?? []) this.addModel(used);
  }

  private addCall(step: StepRecord): void {
    const call = answeredCall(step);
    if (call === undefined) return;
    const { usage, role = 'model' } = call;
    const { id, provider } = call.model ?? this.modelOf(step);
    const cost = costOf(provider, id, usage, this.prices);
    this.addModel({
      purpose: role,
      provider,
      model: id,
      inputTokens: count(usage.inputTokens),
      outputTokens: count(usage.outputTokens),
      totalTokens: count(usage.totalTokens),
      audioInputTokens: count(usage.audioInputTokens),
      audioOutputTokens: count(usage.audioOutputTokens),
      cacheReadTokens: count(usage.cacheReadTokens),
      cacheWriteTokens: count(usage.cacheWriteTokens),
      reasoningTokens: count(usage.reasoningTokens),
      cost: cost !== undefined && Number.isFinite(cost) ? cost : null,
    });
  }

  private addRuns(counted: CountedRuns): void {
    const { provider, model } = counted;
    const at = this.runs.findIndex((known) => known.provider === provider && known.model === model);
    const earlier = this.runs[at];
    if (earlier === undefined) this.runs.push(counted);
    else this.runs[at] = { ...counted, count: earlier.count + counted.count };
  }

  private addModel(used: ModelUsage): void {
    const { purpose, provider, model } = used;
    const at = this.models.findIndex(
      (known) => known.purpose === purpose && known.provider === provider && known.model === model,
    );
    const earlier = this.models[at];
    if (earlier === undefined) this.models.push(used);
    else this.models[at] = sumOf(earlier, used);
  }

  /** The model of the run whose step it is. */
  private modelOf({ key }: StepRecord): { id: string; provider: string } {
    const around = this.inside?.get(keyAround(key));
    const { model, modelProvider } = readIf(around, childModel) ?? this.run;
    return { id: model ?? '', provider: modelProvider ?? '' };
  }

  /** The members of a team count as runs, at any depth; what a workflow executes does not. */
  private isCounted(step: StepRecord): boolean {
    if (step.kind !== 'member') return false;
    const outer = keyAround(step.key);
    if (outer === '') return this.run.kind === 'team';
    const around = this.inside?.get(outer);
    return around !== undefined && this.isCounted(around);
  }
}

/** More than any call uses, and so few that sums of many fit into a column. */
const mostTokens = 1e12;

/** A model of the application's own may report anything: none of its numbers may keep the run from being stored. */
function count(tokens: number | undefined): number {
  if (tokens === undefined || !Number.isFinite(tokens)) return 0;
  return Math.round(Math.min(Math.max(tokens, -mostTokens), mostTokens));
}

function sumOf(one: ModelUsage, other: ModelUsage): ModelUsage {
  return {
    ...one,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    audioInputTokens: one.audioInputTokens + other.audioInputTokens,
    audioOutputTokens: one.audioOutputTokens + other.audioOutputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    cost: one.cost === null && other.cost === null ? null : (one.cost ?? 0) + (other.cost ?? 0),
  };
}

/** The key of the step that is the run around a step; empty for a step of the outermost run. */
function keyAround(key: string): string {
  return prefixOf(key).slice(0, -1);
}

/** A call that a model answered, also one whose answer its agent did not accept. */
export function isModelCall({ kind, output }: StepRecord): boolean {
  if (kind !== 'model' && kind !== 'auxiliary' && kind !== 'try') return false;
  return typeof output === 'object' && output !== null && 'usage' in output;
}

/** What the step records of a call whose answer counts; undefined for a call that failed, and for any other step. */
export function answeredCall(step: StepRecord): Shaped<typeof callRecord.shape> | undefined {
  if (!isModelCall(step)) return undefined;
  const record = read(step, callRecord);
  return record.failure === undefined ? record : undefined;
}

export function isRunInside({ kind, input }: Pick<StepRecord, 'kind' | 'input'>): boolean {
  return (
    (kind === 'member' || kind === 'step') && typeof input === 'object' && input !== null && 'runId' in input
  );
}

/** Whether this is how the work of a step is done, by a component or in a round of its own, and not another step. */
export function isWorkOfStep(step: Pick<StepRecord, 'kind' | 'input'>): boolean {
  const { kind, input } = step;
  const isRound = kind === 'step' && typeof input === 'object' && input !== null && 'round' in input;
  return isRound || isRunInside(step);
}
