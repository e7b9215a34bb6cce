import type { ApprovalPlace } from './store.js';

/** Reads the places of one database that come after a place, the newest first. */
export type ReadPlaces = (
  limit: number,
  after: ApprovalPlace | undefined,
) => Promise<readonly ApprovalPlace[]>;

export interface MergedPlace extends ApprovalPlace {
  /** Which of the databases has it. */
  readonly source: number;
}

/** How many places are read at once: what is held in memory does not depend on how far down a page is. */
const readAtOnce = 1000;

/** One page of a list that lies in several databases, the newest first. */
export async function mergedPlaces(
  sources: readonly ReadPlaces[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<MergedPlace[]> {
  const atOnce = Math.min(readAtOnce, offset + limit);
  const queues = await Promise.all(
    sources.map(async (read, source) => {
      const queue = new PlaceQueue(read, source, atOnce);
      await queue.advance();
      return queue;
    }),
  );
  const page: MergedPlace[] = [];
  for (let position = 0; page.length < limit; position += 1) {
    const next = newestOf(queues);
    if (next?.head === undefined) break;
    if (position >= offset) page.push(next.head);
    await next.advance();
  }
  return page;
}

/** The rest of one database's list, of which a piece is held. */
class PlaceQueue {
  head: MergedPlace | undefined;
  #held: readonly ApprovalPlace[] = [];
  #next = 0;
  #ended = false;

  constructor(
    private readonly read: ReadPlaces,
    private readonly source: number,
    private readonly atOnce: number,
  ) {}

  async advance(): Promise<void> {
    if (this.#next === this.#held.length && !this.#ended) {
      this.#held = await this.read(this.atOnce, this.head);
      this.#next = 0;
      this.#ended = this.#held.length < this.atOnce;
    }
    const place = this.#held[this.#next];
    this.#next += 1;
    this.head = place && { ...place, source: this.source };
  }
}

function newestOf(queues: readonly PlaceQueue[]): PlaceQueue | undefined {
  let newest: PlaceQueue | undefined;
  for (const queue of queues) {
    if (queue.head && (newest?.head === undefined || isNewer(queue.head, newest.head))) newest = queue;
  }
  return newest;
}

function isNewer(one: ApprovalPlace, other: ApprovalPlace): boolean {
  if (one.createdAt !== other.createdAt) return one.createdAt > other.createdAt;
  return one.approvalId > other.approvalId;
}
