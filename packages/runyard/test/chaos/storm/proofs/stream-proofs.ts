import type { Body } from '../../../support/service.js';
import type { Effect } from '../effects.js';
import type { Ledger } from '../ledger.js';
import { blocksOf, eventIn, type ReceivedEvent, type StreamReader } from '../reader.js';
import { executionIn } from '../run-bodies.js';
import type { Wire } from '../wire.js';

/** An event with its data. */
interface StoredEvent extends ReceivedEvent {
  readonly body: Body;
}

/** What every reader received, over all its connections, is what is stored: in order, each once, nothing missing. */
export async function proveStreams(wire: Wire, ledger: Ledger): Promise<void> {
  const effects = ledger.effects.all();
  const proven = new Map<string, StoredEvent[]>();
  for (const reader of ledger.readers) {
    const { runId } = reader;
    const known = proven.get(runId);
    const stored = known ?? (await storedEvents(wire, ledger.pathOf(runId)));
    if (known === undefined) {
      proven.set(runId, stored);
      proveOrder(stored, runId, ledger);
      proveEndsInside(stored, runId, ledger);
    }
    proveReader(reader, stored, ledger);
    proveDone(reader, stored, effects, ledger);
    proveText(reader, ledger);
  }
}

/** The whole list, by a client that comes late and has nothing. */
async function storedEvents(wire: Wire, path: string): Promise<StoredEvent[]> {
  const response = await wire.send(`${path}/events`);
  const events: StoredEvent[] = [];
  for await (const block of blocksOf(response!)) {
    const event = eventIn(block);
    if (event !== undefined && event.index !== null)
      events.push({ ...event, index: event.index, body: JSON.parse(event.data) });
  }
  return events;
}

/** Whether the event says that a run came to rest. */
function isRest({ event }: Body): boolean {
  return /^(Team)?Run(Completed|Cancelled|Paused|Error)$|^Workflow(Completed|Cancelled|Paused|Error)$/.test(
    event,
  );
}

function proveOrder(stored: readonly StoredEvent[], runId: string, ledger: Ledger): void {
  const disorder = stored.findIndex(({ index }, at) => at > 0 && index <= stored[at - 1]!.index);
  if (disorder !== -1)
    ledger.violation(`run ${runId}: stored event ${stored[disorder]!.index} is out of order`);
  for (const { index, body, data } of stored) {
    if (body.event_index !== index)
      ledger.violation(`run ${runId}: stored event ${index} says another index: ${data}`);
  }
  const last = stored.at(-1);
  if (last === undefined || !isRest(last.body) || last.body.run_id !== runId)
    ledger.violation(`run ${runId}: its last stored event is ${last?.data}`);
}

/** A member or an executor that has ended is not heard of again, and no step is completed twice. */
function proveEndsInside(stored: readonly StoredEvent[], runId: string, ledger: Ledger): void {
  const ended = new Set<string>();
  const completed = new Set<string>();
  for (const { index, name, body } of stored) {
    if (ended.has(body.run_id))
      ledger.violation(`run ${runId}: ${name} ${index} is of run ${body.run_id}, which had ended`);
    if (body.run_id !== runId && /(RunCompleted|RunError|WorkflowCompleted|WorkflowError)$/.test(name))
      ended.add(body.run_id);
    const execution = name === 'StepCompleted' ? executionIn(body.content) : undefined;
    if (execution === undefined) continue;
    const step = `${body.step_id} ${execution}`;
    if (completed.has(step)) ledger.violation(`run ${runId}: step ${body.step_name} was completed twice`);
    completed.add(step);
  }
}

function proveReader(reader: StreamReader, stored: readonly StoredEvent[], ledger: Ledger): void {
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

/** A client can rely on the reported end of a member or a step: nothing of it is executed after that. */
function proveDone(
  { runId, received }: StreamReader,
  stored: readonly StoredEvent[],
  effects: readonly Effect[],
  ledger: Ledger,
): void {
  const kept = new Map(stored.map((event) => [event.index, event.body]));
  for (const { index, name, position } of received) {
    const body = kept.get(index);
    if (body === undefined) continue;
    const execution = name === 'StepCompleted' ? executionIn(body.content) : undefined;
    const isEnd = name === 'RunCompleted' || name === 'TeamRunCompleted';
    if (execution === undefined && !isEnd) continue;
    const later = effects.find(
      (effect) =>
        effect.position >= position && (isEnd ? effect.run === body.run_id : effect.key === execution),
    );
    if (later !== undefined)
      ledger.violation(`run ${runId}: ${later.tool} was executed after ${name} ${index} was seen`);
  }
}

/**
 * A client that begins anew when a model does has the whole answer in the end, however often it was interrupted. What a
 * workflow answers is what its last step made.
 */
function proveText({ runId, received }: StreamReader, ledger: Ledger): void {
  if (ledger.ownerOf(runId).kind === 'workflow') return;
  const end = received.at(-1);
  if (!/RunCompleted$/.test(end?.name ?? '')) return;
  const events = received.map(({ data }) => JSON.parse(data) as Body);
  const own = events.filter(({ run_id }) => run_id === runId);
  if (own.at(-1) !== events.at(-1) || own.some(({ event }) => event.endsWith('RunCancelled'))) return;
  let text = '';
  for (const { event, run_id, content } of events) {
    if (event.endsWith('ModelRequestStarted')) text = '';
    if (run_id === runId && event.endsWith('RunContent')) text += content;
  }
  const { content } = own.at(-1)!;
  if (text !== content) ledger.violation(`run ${runId}: a reader has the text '${text}' of '${content}'`);
}

/**
 * An event that was seen and is not stored was on its way to the store when its process died. The next execution
 * leaves a gap for such events: none of them says that the run came to rest, and their indices are never used again.
 */
function proveLost(
  { index, name, data }: ReceivedEvent,
  stored: readonly StoredEvent[],
  { runId }: StreamReader,
  ledger: Ledger,
): void {
  ledger.count('events that were seen and lost');
  const body = JSON.parse(data) as Body;
  if (isRest(body) && body.run_id === runId)
    ledger.violation(`run ${runId}: ${name} ${index} was seen and is not stored`);
  if (!stored.some((event) => event.index > index))
    ledger.violation(`run ${runId}: ${name} ${index} was seen, is not stored, and nothing came after it`);
}
