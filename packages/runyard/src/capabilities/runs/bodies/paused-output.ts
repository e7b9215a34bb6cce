import { oneLineJson } from '../../../core/runs/events/logged-event.js';
import type { EventReader, StreamEvent } from '../../../platform/http/response/event-reader.js';

/** Events, and after the last of them the body of the run if it paused: a frame of its own, without an index. */
export function pausedOutput(
  events: EventReader,
  bodyOfPaused: () => Promise<Record<string, unknown> | undefined>,
): EventReader {
  let isOver = false;
  let isClosed = false;
  return {
    async next() {
      if (isOver) return null;
      const some = await events.next();
      if (some !== null) return some;
      isOver = true;
      const body = isClosed ? undefined : await bodyOfPaused();
      return body === undefined ? null : [frameOf(body)];
    },
    close() {
      isClosed = true;
      events.close();
    },
  };
}

function frameOf(body: Record<string, unknown>): StreamEvent {
  return { index: null, name: 'WorkflowRunOutput', data: oneLineJson(body) };
}
