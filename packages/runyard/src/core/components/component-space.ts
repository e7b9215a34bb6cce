import { newId } from '../ids.js';
import { InProcessLearnings } from '../learnings/in-process-learnings.js';
import { silentLog } from '../log.js';
import { InProcessMedia } from '../media/in-process-media.js';
import type { MediaContents } from '../media/media.js';
import { InProcessMemories } from '../memory/in-process-memories.js';
import { RunEngine } from '../runs/engine.js';
import type { Executable } from '../runs/executable.js';
import { MemoryJournal } from '../runs/journal/memory-journal.js';
import type { RunJournal } from '../runs/journal/ports.js';
import { unlimitedSlots } from '../runs/leases/run-slots.js';
import { InProcessNotifications } from '../runs/notifications/in-process-notifications.js';
import type { Timers } from '../timers.js';

/** Where the runs of a component are executed and kept. */
export interface ComponentSpace {
  readonly engine: RunEngine;
  readonly journal: RunJournal;
  readonly media: MediaContents;
}

/**
 * The space of one component that no service registers. Its sessions, memories and learnings are its own, because
 * other components may have the same id, and live as long as it does: `new Runyard({ agents })` makes them durable.
 */
export function inProcessSpace(component: Executable, timers: Timers): ComponentSpace {
  const journal = new MemoryJournal();
  const media = new InProcessMedia();
  const engine = new RunEngine({
    journal,
    leases: journal,
    queue: journal,
    notifications: new InProcessNotifications(),
    timers,
    slots: unlimitedSlots(),
    ports: {
      media,
      pastSessions: journal,
      memories: new InProcessMemories(),
      learnings: new InProcessLearnings(),
    },
    log: silentLog,
    owner: newId(),
    leaseMs: 3_600_000,
    resolve: () => component,
    isTransient: () => false,
  });
  return { engine, journal, media };
}
