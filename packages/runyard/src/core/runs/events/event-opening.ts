import type { RunEvent } from '../../events/run-event.js';
import { holdsLongText, type TextIds } from '../journal/long-texts.js';
import { type EventOrigin, eventHead, nameOnWire } from './event-origin.js';
import { LoggedEvent, oneLineJson, serialiseEvent } from './logged-event.js';

/** The fields that all events of one origin have in common, as JSON that is made once: they are most of a short event. */
export class EventOpening {
  private readonly json: string;

  constructor(
    readonly origin: EventOrigin,
    private readonly sessionId: string,
  ) {
    const { runId, fields, depth, isJob } = origin;
    const own = oneLineJson(fields).slice(1, -1);
    const id = oneLineJson(runId);
    const parts = isJob
      ? ['"job_id":', id, own && ',', own]
      : [
          own,
          own && ',',
          '"run_id":',
          id,
          ',"session_id":',
          oneLineJson(sessionId),
          ',"nested_depth":',
          depth,
        ];
    this.json = oneText(parts);
  }

  /** The event that was sent at this time. */
  serialised(index: number, event: RunEvent, at: number, key: string | null, texts: TextIds): LoggedEvent {
    const own = this.ownFields(event);
    if (own === undefined)
      return serialiseEvent(index, event, eventHead(event, this.origin, this.sessionId, at), key, texts);
    const name = nameOnWire(event, this.origin);
    // its parts are escaped: nothing looks through the whole, which would be copied for it
    const start = oneText(['{"created_at":', Math.floor(at / 1000), ',"event":"', name, '",']);
    const end = sharedEnd(index, oneText([own, ',"event_index":', index, '}']));
    return new LoggedEvent(index, name, key, start + this.json + end);
  }

  /** Their JSON, each after a comma; undefined where it cannot be put after the opening as it is. */
  private ownFields(event: RunEvent): string | undefined {
    if (holdsLongText(event)) return undefined;
    for (const field in event)
      if (field !== 'event' && (field in this.origin.fields || field in placed)) return undefined;
    const body = oneLineJson(event);
    const beginning = `{"event":"${event.event}"`;
    return body.startsWith(beginning) ? body.slice(beginning.length, -1) : undefined;
  }
}

/** How the first events of the latest run ended: those of a stream whose model is silent mostly end like them. */
const firstEnds: string[] = [];
const mostShared = 4;
/** A longer one is not kept beyond its run: hardly another is like it. */
const longestShared = 1_000;

function sharedEnd(index: number, end: string): string {
  if (index >= mostShared || end.length > longestShared) return end;
  if (firstEnds[index] !== end) firstEnds[index] = end;
  return firstEnds[index];
}

/** Texts that are added to each other would all be kept as long as the whole. */
function oneText(parts: readonly (string | number)[]): string {
  return parts.join('');
}

/** What an event gets in a place of its own; no origin has fields of these names. */
const placed = {
  created_at: true,
  job_id: true,
  run_id: true,
  session_id: true,
  nested_depth: true,
  event_index: true,
};
