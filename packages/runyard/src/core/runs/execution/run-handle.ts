import type { EventLog } from '../events/event-log.js';
import type { EventReader } from '../events/event-reader.js';
import type { LoggedEvent } from '../events/logged-event.js';
import { RunCancelled } from '../executable.js';
import type { EndedRun, Run } from '../run.js';
import type { LiveRun } from './live-run.js';

export interface RunHandle {
  readonly runId: string;
  readonly run: Run;
  /** Resolves when the run has ended (or paused) and that is durable. */
  readonly ended: Promise<EndedRun>;
  /** The same for a caller who waits: rejects when the end cannot be stored for now. The run itself is not lost. */
  readonly told: Promise<EndedRun>;
  /** Resolves when all that the run has done so far is durable. */
  stored(): Promise<void>;
  events(fromIndex?: number, filter?: (event: LoggedEvent) => boolean): EventReader;
  cancel(reason: string): void;
}

/** What executes it. */
interface Executor {
  stored(live: LiveRun): Promise<void>;
  events(
    runId: string,
    fromIndex: number,
    filter: ((event: LoggedEvent) => boolean) | undefined,
    ended: EventLog,
  ): EventReader;
}

/** A run that this process executes. A class, because every run has one, and a getter in a literal is slow to make. */
export class LiveHandle implements RunHandle {
  constructor(
    private readonly executor: Executor,
    private readonly live: LiveRun,
    readonly ended: Promise<EndedRun>,
    readonly told: Promise<EndedRun>,
  ) {}

  get runId(): string {
    return this.live.runId;
  }

  get run(): Run {
    return this.live.run;
  }

  stored(): Promise<void> {
    return this.executor.stored(this.live);
  }

  events(fromIndex = 0, filter?: (event: LoggedEvent) => boolean): EventReader {
    // a short run may have ended before its caller reads: what it sent is still here
    const { runId, log } = this.live;
    return this.executor.events(runId, fromIndex, filter, log);
  }

  cancel(reason: string): void {
    this.live.stop(new RunCancelled(reason));
  }
}
