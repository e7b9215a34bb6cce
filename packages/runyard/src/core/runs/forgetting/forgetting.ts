import type { JsonObject } from '../../json.js';
import { decodeBlock, encodeBlock, LoggedEvent } from '../events/logged-event.js';
import { escapeLineSeparators, isPacked, packedSign, referencedTexts, weigh } from '../journal/long-texts.js';
import type { EventBlock, ForgottenWrite, RunJournal, StoredText } from '../journal/ports.js';
import type { Forgets, RunInput, RunResult, StepRecord } from '../run.js';
import type { ForgettingRuns } from './forgetting-runs.js';

/** What records and events are without that which their run forgets. Each answers with the same value if it has none. */
export interface ForgetRules {
  /** `forgets` is of the run that has the step, `inside` of the run that is the work of the step. */
  step(step: StepRecord, forgets: Forgets, inside: Forgets | undefined): StepRecord;
  result(result: RunResult, forgets: Forgets): RunResult;
  input(input: RunInput, forgets: Forgets): RunInput;
  event(event: JsonObject, of: (runId: string) => Forgets | undefined): JsonObject;
}

const blocksAtOnce = 20;

/** Of a run that keeps everything itself. */
const nothing: Forgets = {};

/**
 * Removes from a run that ends what it does not keep: from its steps, its result, its stored events and its long texts.
 * All of it is part of the write that ends the run, so that a crash leaves the run whole, or without it.
 */
export class Forgetting {
  private readonly stored: readonly EventBlock[];
  private readonly storedTexts: readonly StoredText[];
  /** The ids of long texts that events still refer to. */
  private readonly referenced = new Set<string>();
  private readonly kept = new Set<string>();

  private constructor(
    private readonly rules: ForgetRules,
    private readonly runs: ForgettingRuns,
    blocks: readonly EventBlock[],
    texts: readonly StoredText[],
  ) {
    this.stored = blocks;
    this.storedTexts = texts;
  }

  /** Reads what is stored of the run beside its steps. Nothing of it may be on its way to the store. */
  static async of(
    runId: string,
    runs: ForgettingRuns,
    rules: ForgetRules,
    journal: RunJournal,
  ): Promise<Forgetting> {
    const blocks: EventBlock[] = [];
    for (let from = 0; ; ) {
      const some = await journal.eventBlocks(runId, from, blocksAtOnce);
      blocks.push(...some);
      const last = some.at(-1);
      if (last === undefined || some.length < blocksAtOnce) break;
      from = last.firstIndex + last.count;
    }
    return new Forgetting(rules, runs, blocks, await journal.longTexts(runId));
  }

  /** The steps that change. */
  steps(all: readonly StepRecord[]): StepRecord[] {
    const changed: StepRecord[] = [];
    for (const step of all) {
      const inside = this.runs.ofRunIn(step);
      const isConcerned = inside !== undefined || this.hasNoMedia;
      const forgets = this.runs.ofStep(step) ?? (isConcerned ? nothing : undefined);
      const left = forgets === undefined ? step : this.rules.step(step, forgets, inside);
      if (left !== step) changed.push(left);
      this.keepTexts(left.input);
      this.keepTexts(left.output);
    }
    return changed;
  }

  result(runId: string, result: RunResult | null): RunResult | null {
    const forgets = this.runs.of(runId) ?? nothing;
    const left = result === null ? result : this.rules.result(result, forgets);
    this.keepTexts(left);
    return left;
  }

  input(runId: string, input: RunInput): RunInput {
    return this.rules.input(input, this.runs.of(runId) ?? nothing);
  }

  /** Whether bytes belong to the run that are to be removed. */
  private get hasNoMedia(): boolean {
    return this.runs.areWithoutMedia;
  }

  /** An event as it is stored. Those who read the run now are sent it as it is. */
  event = (event: LoggedEvent): LoggedEvent => {
    const left = this.withoutForgotten(event);
    if (isPacked(left.data)) for (const id of referencedTexts(left.data)) this.referenced.add(id);
    return left;
  };

  /** What changes beside the run and its steps. To be asked for when all new events are known. */
  write(input: RunInput): ForgottenWrite {
    const blocks = this.blocks();
    const media = this.hasNoMedia;
    return { blocks, texts: this.texts(), media, ...(media && { input }) };
  }

  /** The stored blocks of events that change. */
  private blocks(): EventBlock[] {
    return this.stored.flatMap((block) => {
      const events = decodeBlock(block.firstIndex, block.payload);
      const left = events.map(this.event);
      const isChanged = left.some((event, position) => event !== events[position]);
      return isChanged ? [{ ...block, payload: encodeBlock(left) }] : [];
    });
  }

  keepsText(id: string, text: string): boolean {
    return this.referenced.has(id) || this.kept.has(text);
  }

  /** The ids of stored texts that nothing refers to. */
  private texts(): string[] {
    return this.storedTexts.filter(({ id, text }) => !this.keepsText(id, text)).map(({ id }) => id);
  }

  private keepTexts(value: unknown): void {
    weigh(value, (text) => this.kept.add(text));
  }

  private withoutForgotten(event: LoggedEvent): LoggedEvent {
    const { index, name, key, data, template } = event;
    if (template !== null) return event;
    // packed, it has the ids of its long texts in their places
    const whole: JsonObject = JSON.parse(data);
    const left = this.rules.event(whole, this.runs.of);
    if (left === whole) return event;
    const json = escapeLineSeparators(JSON.stringify(left));
    return new LoggedEvent(index, name, key, isPacked(data) ? packedSign + json : json);
  }
}
