import type { EventReader } from '../../../core/runs/events/event-reader.js';
import type { LoggedEvent } from '../../../core/runs/events/logged-event.js';
import { type Run, type RunStatus, terminalStatuses } from '../../../core/runs/run.js';
import type { Caller } from '../../../platform/auth/caller.js';
import { statusIn, type WireFormat } from '../../../platform/http/response/wire-format.js';
import type { RunSpace } from '../../capability.js';
import type { RunLookup, RunPlace } from '../run-lookup.js';
import { rebuiltEvents } from './rebuilt-events.js';

/** A frame about the stream itself, between the events of the run: it has no place in their order. */
export interface ControlFrame {
  readonly index: null;
  readonly name: 'catch_up' | 'subscribed' | 'replay' | 'error';
  /** One line of JSON. */
  readonly data: string;
}

export type FollowFrame = LoggedEvent | ControlFrame;

/** Events of a run from some point on. */
export interface Followed {
  readonly run: Run;
  readonly status: RunStatus;
  /** How many events there are after the last one that the reader has. */
  readonly missedEvents: number;
  /** Nothing will come that is not there yet: the run has ended, or waits for an answer. */
  readonly resting: boolean;
  /** The events alone. */
  events(): EventReader;
  /** The events, and frames that announce what follows. */
  frames(format?: WireFormat): FrameReader;
}

/** No run has so many events, and not every database can hold a larger number. */
const beyondAllEvents = 2 ** 31 - 1;

export interface FrameReader {
  next(): Promise<readonly FollowFrame[] | null>;
  close(): void;
}

/** Finds a run for a client that has its events up to `after`; undefined if the run does not exist for the caller. */
export async function followRun(
  lookup: RunLookup,
  caller: Caller,
  place: RunPlace,
  after: number,
): Promise<Followed | undefined> {
  const found = await lookup.find(caller, place);
  if (found === undefined) return undefined;
  const { space, run } = found;
  const { runId } = run;
  const { status, nextIndex } = await present(space, run);
  const from = Math.min(Math.max(after + 1, 0), beyondAllEvents);
  const { missed, total } = await countsOf(space, runId, status, from, nextIndex);
  const resting = isResting(status);
  const counts: Counts = { runId, status, missed, total, after: Math.max(after, -1) };
  const events = () => space.engine.events(runId, from);
  const frames = (format: WireFormat = 'runyard') =>
    new FramedReader(events(), resting ? replayOf(counts, format) : liveFrames(counts), missed);
  return { run, status, missedEvents: missed, resting, events, frames };
}

/** How many events there are from an index on, and in all: those that a reader will get. */
async function countsOf(
  { runs }: RunSpace,
  runId: string,
  status: RunStatus,
  from: number,
  nextIndex: number,
): Promise<Pick<Counts, 'missed' | 'total'>> {
  const [missed, total] = await Promise.all([
    runs.countEvents(runId, from, nextIndex),
    runs.countEvents(runId, 0, nextIndex),
  ]);
  const areGone = total === 0 && nextIndex > 0 && terminalStatuses.has(status);
  const stored = areGone ? await runs.load(runId) : undefined;
  if (stored === undefined) return { missed, total };
  const rebuilt = rebuiltEvents(stored);
  return { missed: rebuilt.filter(({ index }) => index >= from).length, total: rebuilt.length };
}

/** The answer to a reader about a run that does not exist for them. */
export function unknownRunFrames(runId: string): FrameReader {
  const text = `Run ${runId} not found in buffer or database`;
  let frames: FollowFrame[] | null = [controlFrame('error', { error: text })];
  return {
    next: async () => {
      const rest = frames;
      frames = null;
      return rest;
    },
    close: () => {},
  };
}

/** The status and the next index, so that every event below it is stored and can be counted. */
async function present(space: RunSpace, run: Run): Promise<{ status: RunStatus; nextIndex: number }> {
  const live = space.engine.handle(run.runId);
  const status = live?.run.status;
  // a run that another process has taken over in between is read from the store
  const nextIndex = await space.engine.storedUntil(run.runId).catch(() => undefined);
  if (status !== undefined && nextIndex !== undefined && !isResting(status)) return { status, nextIndex };
  const stored = await space.runs.progress(run.runId);
  return { status: stored?.status ?? run.status, nextIndex: stored?.nextEventIndex ?? run.nextEventIndex };
}

/** No event follows unless the run is continued. */
function isResting(status: RunStatus): boolean {
  return terminalStatuses.has(status) || status === 'paused';
}

interface Counts {
  readonly runId: string;
  readonly status: RunStatus;
  readonly missed: number;
  readonly total: number;
  readonly after: number;
}

interface Frames {
  /** Sent before the first event. */
  readonly first: readonly ControlFrame[];
  /** Sent when all events are through that had been missed. */
  readonly after: readonly ControlFrame[];
}

/** `running` is lower case in the older interface too. */
function liveFrames({ runId, status, missed, total }: Counts): Frames {
  const facts = { run_id: runId, status };
  const catchUp = controlFrame('catch_up', {
    ...facts,
    missed_events: missed,
    current_event_count: total,
    message: `Catching up on ${missed} missed events.`,
  });
  const subscribed = controlFrame('subscribed', {
    ...facts,
    current_event_count: total,
    message: 'Subscribed to the run. New events follow as they happen.',
  });
  return { first: missed > 0 ? [catchUp] : [], after: [subscribed] };
}

function replayOf({ runId, status, missed, total, after }: Counts, format: WireFormat): Frames {
  const replay = controlFrame('replay', {
    run_id: runId,
    status: statusIn(format, status),
    total_events: missed,
    total_buffered: total,
    last_event_index_requested: after,
    message: `Run is ${status}. Replaying ${missed} of ${total} events.`,
  });
  return { first: [replay], after: [] };
}

function controlFrame(name: ControlFrame['name'], fields: Record<string, unknown>): ControlFrame {
  return { index: null, name, data: JSON.stringify({ event: name, ...fields }) };
}

/** Puts the frames around the events that had been missed. It holds none of them. */
class FramedReader implements FrameReader {
  private waiting: readonly FollowFrame[];
  private missed: number;
  private announced = false;

  constructor(
    private readonly reader: EventReader,
    private readonly frames: Frames,
    missed: number,
  ) {
    this.waiting = frames.first;
    this.missed = missed;
  }

  async next(): Promise<readonly FollowFrame[] | null> {
    if (!this.announced && this.missed === 0) {
      this.announced = true;
      this.waiting = [...this.waiting, ...this.frames.after];
    }
    if (this.waiting.length > 0) {
      const frames = this.waiting;
      this.waiting = [];
      return frames;
    }
    const events = await this.reader.next();
    if (events === null || this.announced) return events;
    const caughtUp = events.slice(0, this.missed);
    this.missed -= caughtUp.length;
    if (this.missed > 0) return caughtUp;
    this.announced = true;
    return [...caughtUp, ...this.frames.after, ...events.slice(caughtUp.length)];
  }

  close(): void {
    this.reader.close();
  }
}
