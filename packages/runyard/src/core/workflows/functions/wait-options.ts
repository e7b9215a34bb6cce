import { milliseconds, name, objectOf } from '../../options/kinds.js';
import type { WaitOptions } from '../definition/step-calls.js';

/** Ten years: the time is stored, so that no timer bounds it. */
const longestWaitMs = 315_360_000_000;

export const waitOptions = objectOf<WaitOptions>({ name, timeoutMs: milliseconds(1, longestWaitMs) });
