import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { EventName, WorkflowEvent } from '../../../core/events/run-event.js';
import { decodeBlock, type LoggedEvent } from '../../../core/runs/events/logged-event.js';
import { storedTexts } from '../../../core/runs/events/stored-events.js';
import type { RunWithSteps } from '../storage/loaded-run-store.js';
import type { RunStore } from '../storage/store.js';
import { rebuiltEvents } from './rebuilt-events.js';
import { isPiece } from './stream-events.js';

const blocksAtOnce = 20;

/**
 * The events of a run that are stored, some at a time, without the single pieces of its content unless they are wanted.
 * When those that were sent are no longer kept, they are made from the journal.
 */
export async function* loggedEvents(
  store: RunStore,
  journal: RunWithSteps,
  withPieces = false,
): AsyncGenerator<readonly LoggedEvent[]> {
  const { runId, kind } = journal.run;
  const texts = storedTexts(store, runId);
  const isSkipped = (name: EventName) => !withPieces && isPiece(kind, name);
  let from = 0;
  for (;;) {
    const blocks = await store.eventBlocks(runId, from, blocksAtOnce);
    for (const block of blocks) {
      const events = decodeBlock(block.firstIndex, block.payload, texts, isSkipped);
      yield events.filter(({ name }) => !isSkipped(name));
      from = block.firstIndex + block.count;
    }
    if (blocks.length < blocksAtOnce) break;
    // SQLite reads on this thread: others have their turn between two reads
    await endOfTurn();
  }
  if (from === 0) yield rebuiltEvents(journal).filter(({ name }) => !isSkipped(name));
}

/** The events up to what the record knows of, except the single pieces of the content: one consistent picture. */
export async function storedEvents(store: RunStore, journal: RunWithSteps): Promise<WorkflowEvent[]> {
  const { nextEventIndex } = journal.run;
  const events: WorkflowEvent[] = [];
  for await (const some of loggedEvents(store, journal)) {
    for (const event of some) {
      if (event.index < nextEventIndex) events.push(await event.decoded());
    }
  }
  return events;
}
