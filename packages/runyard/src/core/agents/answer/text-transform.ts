/** What a transform learns about the run that it serves. */
export interface TextTransformRun {
  readonly agentId: string;
  readonly runId: string;
  readonly sessionId: string;
  readonly userId: string | null;
  /** Aborted when the run is cancelled. */
  readonly signal: AbortSignal;
}

/**
 * Changes the text of an answer on its way to readers, the stored conversation and the next call: a generator over the
 * pieces as they arrive. It may hold text back, and yields pieces of any size.
 */
export type TextTransform = (pieces: AsyncIterable<string>, run: TextTransformRun) => AsyncIterable<string>;
