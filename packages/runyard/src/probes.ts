import { Readiness } from './capabilities/system/readiness.js';
import { healthOf } from './capabilities/system/service.js';
import { errors } from './core/errors/errors.js';
import type { Log } from './core/log.js';
import { openProbeServer, type ProbeServer } from './platform/http/probe-server.js';
import type { Settings } from './platform/settings/config.js';
import type { MetricExport } from './platform/telemetry/metrics/metric-export.js';
import type { ServiceMetrics } from './platform/telemetry/metrics/service-metrics.js';

/** Whose probes they are. What it has is read when it is needed: settings may still change before that. */
interface ProbedService {
  readonly settings: Settings;
  readonly log: Log;
}

/** The last metrics get so long to reach their collector. */
const lastMetricsMs = 2_000;

/**
 * What a service shows to those who operate it: whether it lives, whether it is ready, and what it counts. Its port is
 * open before anything else: the process has to answer while it migrates or waits.
 */
export class Probes {
  private server: Promise<ProbeServer | null> | null = null;
  private known: Readiness | null = null;
  private counting: Promise<ServiceMetrics | undefined> | null = null;
  private exporting: MetricExport | null = null;

  constructor(
    private readonly service: ProbedService,
    private readonly startedAt: Date,
  ) {}

  get readiness(): Readiness {
    this.known ??= new Readiness(this.service.log);
    return this.known;
  }

  /** Undefined when nothing reads them: then nothing is counted. */
  metrics(): Promise<ServiceMetrics | undefined> {
    this.counting ??= this.openMetrics();
    return this.counting;
  }

  /** Null without a `probePort`. */
  async open(): Promise<ProbeServer | null> {
    const { host, port, probePort } = this.service.settings;
    if (probePort === undefined) return null;
    if (probePort === port && port !== 0)
      throw errors.invalidConfig(`port and probePort are both ${port}. Choose another probePort.`);
    this.server ??= this.listen(host, probePort).catch((error: unknown) => {
      this.server = null;
      throw error;
    });
    return this.server;
  }

  /** From now on not ready. */
  stop(): void {
    this.known?.stop();
  }

  /** Sends the last metrics. */
  async flush(): Promise<void> {
    await this.exporting?.close(lastMetricsMs);
    this.exporting = null;
  }

  async close(): Promise<void> {
    const server = await this.server?.catch(() => null);
    this.server = null;
    await server?.close();
    (await this.counting)?.close();
    this.counting = null;
    this.known = null;
  }

  private async listen(host: string, port: number): Promise<ProbeServer> {
    const { expositionOf } = await import('./platform/telemetry/metrics/exposition.js');
    const metrics = await this.metrics();
    return openProbeServer(
      { host, port },
      {
        '/health': () => ({ status: 200, body: healthOf(this.startedAt) }),
        '/ready': async () => {
          const report = await this.readiness.report();
          return { status: report.status === 'ready' ? 200 : 503, body: report };
        },
        '/metrics': async ({ accept }) => {
          const { contentType, text } = expositionOf((await metrics?.registry.collect()) ?? [], accept);
          return { status: 200, body: text, contentType };
        },
      },
    );
  }

  private async openMetrics(): Promise<ServiceMetrics | undefined> {
    const { settings, log } = this.service;
    const { probePort, otlpEndpoint: endpoint, otlpHeaders: headers, otlpMetricsSeconds } = settings;
    const isSent = endpoint !== undefined && otlpMetricsSeconds > 0;
    if (probePort === undefined && !isSent) return undefined;
    const { ServiceMetrics } = await import('./platform/telemetry/metrics/service-metrics.js');
    const metrics = new ServiceMetrics();
    if (!isSent) return metrics;
    const { MetricExport } = await import('./platform/telemetry/metrics/metric-export.js');
    const { registry } = metrics;
    const everyMs = otlpMetricsSeconds * 1000;
    this.exporting = new MetricExport({
      endpoint,
      headers,
      registry,
      everyMs,
      serviceName: settings.name,
      log,
    });
    return metrics;
  }
}
