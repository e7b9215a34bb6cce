import { costOf, type ModelPrices } from '../../models/prices.js';
import { childPrefix, prefixOf } from '../journal/child-steps.js';
import { read, readIf } from '../journal/codec.js';
import { weigh } from '../journal/long-texts.js';
import { childModel, continueInput } from '../journal/records.js';
import { inheritedAttempt, type Run, type StepRecord } from '../run.js';
import { answeredCall, isRunInside, isWorkOfStep } from '../run-usage.js';

/** What a run has done so far, what runs inside it included; its turns are its own. */
export interface Tally {
  turns: number;
  toolCalls: number;
  steps: number;
  tokens: number;
  cost: number;
  bytes: number;
}

interface CalledModel {
  readonly id: string;
  readonly provider: string;
}

/**
 * Adds up the steps of a journal, for the run and for each run within it. It is updated with every step that
 * is put or removed, so that asking costs nothing, however long the journal is.
 */
export class RunMeter {
  /** Of the run itself. */
  private readonly own: Tally = { ...nothing };
  /** Those of the runs within it, by what the keys of their steps begin with; null while there are none. */
  private tallies: Map<string, Tally> | null = null;
  private models: Map<string, CalledModel> | null = null;
  private readonly model: string;
  private readonly provider: string;
  private readonly paidAttempt: number;
  /** A model that was called and whose calls cannot be counted as costs. */
  unpriced: CalledModel | undefined;

  constructor(
    run: Run,
    steps: Iterable<StepRecord>,
    private readonly prices: ModelPrices,
  ) {
    this.paidAttempt = run.lineage?.paidAttempt ?? inheritedAttempt;
    this.model = run.model ?? '';
    this.provider = run.modelProvider ?? '';
    for (const step of steps) this.changed(undefined, step);
  }

  /** What the run whose steps have this prefix has done. */
  of(prefix: string): Readonly<Tally> {
    return prefix === '' ? this.own : (this.tallies?.get(prefix) ?? nothing);
  }

  /** A step took the place of an earlier one under its key; undefined means no step. */
  changed(earlier: StepRecord | undefined, later: StepRecord | undefined): void {
    const key = (later ?? earlier)?.key;
    if (key !== undefined)
      this.add(key, 'bytes', heavier(earlier?.input, later?.input) + heavier(earlier?.output, later?.output));
    if (earlier !== undefined) this.count(earlier, -1);
    if (later !== undefined) this.count(later, 1);
  }

  /** The nested run with this prefix has ended: it is not asked for again. */
  forget(prefix: string): void {
    this.tallies?.delete(prefix);
    this.models?.delete(prefix);
  }

  private count(step: StepRecord, sign: 1 | -1): void {
    if (isRunInside(step)) this.know(step);
    // what a run was copied with, another run has paid for
    if (step.attempt <= this.paidAttempt) return;
    const { kind, key } = step;
    if (kind === 'model') {
      this.tally(prefixOf(key)).turns += sign;
      this.addCall(step, sign);
    } else if (kind === 'auxiliary' || kind === 'try') this.addCall(step, sign);
    else if (kind === 'tool') this.add(key, 'toolCalls', sign);
    else if (kind === 'work' || (kind === 'step' && !isWorkOfStep(step))) this.add(key, 'steps', sign);
    else if (kind === 'continue') this.addSpent(step, sign);
  }

  private addCall(step: StepRecord, sign: 1 | -1): void {
    const call = answeredCall(step);
    if (call === undefined) return;
    const { usage } = call;
    const ownModel = { id: this.model, provider: this.provider };
    const model = call.model ?? this.models?.get(prefixOf(step.key)) ?? ownModel;
    const cost = costOf(model.provider, model.id, usage, this.prices);
    if (cost === undefined) this.unpriced ??= model;
    const tokens = countOf(usage.totalTokens) || countOf(usage.inputTokens) + countOf(usage.outputTokens);
    this.add(step.key, 'tokens', sign * tokens);
    this.add(step.key, 'cost', sign * countOf(cost));
  }

  /** What was used for steps that were removed. */
  private addSpent(step: StepRecord, sign: 1 | -1): void {
    const { key } = step;
    const spent = readIf(step, continueInput)?.spent;
    for (const { totalTokens, cost } of spent?.models ?? []) {
      this.add(key, 'tokens', sign * countOf(totalTokens));
      this.add(key, 'cost', sign * countOf(cost));
    }
  }

  /** Adds to the run of the step and to all runs around it. */
  private add(key: string, what: keyof Tally, amount: number): void {
    if (amount === 0) return;
    for (let prefix = prefixOf(key); ; prefix = prefixOf(prefix.slice(0, -1))) {
      this.tally(prefix)[what] += amount;
      if (prefix === '') return;
    }
  }

  private tally(prefix: string): Tally {
    if (prefix === '') return this.own;
    this.tallies ??= new Map();
    let tally = this.tallies.get(prefix);
    if (tally === undefined) {
      tally = { ...nothing };
      this.tallies.set(prefix, tally);
    }
    return tally;
  }

  private know(step: StepRecord): void {
    const { model, modelProvider } = read(step, childModel);
    this.models ??= new Map();
    this.models.set(childPrefix(step.key), { id: model ?? '', provider: modelProvider ?? '' });
  }
}

/** How many bytes more one takes than the other. A step that ends has the input that it began with. */
function heavier(earlier: unknown, later: unknown): number {
  return earlier === later ? 0 : weigh(later) - weigh(earlier);
}

const nothing: Tally = { turns: 0, toolCalls: 0, steps: 0, tokens: 0, cost: 0, bytes: 0 };

/** A model of the application's own may report anything: what is no amount counts nothing. */
function countOf(amount: number | null | undefined): number {
  return typeof amount === 'number' && Number.isFinite(amount) && amount > 0 ? amount : 0;
}
