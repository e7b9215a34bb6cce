import type { EventReader as RunEventReader } from '../../../core/runs/events/event-reader.js';
import { oneLineJson } from '../../../core/runs/events/logged-event.js';
import type { EventReader, StreamEvent } from '../../../platform/http/response/event-reader.js';
import type { AguiEvent } from './agui-event.js';
import type { RunEvents } from './run-events.js';

export interface RunStreamOptions {
  /** What the stream begins with. */
  readonly first: () => Promise<readonly AguiEvent[]>;
  readonly events: RunEventReader;
  readonly encoder: RunEvents;
  /** What the stream ends with; none if this process has given the run up: the stream ends, the run does not. */
  readonly last: () => Promise<readonly AguiEvent[]>;
}

/** The frames of a stream: its beginning, what happens in the run, and how the run rests. */
export class RunStream implements EventReader {
  private begun = false;
  private over = false;
  private closed = false;

  constructor(private readonly options: RunStreamOptions) {}

  async next(): Promise<readonly StreamEvent[] | null> {
    while (!this.over) {
      const events = await this.some();
      if (events.length > 0) return framesOf(events);
    }
    return null;
  }

  close(): void {
    this.closed = true;
    this.options.events.close();
  }

  private async some(): Promise<readonly AguiEvent[]> {
    const { first, events, encoder, last } = this.options;
    if (!this.begun) {
      this.begun = true;
      return first();
    }
    const logged = await events.next();
    if (logged === null) {
      this.over = true;
      return this.closed ? [] : last();
    }
    const encoded: AguiEvent[] = [];
    for (const event of logged) {
      const found = encoder.of(event);
      // to wait for each piece would take longer than all of them
      encoded.push(...(found instanceof Promise ? await found : found));
    }
    return encoded;
  }
}

/** Events that are known at once. */
export function shortStream(events: readonly AguiEvent[]): EventReader {
  let rest: readonly AguiEvent[] | null = events;
  return {
    next: async () => {
      const some = rest;
      rest = null;
      return some && framesOf(some);
    },
    close: () => {},
  };
}

function framesOf(events: readonly AguiEvent[]): StreamEvent[] {
  return events.map((event) => ({ index: null, name: '', data: oneLineJson(event) }));
}
