import { pause } from './waiting.js';

/** How often a method may be called in a minute, by Slack's tiers. Those of methods that are called rarely are left out. */
const perMinute: Readonly<Record<string, number>> = {
  'users.info': 100,
  'conversations.info': 50,
  'conversations.replies': 50,
  'assistant.threads.setStatus': 600,
  'assistant.threads.setTitle': 100,
  'assistant.threads.setSuggestedPrompts': 100,
  // a message per second
  'chat.postMessage': 60,
  'chat.postEphemeral': 100,
  'chat.update': 50,
  'chat.delete': 50,
  'chat.startStream': 20,
  'chat.appendStream': 100,
  'chat.stopStream': 20,
  'files.getUploadURLExternal': 100,
  'files.completeUploadExternal': 100,
};

/** Methods whose calls are counted for each channel. */
const byChannel = new Set(['chat.postMessage']);
/** The share of a minute's calls that may come at once. The rest of them is spread over the minute. */
const burst = 0.25;
/** Calls that wait for their turn, of one method. */
export const mostWaiting = 500;

export interface Clock {
  now(): number;
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

const systemClock: Clock = { now: () => performance.now(), sleep: pause };

interface Lane {
  /** How many calls may come at once. */
  readonly size: number;
  readonly perMs: number;
  free: number;
  at: number;
  /** Slack said when the next call may come. */
  blockedUntil: number;
  last: Promise<unknown>;
  waiting: number;
}

/** Spaces the calls for one workspace, so that they stay inside the tiers of its methods. */
export class Pace {
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly clock: Clock = systemClock) {}

  /** Waits until a call may be made, after those that came before it. False: too many wait already. */
  async turn(method: string, channel: unknown, signal: AbortSignal | undefined): Promise<boolean> {
    const lane = this.lane(method, channel);
    if (lane.waiting >= mostWaiting) return false;
    lane.waiting++;
    const turn = lane.last.then(() => this.pass(lane, signal));
    // who gave up does not hold up those behind
    lane.last = turn.catch(() => {});
    try {
      await turn;
      return true;
    } finally {
      lane.waiting--;
    }
  }

  /** Nothing is called in this lane for so long. */
  block(method: string, channel: unknown, ms: number): void {
    const lane = this.lane(method, channel);
    lane.blockedUntil = Math.max(lane.blockedUntil, this.clock.now() + ms);
  }

  private async pass(lane: Lane, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const now = this.clock.now();
      lane.free = Math.min(lane.size, lane.free + (now - lane.at) * lane.perMs);
      lane.at = now;
      const waitMs = Math.max(lane.blockedUntil - now, lane.free >= 1 ? 0 : (1 - lane.free) / lane.perMs);
      if (waitMs <= 0) {
        lane.free -= 1;
        return;
      }
      await this.clock.sleep(Math.ceil(waitMs), signal);
    }
  }

  private lane(method: string, channel: unknown): Lane {
    const key = byChannel.has(method) ? `${method} ${String(channel)}` : method;
    const known = this.lanes.get(key);
    if (known !== undefined) return known;
    this.forgetIdle();
    const most = perMinute[method] ?? Number.POSITIVE_INFINITY;
    const size = Number.isFinite(most) ? Math.max(1, Math.floor(most * burst)) : most;
    const lane: Lane = {
      size,
      perMs: Number.isFinite(most) ? (most - size) / 60_000 : 1,
      free: size,
      at: this.clock.now(),
      blockedUntil: 0,
      last: Promise.resolve(),
      waiting: 0,
    };
    this.lanes.set(key, lane);
    return lane;
  }

  /** A workspace has any number of channels. */
  private forgetIdle(): void {
    if (this.lanes.size < 1_000) return;
    const now = this.clock.now();
    for (const [key, { waiting, at, blockedUntil }] of this.lanes)
      if (waiting === 0 && now > at + 60_000 && now > blockedUntil) this.lanes.delete(key);
  }
}
