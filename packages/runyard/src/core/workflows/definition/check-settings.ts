import { typeInWords } from '../../agents/requirements/fit-value.js';
import { errors } from '../../errors.js';
import type { NodeType, ReviewSettings } from './node.js';

/** Refuses what is no whole number of at least `least`. */
export function checkCount(owner: string, what: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return;
  throw errors.invalidConfig(`${owner} has ${what} ${value}. It is a whole number of at least ${least}.`);
}

/** The longest time that a timer of the platform can wait. */
const longestTimer = 2_147_483_647;

export function checkTimeout(owner: string, what: string, value: number | undefined): void {
  if (value === undefined || (Number.isFinite(value) && value > 0 && value <= longestTimer)) return;
  throw errors.invalidConfig(
    `${owner} has ${what} ${value}. It is a number of milliseconds between 1 and ${longestTimer}.`,
  );
}

export function checkReview(owner: string, type: NodeType, review: ReviewSettings): void {
  const { onReject, onTimeout, maxRetries, timeoutMs } = review;
  checkCount(owner, 'review.maxRetries', maxRetries, 0);
  checkTimeout(owner, 'review.timeoutMs', timeoutMs);
  checkWord(owner, 'review.onReject', onReject, ['skip', 'cancel', 'else', 'retry']);
  checkWord(owner, 'review.onTimeout', onTimeout, ['cancel', 'skip', 'approve']);
  if (onReject === 'else' && type !== 'Condition')
    throw errors.invalidConfig(`${owner} has review.onReject 'else', which only a condition can have.`);
  if (review.requiresOutputReview && type !== 'Step')
    throw errors.invalidConfig(`${owner} has review.requiresOutputReview, which only a step can have.`);
  if (review.requiresIterationReview && type !== 'Loop')
    throw errors.invalidConfig(`${owner} has review.requiresIterationReview, which only a loop can have.`);
  checkFields(owner, review);
}

function checkFields(owner: string, { requiresUserInput, userInputSchema = [] }: ReviewSettings): void {
  if (requiresUserInput && userInputSchema.length === 0)
    throw errors.invalidConfig(`${owner} asks for user input without a field in review.userInputSchema.`);
  const names = new Set<string>();
  for (const { name, type = 'str', allowedValues } of userInputSchema) {
    if (typeof name !== 'string' || name === '')
      throw errors.invalidConfig(`${owner} has a field without a name in review.userInputSchema.`);
    if (names.has(name)) throw errors.invalidConfig(`${owner} asks for the field '${name}' twice.`);
    names.add(name);
    if (!Object.hasOwn(typeInWords, type))
      throw errors.invalidConfig(
        `${owner} asks for the field '${name}' of the type '${type}'. Types are ${Object.keys(typeInWords).join(', ')}.`,
      );
    if (allowedValues !== undefined && allowedValues.length === 0)
      throw errors.invalidConfig(`${owner} allows the field '${name}' no value at all.`);
  }
}

function checkWord(owner: string, what: string, value: string | undefined, words: readonly string[]): void {
  if (value === undefined || words.includes(value)) return;
  throw errors.invalidConfig(`${owner} has ${what} '${value}'. It is one of ${words.join(', ')}.`);
}
