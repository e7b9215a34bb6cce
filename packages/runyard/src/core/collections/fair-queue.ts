/** What waits in line: for whom, for what, how urgent it is, and since when. */
export interface InLine {
  readonly userId: string | null;
  /** The component, as `componentKey` names it. */
  readonly component: string;
  /** A larger number is more urgent. */
  readonly level: number;
  /** Since when it waits, in milliseconds by the clock that `peek` is given. */
  readonly since: number;
  /** What decides between equals: the smaller comes first. */
  readonly order: number;
  /**
   * Its turn among those of the same level, where this queue holds only a part of the line. Left out: the turn after the
   * last one of its user and component, or that of what was taken last.
   */
  readonly turn?: number;
}

type Whose = Pick<InLine, 'userId' | 'component'>;

/** After this time in line something is as urgent as the next level, so that nothing waits for ever. */
export const agingMs = 300_000;

/** What waits for one user and component at one level, in the order of arrival, each with its turn. */
interface Line<Item> {
  readonly turns: Map<Item, number>;
  nextTurn: number;
}

interface Flow<Item> {
  executing: number;
  readonly lines: Map<number, Line<Item>>;
}

interface User<Item> {
  executing: number;
  waiting: number;
  readonly flows: Map<string, Flow<Item>>;
}

/**
 * A line in which nobody waits for the many things that another user has put there. The most urgent comes first, among
 * those what is for the user with the fewest in execution, then for the component with the fewest. Between equals users
 * and components have turns: what one of them has put there has one turn after the other (start-time fair queuing).
 */
export class FairQueue<Item extends InLine> {
  private readonly users = new Map<string | null, User<Item>>();
  private waiting = 0;
  /** By level: the turn of what was taken last. */
  private readonly reached = new Map<number, number>();

  constructor(private readonly highestLevel: number) {}

  get size(): number {
    return this.waiting;
  }

  /** Items of one user, component and level come in the order in which they are added. */
  add(item: Item): void {
    const { user, flow } = this.placeOf(item);
    const line = flow.lines.get(item.level) ?? {
      turns: new Map<Item, number>(),
      nextTurn: this.reached.get(item.level) ?? 0,
    };
    flow.lines.set(item.level, line);
    const turn = item.turn ?? line.nextTurn;
    line.turns.set(item, turn);
    line.nextTurn = turn + 1;
    user.waiting += 1;
    this.waiting += 1;
  }

  delete(item: Item): void {
    const { user, flow } = this.placeOf(item);
    if (flow.lines.get(item.level)?.turns.delete(item)) {
      user.waiting -= 1;
      this.waiting -= 1;
    }
    this.tidy(item);
  }

  /** What comes next. Looks at one item of each user, component and level. */
  peek(now: number): Item | undefined {
    return this.next(now)?.item;
  }

  /** Takes what comes next out of the line: it counts as in execution until `ended`. */
  take(now: number): Item | undefined {
    const next = this.next(now);
    if (next === undefined) return undefined;
    const { item, turn } = next;
    this.reached.set(item.level, turn);
    this.began(item);
    this.delete(item);
    return item;
  }

  /** So many are in execution that were not taken from here. */
  began(whose: Whose, count = 1): void {
    const { user, flow } = this.placeOf(whose);
    user.executing += count;
    flow.executing += count;
  }

  ended(whose: Whose): void {
    this.began(whose, -1);
    this.tidy(whose);
  }

  private next(now: number): { item: Item; turn: number } | undefined {
    if (this.waiting === 0) return undefined;
    let first: { item: Item; turn: number; rank: readonly number[] } | undefined;
    for (const user of this.users.values()) {
      if (user.waiting === 0) continue;
      for (const flow of user.flows.values()) {
        for (const { turns } of flow.lines.values()) {
          for (const [item, turn] of turns) {
            const level = this.levelOf(item, now);
            // turns of different levels do not compare
            const place = level === item.level ? turn : -1;
            const rank = [-level, user.executing, flow.executing, place, item.order];
            if (first === undefined || isBefore(rank, first.rank)) first = { item, turn, rank };
            break;
          }
        }
      }
    }
    return first;
  }

  private levelOf({ level, since }: Item, now: number): number {
    if (level >= this.highestLevel) return level;
    return Math.min(this.highestLevel, level + Math.floor(Math.max(0, now - since) / agingMs));
  }

  private placeOf({ userId, component }: Whose) {
    const user: User<Item> = this.users.get(userId) ?? { executing: 0, waiting: 0, flows: new Map() };
    this.users.set(userId, user);
    const flow: Flow<Item> = user.flows.get(component) ?? { executing: 0, lines: new Map() };
    user.flows.set(component, flow);
    return { user, flow };
  }

  /** Keeps nothing of a user who has nothing here. */
  private tidy(whose: Whose): void {
    const { user, flow } = this.placeOf(whose);
    for (const [level, { turns }] of flow.lines) if (turns.size === 0) flow.lines.delete(level);
    if (flow.executing === 0 && flow.lines.size === 0) user.flows.delete(whose.component);
    if (user.flows.size === 0) this.users.delete(whose.userId);
  }
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  for (const [place, value] of one.entries()) {
    const difference = value - (other[place] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
