import type { RunPlace } from '../../../capabilities/runs/service.js';
import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { EventReader } from '../../../core/runs/events/event-reader.js';
import { type Run, terminalStatuses } from '../../../core/runs/run.js';
import type { EventStreamReply } from '../../../platform/http/response/results.js';
import { namedStream, type ObjectReader } from '../frames.js';
import { assertMayWith } from '../model-names.js';
import type { OpenaiCall } from '../routes.js';
import { answerItems } from './pause-items.js';
import { ResponseFold } from './response-fold.js';
import { keptRequest } from './response-head.js';
import { partBefore, partOf, type ResponsePart } from './response-id.js';

/** A response that the caller may see. */
export interface FoundResponse {
  readonly id: string;
  readonly part: ResponsePart;
  readonly place: RunPlace;
  readonly run: Run;
}

/** Undefined if there is none for the caller. Throws when they may not do this with its component. */
export async function findResponse(
  { services, config, request: { caller } }: OpenaiCall,
  id: string,
  action: 'run' | 'read',
): Promise<FoundResponse | undefined> {
  const part = partOf(id);
  if (part === undefined) return undefined;
  const place = await services.runs.placeOf(caller, part.runId);
  if (place === undefined || !config.exposes(place.kind, place.componentId)) return undefined;
  assertMayWith(caller, place, action);
  const { run } = await services.runs.find(caller, place);
  // no part of a run begins after its last event
  const isThere = part.from === undefined || part.from <= run.nextEventIndex;
  return !isThere || keptRequest(run).isHidden ? undefined : { id, part, place, run };
}

export async function responseOfPath(call: OpenaiCall, action: 'run' | 'read'): Promise<FoundResponse> {
  const { response_id: id = '' } = call.request.params;
  const found = await findResponse(call, id, action);
  if (found === undefined) throw errors.runNotFound(`Response with id '${id.slice(0, 200)}' not found.`);
  return found;
}

type ResponsePlace = Pick<FoundResponse, 'part' | 'place'>;

/** The parts of a run in their order. */
async function* partsOf(call: OpenaiCall, place: RunPlace) {
  let part: ResponsePart | undefined = { runId: place.runId };
  while (part !== undefined) {
    const known = await foldOf(call, { part, place });
    yield known;
    part = known.fold.nextPart;
  }
}

/** The part of a run that follows the first one with which this is so, however many parts there are. */
export async function partAfter(
  call: OpenaiCall,
  place: RunPlace,
  isMeant: (fold: ResponseFold) => boolean,
): Promise<ResponsePart | undefined> {
  for await (const { fold } of partsOf(call, place)) if (isMeant(fold)) return fold.nextPart;
  return undefined;
}

/** All that a run said and asked for, with what its client answered. */
export async function itemsOfRun(call: OpenaiCall, place: RunPlace): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  for await (const { fold, rests } of partsOf(call, place)) {
    if (rests) await finished(call, fold, { place });
    items.push(...fold.output);
    if (fold.nextPart !== undefined) items.push(...(await answersTo(call, place, fold)));
  }
  return items;
}

/** What the client answered to the questions that a part of a run ended with. */
async function answersTo(call: OpenaiCall, place: RunPlace, fold: ResponseFold): Promise<JsonObject[]> {
  return answerItems(fold.output, await call.services.runs.journal(call.request.caller, place));
}

/** The items that began a part which is not the first of its run. */
export async function answersBefore(call: OpenaiCall, { part, place }: ResponsePlace): Promise<JsonObject[]> {
  const before = partBefore(part);
  if (before === undefined) return [];
  const { fold } = await foldOf(call, { part: before, place });
  return answersTo(call, place, fold);
}

/** A response as it is now. */
export async function bodyOf(call: OpenaiCall, at: ResponsePlace): Promise<JsonObject> {
  const { fold, run, rests } = await foldOf(call, at);
  return rests ? finished(call, fold, at) : fold.body(run);
}

/** A part of a run as far as its events are there. */
async function foldOf({ services, request }: OpenaiCall, { part, place }: ResponsePlace) {
  const followed = await services.runs.follow(request.caller, place, (part.from ?? 0) - 1);
  if (followed === undefined) throw errors.runNotFound();
  const run = { ...followed.run, status: followed.status };
  const fold = new ResponseFold(run, part);
  const reader = followed.events();
  try {
    await addAll(fold, reader, followed.missedEvents);
  } finally {
    reader.close();
  }
  return { fold, run, rests: fold.isOver || followed.resting };
}

