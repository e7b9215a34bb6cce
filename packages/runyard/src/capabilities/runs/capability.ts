import type { ComponentSpace } from '../../core/components/component-space.js';
import { systemTimers } from '../../platform/engine/local/timers.js';
import { serviceLimits } from '../../platform/settings/run-limit-settings.js';
import type { Capability } from '../capability.js';
import { codeSpace } from './code-space.js';
import { addRunGauges } from './gauges/run-gauges.js';
import { pausedComponents } from './migrations/0011-paused-components.js';
import { runTexts } from './migrations/0012-run-texts.js';
import { definitions } from './migrations/0013-definitions.js';
import { askers } from './migrations/0014-askers.js';
import { jobs } from './migrations/0015-jobs.js';
import { receivedEvents } from './migrations/0030-received-events.js';
import { packedRuns } from './migrations/0032-packed-runs.js';
import { queueOrder } from './migrations/0034-queue-order.js';
import { slices } from './migrations/0035-slices.js';
import { leasedRuns } from './migrations/0036-leased-runs.js';
import { StoredPastSessions } from './past-sessions.js';
import type { RunServices } from './routes/route-kit.js';
import { type SessionRunServices, sessionRunRoutes } from './routes/session-run-routes.js';
import { runRoutes } from './routes.js';
import { RunsService } from './service.js';
import { SessionRunsService } from './session-runs-service.js';
import { JobStore } from './storage/job-store.js';
import { OrphanCounts, orphanedRuns } from './storage/orphan-counts.js';
import { OrphanStore } from './storage/orphan-store.js';
import { SessionRunStore } from './storage/session-run-store.js';
import { RunStore } from './storage/store.js';

declare module '../capability.js' {
  interface Services extends RunServices, SessionRunServices {}
  interface RunSpace {
    readonly runs: RunStore;
    readonly jobRows: JobStore;
    readonly sessionRuns: SessionRunStore;
    readonly orphans: OrphanStore;
    /** For runs that code starts. */
    readonly forCode: ComponentSpace;
  }
}

export const runs: Capability = {
  name: 'runs',
  migrations: [
    pausedComponents,
    runTexts,
    definitions,
    askers,
    jobs,
    receivedEvents,
    packedRuns,
    queueOrder,
    slices,
    leasedRuns,
  ],
  routes: [...runRoutes, ...sessionRunRoutes],
  info: () => ({ orphaned_runs: orphanedRuns }),
  open(site) {
    const { settings, components, spaces, metrics, log } = site;
    if (metrics !== undefined) addRunGauges(metrics.registry, site);
    const orphans = new OrphanCounts(spaces, components, { timers: systemTimers, log });
    const { onDisconnect } = settings;
    const limits = serviceLimits(settings);
    return {
      services: {
        runs: new RunsService({ components, spaces, onDisconnect, log, limits }),
        sessionRuns: new SessionRunsService(spaces),
      },
      inDatabase: (database, space) => {
        const runs = new RunStore(database, { traces: settings.traces });
        const { receivedEvents } = runs;
        return {
          parts: {
            runs,
            jobRows: new JobStore(database),
            sessionRuns: new SessionRunStore(database),
            orphans: new OrphanStore(database),
            forCode: codeSpace(space),
          },
          ports: { pastSessions: new StoredPastSessions(space), receivedEvents },
        };
      },
      info: async (caller) => ({ orphaned_runs: await orphans.shownTo(caller) }),
    };
  },
};
