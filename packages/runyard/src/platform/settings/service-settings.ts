import { z } from 'zod';
import { authSettings } from '../auth/tokens/settings.js';
import { limitSettings } from '../http/limit-settings.js';
import { telemetrySettings } from '../telemetry/settings.js';
import { interfaceSettings } from './interface-settings.js';
import { modelRateSettings } from './model-rate-settings.js';
import { runLimitSettings } from './run-limit-settings.js';
import { scheduleSettings } from './schedule-settings.js';
import { setting } from './setting.js';
import { shownSettings } from './shown-settings.js';
import { storageSettings } from './storage-settings.js';

const milliseconds = (minimum: number, maximum = 86_400_000) => z.int().min(minimum).max(maximum);
const bytes = () => z.int().min(1024).max(4_294_967_296);

/** Every setting of a service: its meaning, its allowed values and its default. */
export const serviceSettings = {
  host: setting({
    about: 'The address to listen on; loopback by default.',
    default: '127.0.0.1',
    schema: () => z.string().min(1),
  }),
  port: setting({
    about: 'The port to listen on; 0 selects a free port.',
    default: 7777,
    schema: () => z.int().min(0).max(65_535),
  }),
  probePort: setting({
    about:
      'A separate port for /health, /ready and /metrics, without tokens, for orchestrators; 0 selects a free port.',
    schema: () => z.int().min(0).max(65_535),
  }),
  name: setting({
    about: 'The name of this service that clients see.',
    default: 'Runyard',
    schema: () => z.string().min(1).max(200),
  }),
  id: setting({
    about: 'The identifier of this service; derived from the name when left out.',
    schema: () => z.string().min(1).max(200),
  }),
  description: setting({
    about: 'The description of this service that clients see.',
    schema: () => z.string().max(2000),
  }),
  dataDir: setting({
    about: 'The folder of the embedded database and of other local data.',
    default: '.runyard',
    schema: () => z.string().min(1),
  }),
  ...storageSettings,
  logLevel: setting({
    about: 'How much is logged.',
    default: 'info',
    schema: () => z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  }),
  logFormat: setting({
    about: 'The format of log lines; auto is pretty on a terminal and json elsewhere.',
    default: 'auto',
    schema: () => z.enum(['auto', 'pretty', 'json']),
  }),
  corsOrigins: setting({
    about:
      'Origins whose pages may call this service from a browser; when left out, those of the usual development servers on the loopback address, and http://localhost:3000 alone elsewhere.',
    allowed: 'a list of origins such as https://app.example.com or tauri://localhost (no path, no *)',
    schema: () => z.array(z.string().regex(/^[a-z][a-z\d+.-]*:\/\/[^/*\s]+$/i)).max(1000),
  }),
  maxBodyBytes: setting({
    about: 'The largest request body without files.',
    default: 1_048_576,
    schema: bytes,
  }),
  maxUploadBytes: setting({
    about: 'The largest request body with files.',
    default: 52_428_800,
    schema: bytes,
  }),
  maxStreamedBytes: setting({
    about:
      'The largest request body whose files are stored while they arrive, such as content for knowledge.',
    default: 1_073_741_824,
    schema: bytes,
  }),
  maxFiles: setting({
    about: 'How many files one request may carry.',
    default: 20,
    schema: () => z.int().min(0).max(10_000),
  }),
  maxFields: setting({
    about: 'How many form fields one request may carry.',
    default: 200,
    schema: () => z.int().min(1).max(10_000),
  }),
  heartbeatMs: setting({
    about: 'How long a stream may be silent before the service sends a heartbeat.',
    default: 15_000,
    schema: () => milliseconds(100),
  }),
  maxConcurrentRuns: setting({
    about: 'How many runs one process executes at once; further runs wait in a fair order.',
    default: 1000,
    schema: () => z.int().min(1).max(1_000_000),
  }),
  maxJobs: setting({
    about:
      'How many jobs (long work of the service, such as ingesting content) one process executes at once. They take no slot of a run; further jobs wait in the database.',
    default: 2,
    schema: () => z.int().min(1).max(1000),
  }),
  maxWaitingRuns: setting({
    about:
      'How many runs may wait for their turn; beyond that, the service rejects new runs with 503 and Retry-After.',
    default: 10_000,
    schema: () => z.int().min(0).max(1_000_000),
  }),
  leaseMs: setting({
    about: 'How long a run stays reserved for a process that does not renew its lease.',
    default: 30_000,
    schema: () => milliseconds(1000),
  }),
  orphanedRunsMs: setting({
    about:
      'How long a run waits for a process that has its component before it ends with an error, up to a year; 0: forever.',
    default: 86_400_000,
    schema: () => milliseconds(0, 365 * 86_400_000),
  }),
  drainMs: setting({
    about:
      'How long the service still accepts everything after the signal to stop, while /ready answers 503: the time that a load balancer takes to notice.',
    default: 0,
    schema: () => milliseconds(0, 600_000),
  }),
  stopGraceMs: setting({
    about: 'How long runs may continue after the service receives the signal to stop.',
    default: 10_000,
    schema: () => milliseconds(0),
  }),
  onDisconnect: setting({
    about: 'What happens to a streamed run when its client disconnects.',
    default: 'continue',
    schema: () => z.enum(['continue', 'cancel']),
  }),
  compatibility: setting({
    about: 'agentos: run bodies carry upper-case status and integer times.',
    default: 'none',
    schema: () => z.enum(['none', 'agentos']),
  }),
  defaultModel: setting({
    about:
      'The model that the service itself uses, to optimize memories; the model of the first agent when left out.',
    schema: () => z.string().min(1).max(200),
  }),
  evalJudge: setting({
    about: 'The model that judges in evals; the model of the evaluated component when left out.',
    schema: () => z.string().min(1).max(200),
  }),
  evalsNeedRunScope: setting({
    about:
      'Whether a caller who starts an eval needs the right to run the component; false: evals:write suffices, as for older tokens.',
    default: true,
    schema: () => z.boolean(),
  }),
  evalRetentionDays: setting({
    about: 'How many days the service keeps evals after their end, with their results; 0: forever.',
    default: 0,
    schema: () => z.int().min(0).max(36_500),
  }),
  approvalsFourEyes: setting({
    about:
      'Whether a person other than the requester must approve a call; on with userIsolation when left out.',
    schema: () => z.boolean(),
  }),
  serviceAccountCacheSeconds: setting({
    about:
      'How long a process trusts a service account after checking it; 0: every request queries the database.',
    default: 30,
    schema: () => z.int().min(0).max(3600),
  }),
  docs: setting({
    about: 'Whether the service serves the API browser at /docs.',
    default: true,
    schema: () => z.boolean(),
  }),
  console: setting({
    about: 'Whether the service serves the web console at /console.',
    default: true,
    schema: () => z.boolean(),
  }),
  eventRetentionHours: setting({
    about: 'How many hours the service keeps the events of a run after its end; 0: forever.',
    default: 24,
    schema: () => z.int().min(0).max(87_600),
  }),
  runRetentionDays: setting({
    about: 'How many days the service keeps runs after their end, with all that belongs to them; 0: forever.',
    default: 0,
    schema: () => z.int().min(0).max(36_500),
  }),
  ...telemetrySettings,
  ...authSettings,
  ...interfaceSettings,
  ...limitSettings,
  ...scheduleSettings,
  ...shownSettings,
  ...runLimitSettings,
  ...modelRateSettings,
};
