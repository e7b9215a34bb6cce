import type { Model } from '../../../core/models/model.js';
import { ModelError } from '../../../core/models/model-error.js';
import { RunCancelled, RunReleased } from '../../../core/runs/executable.js';
import type { LeaseEnd, ObservedAnswer, RunObserver } from '../../../core/runs/execution/run-observer.js';
import { LimitExceeded } from '../../../core/runs/limits/limit-exceeded.js';
import type { Run, RunStatus } from '../../../core/runs/run.js';
import type { RequestObserver } from '../../http/exchange.js';
import { addProcessMetrics } from './process-metrics.js';
import { MetricRegistry } from './registry.js';

const requestBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const modelBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];
const toolBounds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const runBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];
const lagBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];

const tokenTypes = [
  ['input', 'inputTokens'],
  ['output', 'outputTokens'],
  ['cache_read', 'cacheReadTokens'],
  ['cache_write', 'cacheWriteTokens'],
  ['reasoning', 'reasoningTokens'],
] as const;

const ofModel = { labels: ['provider', 'model'], open: ['provider', 'model'] };

/**
 * What is counted as it happens. What can be read at any time is a gauge of the registry instead
 * (`capabilities/runs/gauges`). `docs/deployment.md` has a row for each.
 */
function instrumentsOf(registry: MetricRegistry) {
  return {
    runsBegan: registry.counter({
      name: 'runyard_runs_began_total',
      help: 'Executions of runs that began in this process, by what they are: started, continued or recovered.',
      labels: ['kind', 'component', 'entry'],
      open: ['component'],
    }),
    runsRested: registry.counter({
      name: 'runyard_runs_rested_total',
      help: 'Runs that ended or paused in this process.',
      labels: ['kind', 'component', 'status'],
      open: ['component'],
    }),
    runSeconds: registry.histogram(
      {
        name: 'runyard_run_duration_seconds',
        help: 'Time from the creation of a run to its end, pauses included.',
        labels: ['kind', 'status'],
      },
      runBounds,
    ),
    leasesEnded: registry.counter({
      name: 'runyard_leases_ended_total',
      help: 'Runs that left this process before their end: lost to another one, or handed on at a stop.',
      labels: ['reason'],
    }),
    modelSeconds: registry.histogram(
      {
        name: 'runyard_model_call_duration_seconds',
        help: 'Duration of model calls, failed ones included.',
        ...ofModel,
      },
      modelBounds,
    ),
    modelErrors: registry.counter({
      name: 'runyard_model_errors_total',
      help: 'Model calls that failed; each retry counts.',
      labels: [...ofModel.labels, 'reason'],
      open: ofModel.open,
    }),
    modelTokens: registry.counter({
      name: 'runyard_model_tokens_total',
      help: 'Tokens that models reported. Cached and reasoning tokens are also part of input and output.',
      labels: [...ofModel.labels, 'type'],
      open: ofModel.open,
    }),
    cachedAnswers: registry.counter({
      name: 'runyard_model_cached_answers_total',
      help: 'Answers that the response cache gave instead of a provider.',
      ...ofModel,
    }),
    toolSeconds: registry.histogram(
      {
        name: 'runyard_tool_call_duration_seconds',
        help: 'Duration of tool calls.',
        labels: ['tool', 'outcome'],
        open: ['tool'],
      },
      toolBounds,
    ),
    eventLag: registry.histogram(
      {
        name: 'runyard_event_lag_seconds',
        help: 'Time from the oldest change of a run that a commit holds to the end of the commit.',
      },
      lagBounds,
    ),
    requests: registry.counter({
      name: 'runyard_http_requests_total',
      help: 'HTTP requests that were answered, or given up by the client.',
      labels: ['method', 'route', 'status'],
    }),
    requestSeconds: registry.histogram(
      {
        name: 'runyard_http_request_duration_seconds',
        help: 'Duration of HTTP requests; of a stream, the time until it began.',
        labels: ['method', 'route'],
      },
      requestBounds,
    ),
  };
}

/** Counts what a service does. */
export class ServiceMetrics implements RunObserver, RequestObserver {
  readonly registry = new MetricRegistry();
  readonly #count = instrumentsOf(this.registry);

  readonly #loop = addProcessMetrics(this.registry);

  /** Ends what measures in the background. */
  close(): void {
    this.#loop.close();
  }

  runBegan({ kind, componentId }: Run, entry: string): void {
    this.#count.runsBegan.add(1, kind, componentId, entry);
  }

  runRested({ kind, componentId, createdAt, updatedAt }: Run, status: RunStatus): void {
    this.#count.runsRested.add(1, kind, componentId, status);
    if (status !== 'paused') this.#count.runSeconds.observe(seconds(updatedAt - createdAt), kind, status);
  }

  leaseEnded(how: LeaseEnd): void {
    this.#count.leasesEnded.add(1, how);
  }

  modelAnswered({ provider, id }: Model, ms: number, answer: Partial<ObservedAnswer> | undefined): void {
    if (answer?.cached === true) {
      this.#count.cachedAnswers.add(1, provider, id);
      return;
    }
    this.#count.modelSeconds.observe(seconds(ms), provider, id);
    for (const [type, field] of tokenTypes) {
      // what a model of the application reports is checked only after this
      const tokens = answer?.usage?.[field];
      if (typeof tokens === 'number' && tokens > 0 && Number.isFinite(tokens))
        this.#count.modelTokens.add(tokens, provider, id, type);
    }
  }

  modelFailed({ provider, id }: Model, ms: number, error: unknown): void {
    this.#count.modelSeconds.observe(seconds(ms), provider, id);
    this.#count.modelErrors.add(1, provider, id, failureOf(error));
  }

  toolEnded(name: string, ms: number, failed: boolean): void {
    this.#count.toolSeconds.observe(seconds(ms), name, failed ? 'error' : 'ok');
  }

  stored(ms: number): void {
    this.#count.eventLag.observe(seconds(ms));
  }

  requestEnded(method: string, route: string, status: number | null, ms: number): void {
    this.#count.requests.add(1, method, route, status === null ? 'aborted' : String(status));
    this.#count.requestSeconds.observe(seconds(ms), method, route);
  }
}

/** A clock that was set back makes nothing shorter than nothing. */
function seconds(ms: number): number {
  return Math.max(ms, 0) / 1000;
}

function failureOf(error: unknown): string {
  if (error instanceof ModelError) return error.reason === 'error' ? error.kind : error.reason;
  const isEnded =
    error instanceof RunCancelled || error instanceof RunReleased || error instanceof LimitExceeded;
  return isEnded || (error instanceof Error && error.name === 'AbortError') ? 'aborted' : 'other';
}
