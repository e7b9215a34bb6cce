import type { JsonObject } from '../../core/json.js';
import { storedTexts } from '../../core/runs/event-reader.js';
import { decodeBlock, type LoggedEvent } from '../../core/runs/logged-event.js';
import { rebuiltEvents } from './rebuilt-events.js';
import type { RunStore, RunWithSteps } from './store.js';
import { isPiece } from './stream-events.js';

const blocksAtOnce = 100;

/** All events of a run that are stored. When those that were sent are no longer kept, they are made from the journal. */
export async function* loggedEvents(store: RunStore, journal: RunWithSteps): AsyncGenerator<LoggedEvent> {
  const { runId } = journal.run;
  let from = 0;
  for (;;) {
    const blocks = await store.eventBlocks(runId, from, blocksAtOnce);
    for (const block of blocks) {
      yield* decodeBlock(block.firstIndex, block.payload, storedTexts(store, runId));
      from = block.firstIndex + block.count;
    }
    if (blocks.length < blocksAtOnce) break;
  }
  if (from === 0) yield* rebuiltEvents(journal);
}

/** The events up to what the record knows of, except the single pieces of the content: one consistent picture. */
export async function storedEvents(store: RunStore, journal: RunWithSteps): Promise<JsonObject[]> {
  const { kind, nextEventIndex } = journal.run;
  const events: JsonObject[] = [];
  for await (const event of loggedEvents(store, journal)) {
    if (event.index >= nextEventIndex) break;
    if (!isPiece(kind, event.name)) events.push(JSON.parse(await event.whole()) as JsonObject);
  }
  return events;
}
