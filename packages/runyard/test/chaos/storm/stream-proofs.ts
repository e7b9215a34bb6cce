import type { Ledger } from './ledger.js';
import { blocksOf, eventIn, type ReceivedEvent, type StreamReader } from './reader.js';
import { runsPath, type Wire } from './wire.js';

/** Nobody is shown these before they are stored. */
const durableEvents = new Set(['RunCompleted', 'RunCancelled', 'RunPaused', 'RunError']);

/** What every reader received, over all its connections, is what is stored: in order, each once, nothing missing. */
export async function proveStreams(wire: Wire, ledger: Ledger): Promise<void> {
  for (const reader of ledger.readers) {
    const stored = await storedEvents(wire, reader.runId);
    proveOrder(stored, reader.runId, ledger);
    proveReader(reader, stored, ledger);
    proveText(reader, ledger);
  }
}

/** The whole list, by a client that comes late and has nothing. */
async function storedEvents(wire: Wire, runId: string): Promise<ReceivedEvent[]> {
  const response = await wire.send(`${runsPath}/${runId}/events`);
  const events: ReceivedEvent[] = [];
  for await (const block of blocksOf(response!)) {
    const event = eventIn(block);
    if (event !== undefined && event.index !== null) events.push({ ...event, index: event.index });
  }
  return events;
}

function proveOrder(stored: readonly ReceivedEvent[], runId: string, ledger: Ledger): void {
  const disorder = stored.findIndex(({ index }, at) => at > 0 && index <= stored[at - 1]!.index);
  if (disorder !== -1)
    ledger.violation(`run ${runId}: stored event ${stored[disorder]!.index} is out of order`);
  for (const { index, data } of stored) {
    if ((JSON.parse(data) as { event_index: number }).event_index !== index)
      ledger.violation(`run ${runId}: stored event ${index} says another index: ${data}`);
  }
  const last = stored.at(-1)?.name;
  if (!durableEvents.has(last ?? '')) ledger.violation(`run ${runId}: its last stored event is ${last}`);
}

function proveReader(reader: StreamReader, stored: readonly ReceivedEvent[], ledger: Ledger): void {
  const { runId, received, last } = reader;
  const seen = new Map(received.map((event) => [event.index, event]));
  for (const { index, name, data } of stored) {
    if (index > last) break;
    const event = seen.get(index);
    if (event === undefined) ledger.violation(`run ${runId}: a reader missed ${name} ${index}`);
    else if (event.data !== data)
      ledger.violation(`run ${runId}: event ${index} was sent as ${event.data} and is stored as ${data}`);
    seen.delete(index);
  }
  for (const event of seen.values()) proveLost(event, stored, reader, ledger);
}

/** Whoever begins anew when the model does has the whole answer in the end, however often it was interrupted. */
function proveText({ runId, received }: StreamReader, ledger: Ledger): void {
  const end = received.at(-1);
  if (end?.name !== 'RunCompleted' || received.some(({ name }) => name === 'RunCancelled')) return;
  let text = '';
  for (const { name, data } of received) {
    if (name === 'ModelRequestStarted') text = '';
    if (name === 'RunContent') text += (JSON.parse(data) as { content: string }).content;
  }
  const { content } = JSON.parse(end.data) as { content: string };
  if (text !== content) ledger.violation(`run ${runId}: a reader has the text '${text}' of '${content}'`);
}

/**
 * An event that was seen and is not stored was on its way to the store when its process died. The next execution
 * leaves a gap for such events: none of them says that the run came to rest, and their indices are never used again.
 */
function proveLost(
  { index, name }: ReceivedEvent,
  stored: readonly ReceivedEvent[],
  { runId }: StreamReader,
  ledger: Ledger,
): void {
  ledger.count('events that were seen and lost');
  if (durableEvents.has(name)) ledger.violation(`run ${runId}: ${name} ${index} was seen and is not stored`);
  if (!stored.some((event) => event.index > index))
    ledger.violation(`run ${runId}: ${name} ${index} was seen, is not stored, and nothing came after it`);
}
