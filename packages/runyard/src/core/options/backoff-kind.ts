import type { RetryBackoff } from '../async/back-off.js';
import { amount, milliseconds, objectOf, required } from './kinds.js';

export const backoff = objectOf<RetryBackoff>({
  delayMs: required(milliseconds(0)),
  factor: amount('a number, 1 or more', (value) => value >= 1),
  maximumMs: milliseconds(0),
});
