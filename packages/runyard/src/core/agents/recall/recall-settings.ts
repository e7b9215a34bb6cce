import { type EmbedderLike, embedder } from '../../embedders/resolve.js';
import { amount, anyOf, objectOf, word } from '../../options/kinds.js';

/** How an agent finds earlier exchanges by their meaning. */
export interface SemanticRecallSettings {
  /** How many exchanges are found. Default 4, at most 20. */
  readonly topK?: number;
  /** How many exchanges of the same session are shown around each, before and after. Default 1, at most 10. */
  readonly messageRange?: number | { readonly before?: number; readonly after?: number };
  /** Where it looks: in all sessions of the user with this agent, or in this session alone. Default `user`. */
  readonly scope?: 'user' | 'session';
  /** Makes the vectors. Default `offline`. */
  readonly embedder?: EmbedderLike;
  /** Leaves out what is not more similar than this, from 0 to 1. Default 0. */
  readonly similarityThreshold?: number;
}

const mostFound = 20;
const mostAround = 10;
const defaultFound = 4;
const defaultAround = 1;

const upTo = (most: number, from: number) =>
  amount(
    `a whole number from ${from} to ${most}`,
    (value) => Number.isInteger(value) && value >= from && value <= most,
  );
const around = upTo(mostAround, 0);

export const recallShape = {
  topK: upTo(mostFound, 1),
  messageRange: anyOf(
    around,
    objectOf<{ before?: number; after?: number }>({ before: around, after: around }),
  ),
  scope: word('user', 'session'),
  embedder,
  similarityThreshold: amount('a number from 0 to 1', (value) => value >= 0 && value <= 1),
};

export const recallOptions = objectOf<SemanticRecallSettings>(recallShape);

/** The settings with what is left out filled in. */
export interface RecallPlan {
  readonly limit: number;
  readonly before: number;
  readonly after: number;
  readonly scope: 'user' | 'session';
  readonly embedder: EmbedderLike;
  readonly threshold: number;
}

/** Undefined for an agent that recalls nothing. */
export function recallPlan({
  semanticRecall,
}: {
  readonly semanticRecall?: boolean | SemanticRecallSettings;
}): RecallPlan | undefined {
  if (semanticRecall === undefined || semanticRecall === false) return undefined;
  const given = semanticRecall === true ? {} : semanticRecall;
  const { messageRange = defaultAround } = given;
  const range =
    typeof messageRange === 'number' ? { before: messageRange, after: messageRange } : messageRange;
  return {
    limit: given.topK ?? defaultFound,
    before: range.before ?? defaultAround,
    after: range.after ?? defaultAround,
    scope: given.scope ?? 'user',
    embedder: given.embedder ?? 'offline',
    threshold: given.similarityThreshold ?? 0,
  };
}
