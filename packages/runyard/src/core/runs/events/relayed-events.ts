import { isJsonObject, parseJson } from '../../json.js';
import type { TextSource } from '../journal/long-texts.js';
import type { EventRelay } from './event-relay.js';
import { decodeBlock, type LoggedEvent } from './logged-event.js';

/** So many blocks are read at once. */
const blocksAtOnce = 8;

interface Relayed {
  /** They follow each other from the index on. */
  readonly events: readonly LoggedEvent[];
  /** Whether nothing is missing between the index and what is relayed. */
  readonly isGapless: boolean;
  /** Whether there may be more after the events. */
  readonly hasMore: boolean;
}

/**
 * What is relayed from this index on: a bounded part, as a reader that is slow keeps it in memory for itself. Where there
 * is a gap, or where what is relayed is not what Runyard wrote, the events end: the store knows.
 */
export async function relayedEvents(relay: EventRelay, runId: string, index: number): Promise<Relayed> {
  const events: LoggedEvent[] = [];
  try {
    const blocks = await relay.blocks(runId, index, blocksAtOnce);
    for (const { firstIndex, count, payload } of blocks) {
      const next = index + events.length;
      if (firstIndex > next) return { events, ...untilGap };
      const block = decodeBlock(firstIndex, payload, nowhere);
      if (block.length !== count || !block.every(isWhole)) return { events, ...untilGap };
      events.push(...block.filter((event) => event.index >= next));
    }
    return { events, isGapless: true, hasMore: blocks.length === blocksAtOnce };
  } catch {
    // what came before the fault is right
    return { events, ...untilGap };
  }
}

const untilGap = { isGapless: false, hasMore: false };

/** Events with long texts are not relayed. */
const nowhere: TextSource = {
  async *parts() {},
};

/** Every client of the Redis can write there: a reader that parses an event must not be the first who does. */
function isWhole({ index, data, texts }: LoggedEvent): boolean {
  return texts === null && isJsonObject(parseJson(data)) && data.endsWith(`,"event_index":${index}}`);
}
