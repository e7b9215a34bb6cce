/** Keeps answers of models, so that the same call is not paid for twice. */
export interface ResponseCache {
  /** The answer under a key, as it was kept; undefined when there is none, or it has expired. */
  get(key: string): Promise<string | undefined>;
  put(kept: KeptResponse): Promise<void>;
}

export interface KeptResponse {
  readonly key: string;
  /** As JSON. */
  readonly response: string;
  /** The session of the call that it answers: the answer is removed with it. */
  readonly sessionId: string;
  readonly ttlMs: number;
}

/** For how long answers are kept, and who gets them. */
export interface ResponseCaching {
  /** Milliseconds until an answer expires. Default: a day. */
  readonly ttlMs?: number;
  /** `user`: an answer is for calls of the same user; `all`: for every caller of the agent. Default `user`. */
  readonly scope?: 'user' | 'all';
}

/** A longer answer is not kept, in characters of its JSON. */
export const longestResponse = 256 * 1024;

/** How many answers are kept; beyond it those that expire first are removed. */
export const mostResponses = 20_000;
