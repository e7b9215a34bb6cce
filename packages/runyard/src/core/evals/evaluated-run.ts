import type { Json, JsonObject } from '../json.js';
import type { RunKind } from '../runs/run.js';

/** A run as an eval sees it: just executed, or stored long ago. */
export interface EvaluatedRun {
  readonly runId: string;
  readonly sessionId: string;
  readonly status: 'completed' | 'paused' | 'error' | 'cancelled';
  readonly input: string;
  readonly content: Json;
  /** The content as text: what judges read. */
  readonly output: string;
  /** The tool calls in the order in which they were requested, with those of members and steps at any depth. */
  readonly toolCalls: readonly EvaluatedToolCall[];
  /** Of a run that failed or was cancelled. */
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage: RunUsageTotals;
  /** How long the run was executed. */
  readonly durationMs: number;
}

export interface EvaluatedToolCall {
  readonly name: string;
  readonly arguments: JsonObject;
  /** `refused` and `paused` calls were requested and not executed. */
  readonly outcome: 'succeeded' | 'failed' | 'refused' | 'paused';
  readonly result: string | null;
}

export interface RunUsageTotals {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** In US dollars; null where a price is not known. */
  readonly cost: number | null;
}

/** What an eval executes. The library runs a component in this process, a service through its runs. */
export interface EvalSubject {
  readonly kind: RunKind;
  readonly id: string;
  readonly name: string | null;
  readonly model: { readonly id: string; readonly provider: string } | null;
  /**
   * Executes the component once and waits for the end of the run. A run that was started under this id before is not
   * started again: its end is awaited. Rejects when the run could not be started, or the signal aborts; a run that
   * ended in any way is a value.
   */
  run(request: SubjectRun): Promise<EvaluatedRun>;
}

export interface SubjectRun {
  readonly runId: string;
  readonly sessionId: string;
  readonly input: string;
  readonly sessionState?: JsonObject;
  readonly dependencies?: JsonObject;
  /** Aborting it cancels the run. */
  readonly signal: AbortSignal;
}
