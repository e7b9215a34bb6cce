import type { TextSource } from '../journal/long-texts.js';
import type { RunJournal } from '../journal/ports.js';
import { decodeBlock, type LoggedEvent } from './logged-event.js';

const partsAtOnce = 2;

/** The next stored events of a run from this index on, at most a block; empty when none is stored. */
export async function storedEvents(
  journal: RunJournal,
  runId: string,
  cursor: number,
): Promise<readonly LoggedEvent[]> {
  const [block] = await journal.eventBlocks(runId, cursor, 1);
  if (block === undefined) return [];
  const events = decodeBlock(block.firstIndex, block.payload, storedTexts(journal, runId));
  return events.filter(({ index }) => index >= cursor);
}

/** The long texts of a stored run, a few parts at a time. */
export function storedTexts(journal: RunJournal, runId: string): TextSource {
  return {
    async *parts(id) {
      for (let from = 0; ; from += partsAtOnce) {
        const parts = await journal.textParts(runId, id, from, partsAtOnce);
        yield* parts;
        if (parts.length < partsAtOnce) return;
      }
    },
  };
}
