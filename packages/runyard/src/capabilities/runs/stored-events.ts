import type { JsonObject } from '../../core/json.js';
import { decodeBlock, type LoggedEvent } from '../../core/runs/logged-event.js';
import { rebuiltEvents } from './rebuilt-events.js';
import type { RunStore, RunWithSteps } from './store.js';
import { isPiece } from './stream-events.js';

/**
 * All events up to what the record knows of, except the single pieces of the content: one consistent picture. When
 * those that were sent are no longer kept, they are made from the journal.
 */
export async function storedEvents(store: RunStore, journal: RunWithSteps): Promise<JsonObject[]> {
  const { runId, kind, nextEventIndex } = journal.run;
  const events: JsonObject[] = [];
  const take = (event: LoggedEvent): void => {
    if (event.index < nextEventIndex && !isPiece(kind, event.name))
      events.push(JSON.parse(event.data) as JsonObject);
  };
  let from = 0;
  while (from < nextEventIndex) {
    const blocks = await store.eventBlocks(runId, from, 100);
    if (blocks.length === 0) break;
    for (const block of blocks) {
      for (const event of decodeBlock(block.firstIndex, block.payload)) take(event);
      from = block.firstIndex + block.count;
    }
  }
  if (from === 0) for (const event of rebuiltEvents(journal)) take(event);
  return events;
}
