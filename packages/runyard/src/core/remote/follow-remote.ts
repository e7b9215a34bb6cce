import { pause } from '../async/abort.js';
import { backOffMs } from '../async/back-off.js';
import type { RunStatus } from '../runs/run.js';
import type { Timers } from '../timers.js';
import { objectsIn, textIn } from './remote-body.js';
import { callIn, needsApprovalThere, questionIn } from './remote-requirements.js';
import {
  type RemoteAnswers,
  type RemoteEvent,
  RemoteFault,
  type RemoteRef,
  type RemoteRun,
  type RemoteService,
  type RemoteStart,
} from './remote-service.js';

/** A part of a remote run: from its start, or from answers, to its next pause or its end. */
export interface RemoteLeg {
  readonly ref: RemoteRef;
  /** What begins it. It may have happened: a process that died can have sent it. */
  readonly begin: { readonly start: RemoteStart } | { readonly answers: RemoteAnswers };
  /** Whether an execution before this one may have begun it. */
  readonly begun: boolean;
  /** The index of the last event of the leg before; -1 without one. */
  readonly afterIndex: number;
  /** Whether the paused run waits for just what this leg answers. */
  isOpen(run: RemoteRun): boolean;
}

export interface FollowSite {
  readonly service: RemoteService;
  readonly timers: Timers;
  readonly signal: AbortSignal;
  readonly reconnectMs: number;
  heard(event: RemoteEvent): Promise<void> | undefined;
}

export interface FollowedRun {
  readonly run: RemoteRun;
  readonly lastIndex: number;
}

const backoff = { delayMs: 250, maximumMs: 5_000 };

/**
 * Begins a leg, unless it has begun, and follows it to its rest. After each loss of the connection it looks where the
 * remote run is: what was sent is not sent again when it has arrived.
 */
export async function followRemote(site: FollowSite, leg: RemoteLeg): Promise<FollowedRun> {
  const follower = new Follower(site, leg);
  let failures = 0;
  let lostAt: number | undefined;
  for (;;) {
    const heardBefore = follower.heard;
    try {
      const run = await follower.attempt();
      if (run !== undefined) return { run, lastIndex: follower.lastIndex };
    } catch (error) {
      site.signal.throwIfAborted();
      if (!(error instanceof RemoteFault) || error.kind !== 'unreachable') throw error;
      if (follower.heard > heardBefore) lostAt = undefined;
      lostAt ??= site.timers.elapsed();
      if (site.timers.elapsed() - lostAt >= site.reconnectMs) throw error;
    }
    failures = follower.heard > heardBefore ? 0 : failures + 1;
    await pause(backOffMs(backoff, failures), site.signal, site.timers);
  }
}

class Follower {
  lastIndex: number;
  /** How many events came. */
  heard = 0;
  /** Whether what begins the leg may have arrived. */
  private sent: boolean;
  /** Whether the service has taken the answers. */
  private answered = false;
  /** What the service said of a request that led to no run. */
  private complaint: string | undefined;

  constructor(
    private readonly site: FollowSite,
    private readonly leg: RemoteLeg,
  ) {
    this.sent = leg.begun;
    this.lastIndex = leg.afterIndex;
  }

  /** The run, once it rests; undefined when it has to be looked at again. */
  async attempt(): Promise<RemoteRun | undefined> {
    const { service, signal } = this.site;
    const { ref, begin } = this.leg;
    const run = this.sent || 'answers' in begin ? await service.read(ref, signal) : undefined;
    if (run !== undefined && this.isRest(run)) {
      await this.catchUp();
      return run;
    }
    if ('start' in begin) {
      if (run !== undefined) await this.listen(service.resume(ref, this.lastIndex, signal));
      else if (!this.sent || !(await this.reattached())) await this.start(begin.start);
    } else {
      if (run === undefined) throw new RemoteFault('absent', 'the paused run is gone');
      if (this.leg.isOpen(run)) return this.answer(run, begin.answers);
      await this.listen(service.resume(ref, this.lastIndex, signal));
    }
    const ended = await service.read(ref, signal);
    if (ended === undefined && this.complaint !== undefined) throw new RemoteFault('refused', this.complaint);
    return ended !== undefined && this.isRest(ended) ? ended : undefined;
  }

  /** What a run said while nobody listened. It rests and is known: a service may refuse to say it again. */
  private async catchUp(): Promise<void> {
    try {
      await this.reattached();
    } catch (error) {
      if (!(error instanceof RemoteFault) || error.kind === 'unreachable') throw error;
    }
  }

  /** Listens to a run that may be there; false when the service does not know it. */
  private async reattached(): Promise<boolean> {
    const { service, signal } = this.site;
    try {
      await this.listen(service.resume(this.leg.ref, this.lastIndex, signal));
      return true;
    } catch (error) {
      if (error instanceof RemoteFault && error.kind === 'absent') return false;
      throw error;
    }
  }

  private async start(start: RemoteStart): Promise<void> {
    this.sent = true;
    try {
      await this.listen(this.site.service.start(start, this.site.signal));
    } catch (error) {
      // the request of an attempt before this one has arrived
      if (!(error instanceof RemoteFault) || error.kind !== 'conflict') throw error;
    }
  }

  private async answer(paused: RemoteRun, answers: RemoteAnswers): Promise<RemoteRun | undefined> {
    const { service, signal } = this.site;
    const { ref } = this.leg;
    // it took the answers and waits for the same: another person has to decide there
    if (this.answered) return this.stillWaits(paused);
    let refusal: RemoteFault | undefined;
    try {
      await this.listen(service.continue(ref, answers, signal));
      this.answered = true;
    } catch (error) {
      if (!(error instanceof RemoteFault) || error.kind === 'unreachable') throw error;
      refusal = error;
    }
    const run = await service.read(ref, signal);
    if (run === undefined) throw refusal ?? new RemoteFault('absent', 'the run is gone');
    if (!this.leg.isOpen(run)) return this.isRest(run) ? run : undefined;
    this.complaint ??= refusal?.message;
    return this.stillWaits(run);
  }

  private stillWaits(run: RemoteRun): RemoteRun {
    if (waitsForApproval(run)) return run;
    throw new RemoteFault('refused', this.complaint ?? 'it did not take the answers');
  }

  private isRest(run: RemoteRun): boolean {
    return resting.has(run.status) && !(run.status === 'paused' && this.leg.isOpen(run));
  }

  private async listen(events: AsyncIterable<RemoteEvent>): Promise<void> {
    for await (const event of events) {
      this.heard += 1;
      if (event.index !== undefined) {
        // a service that numbers again from 0 sends what was heard before
        if (event.index <= this.lastIndex) continue;
        this.lastIndex = event.index;
      }
      if (!event.fields.run_id) this.complaint = textIn(event.fields.content) ?? textIn(event.fields.error);
      await this.site.heard(event);
    }
  }
}

const resting: ReadonlySet<RunStatus> = new Set(['completed', 'paused', 'error', 'cancelled', 'regenerated']);

/** Whether the run waits for a call that the approvals of the remote service alone decide on, which is asked here, too. */
function waitsForApproval({ body }: RemoteRun): boolean {
  const inSteps = objectsIn(body.step_requirements)
    .filter((step) => step.requires_executor_input === true)
    .flatMap((step) => objectsIn(step.executor_requirements));
  return [...objectsIn(body.requirements), ...inSteps].some((requirement) => {
    const call = callIn(requirement);
    const isAsked = textIn(call.tool_call_id) !== undefined && questionIn(requirement, 0) !== undefined;
    return isAsked && needsApprovalThere(call);
  });
}
