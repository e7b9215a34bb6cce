import type { TraceFilter } from '../filter.js';
import type { FilterField } from '../filter-fields.js';
import type { Range } from '../store.js';
import type { MovedSession, SessionPlace, SessionPlacesStore } from './session-places-store.js';

export interface FoundSessions {
  /** In no order. */
  readonly sessionIds: readonly string[];
  readonly total: number;
}

/** Up to so many sessions are found by going through the traces, the newest first. */
export const walked = 500;

/** A trace may be stored so much later than another one that began after it: clocks differ, and writes take a while. */
const overlapMs = 60_000;
/** A trace that is stored even later is counted after this time at the latest. */
const keptMs = 60_000;
/** How many filters are remembered. */
const mostFilters = 8;
/** Every so many sessions their place is remembered. */
const distance = 200;

/** The sessions of the traces that began until a moment. */
interface Moment {
  readonly until: number;
  /** Which the oldest traces were: others mean that some were removed. */
  readonly oldest: string;
  readonly readAt: number;
  readonly total: number;
  /** Undefined until a page far from the beginning is asked for. */
  readonly marks: readonly SessionPlace[] | undefined;
}

/** Of a trace these stay as they are. */
const steadyFields: ReadonlySet<FilterField> = new Set([
  ...(['user_id', 'agent_id', 'team_id', 'workflow_id', 'session_id'] as const),
  ...(['run_id', 'trace_id', 'start_time', 'created_at'] as const),
]);

/** Whether a trace that fits, fits for good. */
export function isSteady(filter: TraceFilter): boolean {
  if (filter.op === 'NOT') return isSteady(filter.condition);
  if ('conditions' in filter) return filter.conditions.every(isSteady);
  return steadyFields.has(filter.key);
}

/**
 * Pages of the sessions of very many traces, without counting and sorting them all for each. How many sessions there
 * were at a moment, and which one stood at every so many places, is remembered; what has happened since is read.
 */
export class RememberedSessions {
  /** By filter, in the order of their last use. */
  readonly #moments = new Map<string, Moment>();

  constructor(private readonly places: SessionPlacesStore) {}

  async page(wanted: TraceFilter | null, { offset, limit }: Range): Promise<FoundSessions> {
    const isNear = offset + limit <= walked;
    const moment = await this.#moment(wanted, isNear);
    if (moment === undefined) return { sessionIds: [], total: 0 };
    const moved = await this.places.movedSince(wanted, moment.until);
    const total = moment.total + moved.filter(({ before }) => before === null).length;
    if (offset >= total) return { sessionIds: [], total };
    const { after, passed } = isNear ? start : markBefore(moment.marks ?? [], moved, offset);
    return {
      sessionIds: await this.places.walked(wanted, { offset: offset - passed, limit }, after),
      total,
    };
  }

  async #moment(wanted: TraceFilter | null, isNear: boolean): Promise<Moment | undefined> {
    const key = JSON.stringify(wanted);
    const { newest, oldest } = await this.places.ends();
    if (newest === undefined) return undefined;
    const known = this.#moments.get(key);
    this.#moments.delete(key);
    const isFresh =
      known !== undefined && known.oldest === oldest && performance.now() - known.readAt < keptMs;
    const moment =
      isFresh && (isNear || known.marks !== undefined)
        ? known
        : await this.#read(wanted, isNear, { until: newest - overlapMs, oldest });
    this.#moments.set(key, moment);
    for (const [other] of this.#moments) if (this.#moments.size > mostFilters) this.#moments.delete(other);
    return moment;
  }

  async #read(
    wanted: TraceFilter | null,
    isNear: boolean,
    ends: Pick<Moment, 'until' | 'oldest'>,
  ): Promise<Moment> {
    const readAt = performance.now();
    const found = isNear
      ? { total: await this.places.count(wanted, ends.until), marks: undefined }
      : await this.places.marks(wanted, ends.until, distance);
    return { ...ends, readAt, ...found };
  }
}

const start = { after: undefined, passed: 0 };

/** The last mark that stands before a place of the list as it is now, and how many sessions come up to it. */
function markBefore(marks: readonly SessionPlace[], moved: readonly MovedSession[], offset: number) {
  // those with new traces stand at the beginning now, and no longer where they were
  const left = moved.flatMap(({ session_id, before }) =>
    before === null ? [] : { session_id, last: before },
  );
  const passedAt = (index: number) =>
    moved.length + (index + 1) * distance - left.filter((place) => !isBehind(place, marks[index])).length;
  let [from, to] = [0, marks.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (passedAt(middle) <= offset) from = middle + 1;
    else to = middle;
  }
  return from === 0 ? start : { after: marks[from - 1], passed: passedAt(from - 1) };
}

function isBehind(place: SessionPlace, mark: SessionPlace | undefined): boolean {
  if (mark === undefined || place.last !== mark.last) return place.last < (mark?.last ?? 0);
  return place.session_id < mark.session_id;
}
