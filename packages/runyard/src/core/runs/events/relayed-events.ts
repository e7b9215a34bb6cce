import type { TextSource } from '../journal/long-texts.js';
import type { EventRelay } from './event-relay.js';
import { decodeBlock, type LoggedEvent } from './logged-event.js';

/**
 * The events that follow each other from this index on, as far as they are relayed. Empty where there is a gap, or where
 * what is relayed is not what Runyard wrote: the store knows.
 */
export async function relayedEvents(
  relay: EventRelay,
  runId: string,
  index: number,
): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  try {
    for (const { firstIndex, count, payload } of await relay.blocks(runId, index)) {
      const next = index + events.length;
      if (firstIndex > next) break;
      const block = decodeBlock(firstIndex, payload, nowhere);
      if (block.length !== count || !block.every(isWhole)) break;
      events.push(...block.filter((event) => event.index >= next));
    }
  } catch {
    // what came before the fault is right
  }
  return events;
}

/** Events with long texts are not relayed. */
const nowhere: TextSource = {
  async *parts() {},
};

function isWhole({ index, data, texts }: LoggedEvent): boolean {
  return texts === null && data.startsWith('{') && data.endsWith(`,"event_index":${index}}`);
}
