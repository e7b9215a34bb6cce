import { z } from 'zod';
import { redactionFault } from '../../core/traces/redaction.js';
import { setting } from '../settings/setting.js';

const collectorUrl = () =>
  z
    .url({ protocol: /^https?$/ })
    .meta({ allowed: 'an address such as http://127.0.0.1:4318; /v1/traces is added to it' });

const redactionRule = () =>
  z
    .string()
    .min(1)
    .max(500)
    .check((payload) => {
      const message = redactionFault(payload.value);
      if (message !== undefined) payload.issues.push({ code: 'custom', input: payload.value, message });
    });

/** What a service records and exports about its runs and itself. */
export const telemetrySettings = {
  traces: setting({
    about: 'Whether the service records the traces of runs.',
    default: true,
    schema: () => z.boolean(),
  }),
  traceContent: setting({
    about: 'Whether traces, listed or exported, show messages, tool arguments and tool results.',
    default: 'full',
    schema: () => z.enum(['full', 'none']),
  }),
  traceRedact: setting({
    about: 'What traces hide: values of fields by name, and everything that matches an expression.',
    default: [],
    allowed: 'a list of field names and of expressions such as /\\b\\d{16}\\b/',
    schema: () => z.array(redactionRule()).max(100),
  }),
  traceRetentionDays: setting({
    about: 'How many days the service lists traces; 0: forever.',
    default: 30,
    schema: () => z.int().min(0).max(36_500),
  }),
  otlpEndpoint: setting({
    about:
      'The OpenTelemetry collector that receives traces and, with otlpMetricsSeconds, metrics; no export when left out.',
    schema: collectorUrl,
  }),
  otlpHeaders: setting({
    about: 'Headers of requests to the collector, such as a key.',
    default: {},
    allowed: 'a map from the name of a header to its value',
    schema: () =>
      z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/), z.string().regex(/^[\t\x20-\x7e]*$/)),
  }),
  otlpMetricsSeconds: setting({
    about: 'How often the service sends its metrics to the collector of otlpEndpoint; 0: never.',
    default: 0,
    schema: () => z.int().min(0).max(3600),
  }),
};