/** Adds events until there are no more, or until so many are through. */
async function addAll(fold: ResponseFold, reader: EventReader, count: number): Promise<void> {
  let left = count;
  while (left > 0 && !fold.isOver) {
    const events = await reader.next();
    if (events === null) return;
    for (const event of events) {
      if (left-- <= 0 || fold.isOver) return;
      const added = fold.add(event);
      // to wait for each piece would take longer than all of them
      if (added instanceof Promise) await added;
    }
  }
}

/** The response of a run that rests. */
async function finished(
  call: OpenaiCall,
  fold: ResponseFold,
  { place }: Pick<ResponsePlace, 'place'>,
): Promise<JsonObject> {
  const { run } = await call.services.runs.find(call.request.caller, place);
  await lastFrames(call, fold, place, run);
  return fold.body(run);
}

async function lastFrames(
  call: OpenaiCall,
  fold: ResponseFold,
  place: RunPlace,
  run: Run,
): Promise<readonly JsonObject[]> {
  if (run.status === 'cancelled' && (await isWithdrawn(call, place, fold))) fold.withdraw();
  return [...fold.addImages(await imagesOf(call, run)), ...fold.finish(run)];
}

/** Whether what follows the questions of a part is the end of its run, and no answer. */
async function isWithdrawn(
  { services, request }: OpenaiCall,
  place: RunPlace,
  { nextPart }: ResponseFold,
): Promise<boolean> {
  if (nextPart === undefined) return false;
  const followed = await services.runs.follow(request.caller, place, nextPart.from - 1);
  const reader = followed?.events();
  const [first] = (await reader?.next()) ?? [];
  reader?.close();
  return first?.name.endsWith('Cancelled') === true;
}

/** Pictures that a run made, once it has ended. */
async function imagesOf({ services }: OpenaiCall, run: Run) {
  if (!terminalStatuses.has(run.status)) return [];
  const images: { result: string; format: string }[] = [];
  for (const media of run.result?.media ?? []) {
    if (media.kind !== 'image') continue;
    const result = media.url ?? (await services.runs.showMedia(run, media));
    const format = media.mimeType?.split('/')[1] ?? 'png';
    if (result !== undefined) images.push({ result, format });
  }
  return images;
}

/** The events of a response as its run makes them. It holds none of them. */
export class ResponseEvents implements ObjectReader {
  readonly #fold: ResponseFold;
  #state: 'new' | 'open' | 'over' = 'new';
  #isClosed = false;

  /** `after`: the number of the last event that the client has. */
  constructor(
    private readonly call: OpenaiCall,
    private readonly at: Pick<FoundResponse, 'part' | 'place' | 'run'>,
    private readonly events: EventReader,
    private readonly after = -1,
  ) {
    this.#fold = new ResponseFold(at.run, at.part);
  }

  async next(): Promise<readonly JsonObject[] | null> {
    while (this.#state !== 'over') {
      const frames = await this.#some();
      const wanted = frames.filter(({ sequence_number: number }) => Number(number) > this.after);
      if (wanted.length > 0) return wanted;
    }
    return null;
  }

  close(): void {
    this.#isClosed = true;
    this.events.close();
  }

  async #some(): Promise<readonly JsonObject[]> {
    if (this.#state === 'new') {
      this.#state = 'open';
      return this.#fold.begin();
    }
    const logged = this.#fold.isOver ? null : await this.events.next();
    if (logged === null) return this.#last();
    const frames: JsonObject[] = [];
    for (const event of logged) {
      if (this.#fold.isOver) break;
      const added = this.#fold.add(event);
      frames.push(...(added instanceof Promise ? await added : added));
    }
    return frames;
  }

  /** Without an end the stream of a run that another process has taken over stops: the client retrieves the rest. */
  async #last(): Promise<readonly JsonObject[]> {
    this.#state = 'over';
    if (this.#isClosed) return [];
    this.events.close();
    const { services, request } = this.call;
    const { run } = await services.runs.find(request.caller, this.at.place);
    const rests = terminalStatuses.has(run.status) || run.status === 'paused';
    if (!rests && !this.#fold.isOver) return [];
    return lastFrames(this.call, this.#fold, this.at.place, run);
  }
}

/** The stream of a response that began before, after the event that the client has last. */
export async function followResponse(
  call: OpenaiCall,
  at: Pick<FoundResponse, 'part' | 'place' | 'run'>,
  after?: number,
): Promise<EventStreamReply> {
  const { part, place } = at;
  const { services, request } = call;
  const followed = await services.runs.follow(request.caller, place, (part.from ?? 0) - 1);
  if (followed === undefined) throw errors.runNotFound();
  return namedStream(new ResponseEvents(call, at, followed.events(), after), place.runId);
}
