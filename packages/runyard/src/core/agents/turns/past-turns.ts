import { read, readIf } from '../../runs/journal/codec.js';
import type { StepRecord } from '../../runs/run.js';
import { type ModelCallRecord, modelCallRecord, modelRecord, toolRecord } from '../journal-records.js';

/**
 * The results of the turns so far. It is a fold of the journal that grows with each turn, also when the run is executed
 * again, so that a turn does not look through all those before it.
 */
export class PastTurns {
  /** How many tool calls the model has asked for. */
  toolCalls = 0;
  /** How the model was called last, as its step says. */
  lastCall: ModelCallRecord | null = null;
  /** The step of the first thought that the model had with a tool. */
  firstThought: string | undefined;
  /** Whether knowledge was searched since the readers of the run were shown what was found. */
  hasSearched = false;
  private callIds: Set<string> | null = null;

  /** Takes in a model call. */
  called(step: StepRecord): void {
    this.lastCall = readIf(step, modelCallRecord) ?? this.lastCall;
    for (const { id } of read(step, modelRecord).toolCalls ?? []) {
      this.callIds ??= new Set();
      this.callIds.add(id);
    }
  }

  /** Takes in that the calls of a turn were made. */
  madeCalls(steps: readonly StepRecord[]): void {
    this.toolCalls += steps.length;
    this.hasSearched ||= steps.some((step) => readIf(step, toolRecord)?.knowledge === true);
  }

  hasCall(id: string): boolean {
    return this.callIds?.has(id) ?? false;
  }
}
