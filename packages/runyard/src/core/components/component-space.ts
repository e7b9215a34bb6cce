import { forgetRules } from '../agents/forgetting/forget-rules.js';
import { inNeutralContext } from '../async/neutral-context.js';
import { newId } from '../ids.js';
import { InProcessLearnings } from '../learnings/in-process-learnings.js';
import { silentLog } from '../log.js';
import { InProcessMedia } from '../media/in-process-media.js';
import type { MediaContents } from '../media/media.js';
import { InProcessMemories } from '../memory/in-process-memories.js';
import { InProcessResponses } from '../models/cache/in-process-responses.js';
import type { Resolutions } from '../runs/approval.js';
import { RunEngine } from '../runs/engine.js';
import type { EngineOptions } from '../runs/engine-options.js';
import type { Executable } from '../runs/executable.js';
import type { RunHandle } from '../runs/execution/run-handle.js';
import { InProcessRecall } from '../runs/in-process-recall.js';
import type { Job } from '../runs/jobs/job.js';
import { Jobs } from '../runs/jobs/jobs.js';
import { InProcessEvents } from '../runs/journal/in-process-events.js';
import { MemoryJournal } from '../runs/journal/memory-journal.js';
import type { RunJournal } from '../runs/journal/ports.js';
import { awaitedEvent } from '../runs/journal/received-events.js';
import { RunSlots, unlimitedSlots } from '../runs/leases/run-slots.js';
import { InProcessNotifications } from '../runs/notifications/in-process-notifications.js';
import type { EndedRun, Run, StepRecord } from '../runs/run.js';
import { wakeAtOf } from '../runs/run-ends.js';
import type { Timers } from '../timers.js';

/** Where the runs of a component are executed and kept. */
export interface ComponentSpace {
  readonly engine: RunEngine;
  readonly journal: RunJournal;
  readonly media: MediaContents;
  /** Waits for the end of a run, wherever it is executed by then. Left out where no other process executes any. */
  ended?(handle: RunHandle): Promise<EndedRun>;
  /** How the approvals of a run were decided. Left out where there are none: without a service. */
  resolutions?(run: Run): Promise<Resolutions>;
}

/**
 * The space of one component that no service registers. Its sessions, memories and learnings are its own, because
 * other components may have the same id, and live as long as it does: `new Runyard({ agents })` makes them durable.
 */
export function inProcessSpace(
  component: Executable | ((run: Run, journal: RunJournal) => Promise<Executable>),
  timers: Timers,
  log = silentLog,
): ComponentSpace {
  const parts = { ...inProcessParts(timers), log };
  const { journal } = parts;
  const engine: RunEngine = new RunEngine({
    ...parts,
    slots: unlimitedSlots(),
    forgetRules,
    resolve: (run) => (typeof component === 'function' ? component(run, journal) : component),
    onRest: waker(timers, () => engine.recover()),
  });
  return { engine, journal, media: parts.ports.media };
}

/** How often to look for paused runs whose time has come, while there are runs that wait for one. */
const wakeMs = 1_000;

/** Nothing polls a space without a service: looks for as long as a run waits for a time or an event. */
function waker(timers: Timers, wake: () => Promise<void>): NonNullable<EngineOptions['onRest']> {
  const waiting = new Set<string>();
  let stop: (() => void) | undefined;
  return ({ run, steps }) => {
    if (run.status === 'paused' && (wakeAtOf(steps) !== null || steps.some(isOpenEventWait)))
      waiting.add(run.runId);
    else waiting.delete(run.runId);
    if (waiting.size > 0) stop ??= inNeutralContext(() => timers.every(wakeMs, () => void wake()));
    else {
      stop?.();
      stop = undefined;
    }
  };
}

function isOpenEventWait(step: StepRecord): boolean {
  return step.status === 'running' && awaitedEvent(step) !== undefined;
}

/** How many jobs a space without a service executes at once. */
const jobsAtOnce = 2;

/** Executes jobs without a service, such as those of a knowledge base that is used in code. They end with the process. */
export function inProcessJobs(jobs: readonly Job[], timers: Timers): Jobs {
  const slots = new RunSlots({ executing: jobsAtOnce, waiting: 0 });
  return new Jobs({ ...inProcessParts(timers), slots, jobs });
}

function inProcessParts(timers: Timers) {
  const journal = new MemoryJournal();
  return {
    journal,
    leases: journal,
    queue: journal,
    notifications: new InProcessNotifications(),
    timers,
    ports: {
      media: new InProcessMedia(),
      pastSessions: journal,
      recall: new InProcessRecall(() => journal.all()),
      receivedEvents: new InProcessEvents(journal),
      memories: new InProcessMemories(),
      learnings: new InProcessLearnings(),
      responses: new InProcessResponses(timers),
    },
    log: silentLog,
    owner: newId(),
    leaseMs: 3_600_000,
    isTransient: () => false,
  };
}
