import type { EffectLog } from './effects.js';
import type { Request } from './plan.js';
import type { StreamReader } from './reader.js';
import type { Target } from './targets.js';

/** What a client asked for, and what it was answered. */
export interface AskedRun {
  readonly target: Target;
  readonly plan: Request;
  /** The request may be repeated, and still is one run. */
  readonly keyed: boolean;
  /** The ids that the service answered with. */
  readonly runIds: Set<string>;
}

/** A person's word that a call or a step may be executed: how often it was given, and when for the first time. */
interface GoAhead {
  /** One for each question that was answered so; the same answer to the same question counts once. */
  readonly questions: Set<string>;
  readonly position: number;
}

/** What the service acknowledged about a cancelled run. */
interface Cancelled {
  readonly status: string;
  readonly position: number;
}

/** All that the clients know. The proofs compare it with what the service has stored. */
export class Ledger {
  readonly asked = new Map<string, AskedRun>();
  readonly acknowledged = new Set<string>();
  /** Whose run it is. */
  private readonly owners = new Map<string, Target>();
  /** Which session a run was asked for in. */
  readonly sessions = new Map<string, string>();
  readonly readers: StreamReader[] = [];
  readonly goAheads = new Map<string, GoAhead>();
  readonly cancelled = new Map<string, Cancelled>();
  /** What clients wait for at the moment. */
  readonly waiting = new Set<string>();
  readonly violations: string[] = [];
  readonly counts = new Map<string, number>();
  /** How many ends of members and steps were reported to clients. */
  endsSeen = 0;
  private lastNumber = 0;

  constructor(
    readonly effects: EffectLog,
    /** One alone has ended a run when it says so; several may need a moment. */
    readonly processes: number,
  ) {}

  nextNumber(): number {
    this.lastNumber += 1;
    return this.lastNumber;
  }

  ask(target: Target, plan: Request, keyed: boolean): AskedRun {
    const asked: AskedRun = { target, plan, keyed, runIds: new Set() };
    this.asked.set(plan.token, asked);
    return asked;
  }

  acknowledge(asked: AskedRun, runId: string, session: string | undefined): void {
    asked.runIds.add(runId);
    this.own(runId, asked.target);
    this.acknowledged.add(runId);
    if (session !== undefined) this.sessions.set(runId, session);
  }

  own(runId: string, target: Target): void {
    this.owners.set(runId, target);
  }

  ownerOf(runId: string): Target {
    return this.owners.get(runId)!;
  }

  /** Where a run is. */
  pathOf(runId: string): string {
    return `${this.ownerOf(runId).path}/${runId}`;
  }

  /** Written down before it is said, so that nothing that follows from it comes first. */
  goAhead(runId: string, what: string, question: string): void {
    const name = `${runId} ${what}`;
    const known = this.goAheads.get(name) ?? { questions: new Set(), position: this.effects.position };
    known.questions.add(question);
    this.goAheads.set(name, known);
  }

  violation(what: string): void {
    // the first ones are enough
    if (this.violations.length < 40) this.violations.push(what);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Names what is being waited for as long as it is. */
  async during<T>(what: string, work: () => Promise<T>): Promise<T> {
    this.waiting.add(what);
    try {
      return await work();
    } finally {
      this.waiting.delete(what);
    }
  }
}
