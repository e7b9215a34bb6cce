import { itemOf } from '../agents/hooks/input-schema.js';
import { errors, RunyardError } from '../errors/errors.js';
import { newId } from '../ids.js';
import type { Json } from '../json.js';
import { checkOptions, checkValue } from '../options/check-options.js';
import { kind, objectOf } from '../options/kinds.js';
import type { RunEngine } from '../runs/engine.js';
import { read } from '../runs/journal/codec.js';
import type { RunJournal } from '../runs/journal/ports.js';
import { eventWaitName, mostEvents, type ReceivedEvents } from '../runs/journal/received-events.js';
import { type StepRecord, terminalStatuses } from '../runs/run.js';
import { fitToSchema } from '../schemas/value-schema.js';
import { storable } from '../storable-json.js';
import { eventQuestion } from './journal-records.js';

export interface SendEventOptions {
  /** Recognizes the event when it is sent again. Left out: each call sends a new one. */
  readonly eventId?: string;
}

/** What became of an event. */
export interface EventReceipt {
  readonly eventId: string;
  /** `delivered`: the run continues with it; `kept`: the run has it when it waits for it. */
  readonly status: 'delivered' | 'kept';
}

/** Where the run is. */
export interface EventSite {
  readonly engine: RunEngine;
  readonly journal: RunJournal;
  readonly receivedEvents: ReceivedEvents;
  /** Who sends it, as `Run.askers`. */
  readonly askers?: readonly string[];
}

const longestName = 200;
const mostCharacters = 256 * 1024;

const shortText = kind(
  `a text of 1 to ${longestName} characters`,
  (value) => typeof value === 'string' && value !== '' && value.length <= longestName,
);
const sendOptions = objectOf<SendEventOptions>({ eventId: shortText });

/** Sends an event to a run of this workflow, from code. */
export async function sendEventTo(
  { engine, journal }: Pick<EventSite, 'engine' | 'journal'>,
  workflowId: string,
  runId: string,
  sent: { readonly name: string; readonly data: Json; readonly options: SendEventOptions },
): Promise<EventReceipt> {
  const { run } = (await journal.load(runId)) ?? {};
  if (run !== undefined && (run.kind !== 'workflow' || run.componentId !== workflowId))
    throw errors.runNotFound();
  const { receivedEvents } = engine.ports;
  return sendEvent({ engine, journal, receivedEvents }, runId, sent.name, sent.data, sent.options);
}

/**
 * Sends an event to a run that has not ended. It is stored before the run sees it. Data that does not fit what the run
 * waits for is refused; before the run waits, all data is kept.
 */
export async function sendEvent(
  { engine, journal, receivedEvents, askers }: EventSite,
  runId: string,
  name: string,
  given: Json,
  options: SendEventOptions = {},
): Promise<EventReceipt> {
  checkValue('sendEvent()', 'the name', name, shortText);
  checkOptions('sendEvent()', options, sendOptions);
  const { eventId = newId() } = options;
  const data = storable(given, 'The data of the event');
  const { length } = JSON.stringify(data);
  if (length > mostCharacters) throw errors.eventTooLarge(length, mostCharacters);
  // one that has just begun may be not stored yet
  await engine.handle(runId)?.stored();
  const stored = await journal.load(runId);
  if (stored === undefined) throw errors.runNotFound();
  const { run, steps } = stored;
  if (terminalStatuses.has(run.status)) throw errors.eventToEndedRun(runId, run.status);
  const waits = steps.filter(
    (step) => step.kind === 'wait' && step.status === 'running' && step.name === eventWaitName(name),
  );
  await assertFits(waits, data);
  const added = await receivedEvents.add(runId, { eventId, name, data });
  if (added === 'full') throw errors.tooManyReceivedEvents(runId, mostEvents);
  if (added === 'differs') throw errors.eventIdTaken(eventId);
  if (run.status !== 'paused' || waits.length === 0) return { eventId, status: 'kept' };
  try {
    await engine.answer(runId, {
      answers: new Map(),
      continuation: { turn: 0, input: null, options: {} },
      ...(askers !== undefined && { askers }),
    });
    return { eventId, status: 'delivered' };
  } catch (error) {
    // another process continues it, or has to: the event is stored, and whichever resumes the run takes it
    if (error instanceof RunyardError) return { eventId, status: 'kept' };
    throw error;
  }
}

/** What fits one of the waits is for that one. */
async function assertFits(waits: readonly StepRecord[], data: Json): Promise<void> {
  const schemas = waits
    .map((step) => read(step, eventQuestion).schema)
    .filter((schema) => schema !== undefined);
  if (schemas.length === 0 || schemas.length < waits.length) return;
  const checked = await Promise.all(schemas.map((schema) => fitToSchema(schema, data)));
  const [first] = checked;
  if (first === undefined || first.ok || checked.some(({ ok }) => ok)) return;
  throw errors.invalidRequest(first.faults.map((fault) => itemOf(fault, data, ['body', 'data'])));
}
