import type { Log } from '../../../core/log.js';
import { type DeliveryOptions, NotDelivered, OtlpDelivery } from '../otlp-delivery.js';
import { otlpOrigin } from '../otlp-origin.js';
import { otlpMetric } from './otlp-metrics.js';
import type { MetricRegistry } from './registry.js';

export interface MetricExportOptions extends DeliveryOptions {
  readonly serviceName: string;
  readonly registry: MetricRegistry;
  readonly everyMs: number;
  readonly log: Log;
}

/**
 * Sends all metrics to an OpenTelemetry collector now and then. Each number counts from the start of the process, so
 * what the collector does not take is not kept: the next request says it again.
 */
export class MetricExport {
  readonly #delivery: OtlpDelivery;
  readonly #timer: NodeJS.Timeout;
  readonly #since = Date.now();
  #sending: Promise<void> | undefined;
  #isFailing = false;

  constructor(private readonly options: MetricExportOptions) {
    this.#delivery = new OtlpDelivery(options, 'metrics');
    this.#timer = setInterval(() => this.#send(), options.everyMs).unref();
  }

  /** Sends the last numbers, for at most so long. */
  async close(withinMs: number): Promise<void> {
    clearInterval(this.#timer);
    this.#delivery.hurry();
    const timeUp = setTimeout(() => this.#delivery.abort(), withinMs);
    await this.#sending;
    await this.#send();
    clearTimeout(timeUp);
  }

  /** One request at a time: while a collector is slow, no further ones are made. */
  #send(): Promise<void> {
    this.#sending ??= this.#sendNow().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendNow(): Promise<void> {
    const { log } = this.options;
    const collector = this.#delivery.place;
    try {
      const { rejected } = await this.#delivery.deliver(await this.#body());
      if (rejected > 0) log.warn({ collector, points: rejected }, 'the collector refused some metrics');
      if (this.#isFailing) log.info({ collector }, 'the collector takes metrics again');
      this.#isFailing = false;
    } catch (error) {
      // said once, until the collector takes something again
      const reason = error instanceof NotDelivered ? error.message : String(error);
      if (!this.#isFailing) log.warn({ collector, reason }, 'metrics could not be sent to the collector');
      this.#isFailing = true;
    }
  }

  async #body(): Promise<string> {
    const { registry, serviceName } = this.options;
    const { resource, scope } = otlpOrigin(serviceName);
    const collected = await registry.collect();
    const period = { since: this.#since, now: Date.now() };
    const metrics = collected.map((metric) => otlpMetric(metric, period));
    return JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] });
  }
}
