import type { Readiness } from './capabilities/system/readiness.js';
import { healthOf } from './capabilities/system/service.js';
import { errors } from './core/errors/errors.js';
import type { Settings } from './platform/config.js';
import { openProbeServer, type ProbeServer } from './platform/http/probe-server.js';

/** The port of the probes, which is open before anything else: the process has to answer while it migrates or waits. */
export class Probes {
  private server: Promise<ProbeServer | null> | null = null;

  /** Null without a `probePort`. */
  async open(
    { host, port, probePort }: Settings,
    startedAt: Date,
    readiness: () => Readiness,
  ): Promise<ProbeServer | null> {
    if (probePort === undefined) return null;
    if (probePort === port && port !== 0)
      throw errors.invalidConfig(`port and probePort are both ${port}. Choose another probePort.`);
    this.server ??= openProbeServer(
      { host, port: probePort },
      {
        '/health': () => ({ status: 200, body: healthOf(startedAt) }),
        '/ready': async () => {
          const report = await readiness().report();
          return { status: report.status === 'ready' ? 200 : 503, body: report };
        },
      },
    ).catch((error: unknown) => {
      this.server = null;
      throw error;
    });
    return this.server;
  }

  async close(): Promise<void> {
    const server = await this.server?.catch(() => null);
    this.server = null;
    await server?.close();
  }
}
