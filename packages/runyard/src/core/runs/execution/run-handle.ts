import { deliver, promised, type Receiver } from '../../async/receiver.js';
import { handled } from '../../errors/handled.js';
import type { RunContext } from '../context.js';
import type { EventLog } from '../events/event-log.js';
import type { EventReader } from '../events/event-reader.js';
import type { LoggedEvent } from '../events/logged-event.js';
import { type Executable, RunCancelled } from '../executable.js';
import type { RunGuard } from '../limits/run-guard.js';
import type { EndedRun, Run, RunResult } from '../run.js';
import type { LiveRun } from './live-run.js';

export interface RunHandle {
  readonly runId: string;
  readonly run: Run;
  /** Resolves when the run has ended (or paused) and that is durable. */
  readonly ended: Promise<EndedRun>;
  /** The same for a caller who waits: rejects when the end cannot be stored for now. The run itself is not lost. */
  readonly reported: Promise<EndedRun>;
  /** Resolves when all that the run has done so far is durable. */
  stored(): Promise<void>;
  events(fromIndex?: number, filter?: (event: LoggedEvent) => boolean): EventReader;
  cancel(reason: string): void;
}

/** What executes it. */
interface Executor {
  /** Ends a run whose work is done. */
  completed(entry: Executed, result: RunResult): Promise<EndedRun>;
  /** Ends or releases a run whose work has failed. */
  brokenOff(entry: Executed, error: unknown): Promise<EndedRun>;
  stored(live: LiveRun): Promise<void>;
  events(
    runId: string,
    fromIndex: number,
    filter: ((event: LoggedEvent) => boolean) | undefined,
    ended: EventLog,
  ): EventReader;
}

/** The execution of a run in this process; receives the outcome of its work. */
export class Executed implements Receiver<RunResult> {
  /** Whether it has a slot, so that its work can begin. */
  hasBegun: boolean;
  private outcome: Promise<EndedRun> | undefined;
  /** Resolves the promise of callers who asked for the outcome before it was there. */
  private asked: Receiver<EndedRun> | undefined;
  private delay: Error | undefined;
  private waiting:
    | { readonly reported: Promise<EndedRun>; readonly reject: (delay: Error) => void }
    | undefined;

  constructor(
    private readonly executor: Executor,
    readonly live: LiveRun,
    readonly executable: Executable,
    readonly context: RunContext,
    readonly guard: RunGuard,
  ) {
    this.hasBegun = !live.isWaiting;
  }

  received(result: RunResult): void {
    this.ends(this.executor.completed(this, result));
  }

  failed(error: unknown): void {
    this.ends(this.executor.brokenOff(this, error));
  }

  /** Made for those who ask for it while the run is executed. */
  get ended(): Promise<EndedRun> {
    this.outcome ??= handled(
      promised((receiver) => {
        this.asked = receiver;
      }),
    );
    return this.outcome;
  }

  private ends(ending: Promise<EndedRun>): void {
    if (this.asked !== undefined) deliver(ending, this.asked);
    else this.outcome = handled(ending);
  }

  /** Made for those who wait for it: the reader of a stream does not. */
  get reported(): Promise<EndedRun> {
    if (this.delay !== undefined) return handled(Promise.reject(this.delay));
    this.waiting ??= this.awaited();
    return this.waiting.reported;
  }

  /** The end cannot be stored for now. */
  delayed(error: Error): void {
    this.delay ??= error;
    this.waiting?.reject(error);
  }

  private awaited() {
    let reject = (_: Error): void => {};
    const reported = new Promise<EndedRun>((resolve, fail) => {
      reject = fail;
      this.ended.then(resolve, fail);
    });
    return { reported: handled(reported), reject };
  }
}

/** A run that this process executes. A class, because every run has one, and a getter in a literal is slow to make. */
export class LiveHandle implements RunHandle {
  constructor(
    private readonly executor: Executor,
    private readonly executed: Executed,
  ) {}

  get ended(): Promise<EndedRun> {
    return this.executed.ended;
  }

  get reported(): Promise<EndedRun> {
    return this.executed.reported;
  }

  get runId(): string {
    return this.executed.live.runId;
  }

  get run(): Run {
    return this.executed.live.run;
  }

  stored(): Promise<void> {
    return this.executor.stored(this.executed.live);
  }

  events(fromIndex = 0, filter?: (event: LoggedEvent) => boolean): EventReader {
    // a short run may have ended before its caller reads: what it sent is still here
    const { runId, log } = this.executed.live;
    return this.executor.events(runId, fromIndex, filter, log);
  }

  cancel(reason: string): void {
    this.executed.live.stop(new RunCancelled(reason));
  }
}
