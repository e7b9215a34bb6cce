import { z } from 'zod';
import { lazySchema } from '../../../schemas/lazy-schema.js';

/** How much of a conversation a model reads with one call. */
export const exchangesToRead = lazySchema(() =>
  z
    .number()
    .int()
    .min(1)
    .max(20)
    .default(10)
    .describe('How many exchanges of question and answer to read, counted from the last one.'),
);
