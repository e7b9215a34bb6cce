import type { Json } from '../../json.js';
import type { LeafRecord } from '../journal-records.js';

/** One execution of a step: the first one, or one more that a person asks for. */
export interface Round {
  readonly number: number;
  /** What a person said about the round before. */
  readonly feedback: string | null;
  /** What that round made; null for the first one. */
  readonly rejected: Json;
}

/** The result of one round of a step. */
export type RoundResult =
  | { readonly record: LeafRecord }
  | { readonly failure: { readonly type: string; readonly message: string }; readonly from?: string };
