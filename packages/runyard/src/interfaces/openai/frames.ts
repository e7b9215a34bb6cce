import type { JsonObject } from '../../core/json.js';
import { oneLineJson } from '../../core/runs/events/logged-event.js';
import type { StreamEvent } from '../../platform/http/response/event-reader.js';
import { runIdHeader } from '../../platform/http/response/respond.js';
import { type EventStreamReply, eventStream } from '../../platform/http/response/results.js';

/** A cursor over the objects of a stream. It holds none of them. */
export interface ObjectReader {
  /** At least one object; null at the end. */
  next(): Promise<readonly JsonObject[] | null>;
  close(): void;
}

/** The last frame of a stream of chunks. */
const done: StreamEvent = { index: null, name: '', data: '[DONE]' };

/** Chunks: frames without a name, and `[DONE]` after the last. */
export function chunkStream(objects: ObjectReader, runId: string): EventStreamReply {
  let isOver = false;
  return eventStream(
    {
      async next() {
        if (isOver) return null;
        const some = await objects.next();
        if (some !== null) return some.map((object) => frameOf('', object));
        isOver = true;
        return [done];
      },
      close: () => objects.close(),
    },
    runIdHeader(runId),
  );
}

/** Events: each frame has the name that is its `type`. */
export function namedStream(objects: ObjectReader, runId: string): EventStreamReply {
  return eventStream(
    {
      async next() {
        const some = await objects.next();
        return some === null ? null : some.map((object) => frameOf(String(object.type), object));
      },
      close: () => objects.close(),
    },
    runIdHeader(runId),
  );
}

function frameOf(name: string, object: JsonObject): StreamEvent {
  return { index: null, name, data: oneLineJson(object) };
}
