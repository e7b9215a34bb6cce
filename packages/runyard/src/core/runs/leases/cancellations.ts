import { isReported } from '../../errors/errors.js';
import type { Log } from '../../log.js';
import type { Timers } from '../../timers.js';
import type { RunExecutor } from '../execution/executor.js';
import type { CancelRequest, RunJournal } from '../journal/ports.js';
import type { Run } from '../run.js';

/** How long a wish to cancel a run that nobody has seen is remembered. */
export const cancellationKeptMs = 600_000;

/** How often a process looks for wishes that reached another one. */
const lookMs = 250;
/** A wish is stored a little later than it is dated. */
const slackMs = 10_000;

/** Whether whoever asked could see the run: nobody ends what is hidden from them. */
export function appliesTo(request: CancelRequest, run: Run): boolean {
  return (
    request.runId === run.runId &&
    request.kind === run.kind &&
    request.componentId === run.componentId &&
    (request.sessionId === null || request.sessionId === run.sessionId) &&
    (request.userId === null || request.userId === run.userId)
  );
}

interface WatchOptions {
  readonly journal: RunJournal;
  readonly timers: Timers;
  readonly log: Log;
}

/** Ends the runs of this process that somebody asked another process to cancel. */
export class CancellationWatch {
  private looking = false;
  private seenUntil: number | undefined;

  constructor(
    private readonly executor: RunExecutor,
    private readonly options: WatchOptions,
  ) {}

  /** Begins to look, and answers with what ends it. */
  begin(): () => void {
    return this.options.timers.every(lookMs, () => void this.look());
  }

  private async look(): Promise<void> {
    const { journal, log } = this.options;
    if (this.executor.size === 0) this.seenUntil = undefined;
    if (this.looking || this.executor.size === 0) return;
    this.looking = true;
    try {
      // wishes are dated by the same clock, whichever process they reached
      const now = await journal.now();
      for (const request of await journal.cancellations((this.seenUntil ?? now) - slackMs)) {
        const handle = this.executor.handle(request.runId);
        if (handle !== undefined && appliesTo(request, handle.run)) handle.cancel(request.reason);
      }
      this.seenUntil = now;
    } catch (error) {
      if (!isReported(error)) log.warn({ err: error }, 'looking for runs to cancel failed');
    } finally {
      this.looking = false;
    }
  }
}
