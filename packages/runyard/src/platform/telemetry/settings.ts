import { z } from 'zod';
import { redactionFault } from '../../core/traces/redaction.js';

const collectorUrl = z
  .url({ protocol: /^https?$/ })
  .meta({ allowed: 'an address such as http://127.0.0.1:4318; /v1/traces is added to it' });

const redactionRule = z
  .string()
  .min(1)
  .max(500)
  .check((payload) => {
    const message = redactionFault(payload.value);
    if (message !== undefined) payload.issues.push({ code: 'custom', input: payload.value, message });
  });

/** What a service records and exports about its runs and itself. */
export const telemetrySettingsShape = {
  traces: z.boolean().default(true).describe('Whether the service records the traces of runs.'),
  traceContent: z
    .enum(['full', 'none'])
    .default('full')
    .describe('Whether traces, listed or exported, show messages, tool arguments and tool results.'),
  traceRedact: z
    .array(redactionRule)
    .max(100)
    .default([])
    .meta({ allowed: 'a list of field names and of expressions such as /\\b\\d{16}\\b/' })
    .describe('What traces hide: values of fields by name, and everything that matches an expression.'),
  traceRetentionDays: z
    .int()
    .min(0)
    .max(36_500)
    .default(30)
    .describe('How many days the service lists traces; 0: forever.'),
  otlpEndpoint: collectorUrl
    .optional()
    .describe(
      'The OpenTelemetry collector that receives traces and, with otlpMetricsSeconds, metrics; no export when left out.',
    ),
  otlpHeaders: z
    .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/), z.string().regex(/^[\t\x20-\x7e]*$/))
    .default({})
    .meta({ allowed: 'a map from the name of a header to its value' })
    .describe('Headers of requests to the collector, such as a key.'),
  otlpMetricsSeconds: z
    .int()
    .min(0)
    .max(3600)
    .default(0)
    .describe('How often the service sends its metrics to the collector of otlpEndpoint; 0: never.'),
};
