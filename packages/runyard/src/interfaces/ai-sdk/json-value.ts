import { z } from 'zod';
import type { Json } from '../../core/json.js';

/** Any value of a JSON body: it was parsed as JSON. */
export const jsonValue = z.custom<Json>((value) => value !== undefined);
