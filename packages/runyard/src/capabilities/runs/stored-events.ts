import type { JsonObject } from '../../core/json.js';
import { storedTexts } from '../../core/runs/event-reader.js';
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
  const take = async (event: LoggedEvent): Promise<void> => {
    if (event.index >= nextEventIndex || isPiece(kind, event.name)) return;
    events.push(JSON.parse(event.texts === null ? event.data : await event.whole()) as JsonObject);
  };
  let from = 0;
  while (from < nextEventIndex) {
    const blocks = await store.eventBlocks(runId, from, 100);
    if (blocks.length === 0) break;
    for (const block of blocks) {
      const all = decodeBlock(block.firstIndex, block.payload, storedTexts(store, runId));
      for (const event of all) await take(event);
      from = block.firstIndex + block.count;
    }
  }
  if (from === 0) for (const event of rebuiltEvents(journal)) await take(event);
  return events;
}
