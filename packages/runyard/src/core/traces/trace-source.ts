import { contextRecord } from '../agents/journal-records.js';
import type { Message } from '../models/message.js';
import type { ModelPrices } from '../models/prices.js';
import { read } from '../runs/journal/codec.js';
import type { Run, StepRecord } from '../runs/run.js';

export interface RecordedRun {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/** What the spans of a run are made of. */
export interface TraceSource extends RecordedRun {
  /**
   * Earlier runs that the models of this one were shown, by id (`shownRunsOf` names them). What is missing is left
   * out of the messages.
   */
  readonly history?: ReadonlyMap<string, RecordedRun>;
  /** What the models of the outermost run were shown of earlier ones, where it is still at hand: instead of `history`. */
  readonly shown?: readonly Message[];
  /** Over the list prices. */
  readonly prices?: ModelPrices;
  /** Only the attributes that views show, without those for collectors. */
  readonly brief?: boolean;
  /** What a workflow is declared as. Left out: as much of it as the run has come to. */
  readonly workflow?: WorkflowFacts;
}

export interface WorkflowFacts {
  readonly description?: string;
  /** The steps at the top, in order. */
  readonly steps: readonly { readonly name: string; readonly type: string }[];
}

/** The earlier runs of the session that the models of a run were shown. */
export function shownRunsOf(steps: readonly StepRecord[]): string[] {
  const ids = steps
    .filter(({ kind, status }) => kind === 'context' && status === 'completed')
    .flatMap((step) => read(step, contextRecord).history);
  return [...new Set(ids)];
}
