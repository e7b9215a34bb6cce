import { isReported } from '../../errors/errors.js';
import type { EngineOptions } from '../engine-options.js';
import type { RunExecutor } from '../execution/executor.js';
import type { CancelRequest } from '../journal/ports.js';
import type { Run } from '../run.js';
import { Look } from './look.js';

/** How long a request to cancel an unknown run is kept. */
export const cancellationKeptMs = 600_000;

/** How often a process looks for requests that reached another one. */
const lookMs = 250;
/** A request is stored a little later than it is dated. */
const slackMs = 10_000;

/** Whether the user of the request can see the run: users cannot cancel a run that is hidden from them. */
export function appliesTo(request: CancelRequest, run: Run): boolean {
  return (
    request.runId === run.runId &&
    request.kind === run.kind &&
    request.componentId === run.componentId &&
    (request.sessionId === null || request.sessionId === run.sessionId) &&
    (request.userId === null || request.userId === run.userId)
  );
}

/** Ends the runs of this process whose cancellation was requested in another process. */
export class CancellationWatch {
  private seenUntil: number | undefined;
  private readonly requests = new Look(() => this.look());

  constructor(
    private readonly executor: RunExecutor,
    private readonly options: EngineOptions,
  ) {}

  /** Begins to look; the returned function ends that. */
  begin(): () => void {
    return this.options.timers.every(lookMs, () => void this.requests.poll());
  }

  /** Looks now: a run of this process may be among those to be cancelled. */
  hint(): void {
    void this.requests.hint();
  }

  private async look(): Promise<void> {
    const { journal, leases, log } = this.options;
    if (this.executor.size === 0) {
      this.seenUntil = undefined;
      return;
    }
    try {
      // requests are dated by the same clock, whichever process they reached
      const now = await leases.now();
      for (const request of await journal.cancellations((this.seenUntil ?? now) - slackMs)) {
        const handle = this.executor.handle(request.runId);
        if (handle !== undefined && appliesTo(request, handle.run)) handle.cancel(request.reason);
      }
      this.seenUntil = now;
    } catch (error) {
      if (!isReported(error)) log.warn({ err: error }, 'looking for runs to cancel failed');
    }
  }
}
