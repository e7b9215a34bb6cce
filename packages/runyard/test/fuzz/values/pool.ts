import type { Random } from '../../chaos/storm/random.js';

/** Ids that were in one answer together: those of a run, of its session and of its agent. */
export type Known = Readonly<Record<string, string>>;

/** A question of a paused run, as its body has it. */
export interface Asked {
  readonly tools: unknown;
  readonly requirements: unknown;
}

const capacity = 400;
/** How much of an answer is looked through. */
const widest = 30;
const deepest = 8;

/** Ids that the service itself has given out: later requests name them. */
export class Pool {
  readonly #known: Known[] = [];
  readonly #requirements = new Map<string, Asked>();

  /** What is withheld is never learned: it stays as it is, whichever caller has this pool. */
  constructor(private readonly withheld: ReadonlySet<string> = new Set()) {}

  /** Learns from an answer. */
  feed(body: unknown): void {
    this.#walk(body, 0);
  }

  add(known: Known): void {
    if (Object.values(known).some((id) => this.withheld.has(id))) return;
    this.#known.push(known);
    // the first ones stay, so that what was there from the beginning is asked for to the end
    if (this.#known.length > capacity) this.#known.splice(capacity / 4, 1);
  }

  /** Something of which all these ids are known. */
  withAll(names: readonly string[], random: Random): Known | undefined {
    return this.#pick(this.#having(names), random);
  }

  /** A run of which all these ids are known, and that has asked for something. */
  waiting(names: readonly string[], random: Random): Known | undefined {
    const runs = this.#having(names).filter(({ run_id = '' }) => this.#requirements.has(run_id));
    return this.#pick(runs, random);
  }

  #having(names: readonly string[]): Known[] {
    return this.#known.filter((known) => names.every((name) => name in known));
  }

  #pick(fitting: readonly Known[], random: Random): Known | undefined {
    if (fitting.length === 0) return undefined;
    // what came lately is more likely to be still there
    return random.pick(random.chance(0.4) ? fitting.slice(-8) : fitting);
  }

  id(name: string, random: Random): string | undefined {
    return this.withAll([name], random)?.[name];
  }

  /** A question of a paused run, to be answered. */
  asked(runId: string): Asked | undefined {
    return this.#requirements.get(runId);
  }

  /** All ids of these kinds. */
  ids(names: readonly string[]): string[] {
    return this.#known.flatMap((known) => names.flatMap((name) => known[name] ?? []));
  }

  all(): readonly Known[] {
    return this.#known;
  }

  #walk(value: unknown, depth: number): void {
    if (typeof value !== 'object' || value === null || depth > deepest) return;
    if (Array.isArray(value)) {
      for (const item of value.slice(0, widest)) this.#walk(item, depth + 1);
      return;
    }
    const members = Object.entries(value);
    const ids = members.filter(isId);
    if ('principal' in value && 'id' in value) ids.push(['service_account_id', String(value.id)]);
    if ('approval_type' in value && 'id' in value) ids.push(['approval_id', String(value.id)]);
    if ('case_count' in value && 'id' in value) ids.push(['dataset_id', String(value.id)]);
    if ('cron_expr' in value && 'id' in value) ids.push(['schedule_id', String(value.id)]);
    if (ids.length > 0) this.add(Object.fromEntries(ids));
    this.#remember(value as Record<string, unknown>);
    for (const [, member] of members.slice(0, widest)) this.#walk(member, depth + 1);
  }

  #remember({ run_id, tools, requirements, step_requirements }: Record<string, unknown>): void {
    const asked = [requirements, step_requirements].find((one) => Array.isArray(one) && one.length > 0);
    if (typeof run_id !== 'string' || asked === undefined) return;
    if (this.#requirements.size >= capacity) this.#requirements.clear();
    this.#requirements.set(run_id, { tools, requirements: asked });
  }
}

function isId(entry: [string, unknown]): entry is [string, string] {
  const [name, value] = entry;
  return /_id$/.test(name) && typeof value === 'string' && value !== '' && value.length <= 255;
}
