import { z } from 'zod';
import { setting } from './setting.js';

const most = 1_000_000_000;

const rate = () =>
  z.strictObject({
    requestsPerMinute: z.int().min(1).max(most).optional(),
    tokensPerMinute: z.int().min(1).max(most).optional(),
  });

/** How often the service calls models. */
export const modelRateSettings = {
  modelRates: setting({
    about:
      'How many requests and tokens per minute the service sends to a model; calls beyond this rate wait for their turn.',
    default: {},
    allowed:
      'a map from the id of a model, or default for all others, to { requestsPerMinute, tokensPerMinute }, each a whole number from 1',
    schema: () => z.record(z.string().min(1).max(200), rate()),
  }),
};
