import type { TraceExport } from '../../platform/telemetry/trace-export.js';
import type { Capability, ServiceParts } from '../capability.js';
import { DatabaseTraces } from './database-service.js';
import { traces as narrowRows } from './migrations/0006-traces.js';
import { type TraceServices, traceRoutes } from './routes.js';
import { TracesService } from './service.js';

declare module '../capability.js' {
  interface Services extends TraceServices {}
  interface RunSpace {
    readonly traces: DatabaseTraces;
  }
}

export const traces: Capability = {
  name: 'traces',
  migrations: [narrowRows],
  routes: traceRoutes,
  section: { name: 'traces' },
  async open(site) {
    const traceExport = await openExport(site);
    return {
      services: { traces: new TracesService(site) },
      inDatabase: (database, { runs }) => ({
        parts: { traces: new DatabaseTraces(database, runs) },
        ...(traceExport !== undefined && { onRest: (rested) => traceExport.rested(rested) }),
      }),
      close: async (withinMs) => traceExport?.close(withinMs),
    };
  },
};

/** Loaded only where there is a collector to send to. */
async function openExport({
  settings,
  components,
  prices,
  log,
}: ServiceParts): Promise<TraceExport | undefined> {
  if (settings.otlpEndpoint === undefined) return undefined;
  const { openTraceExport } = await import('../../platform/telemetry/open-trace-export.js');
  return openTraceExport({ settings, prices, workflow: (run) => components.shownOf(run), log });
}
