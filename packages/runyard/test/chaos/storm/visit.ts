import type { Body } from '../../support/service.js';
import type { AskedRun, Ledger } from './ledger.js';
import { Person } from './person.js';
import { encouragement, failure } from './plan.js';
import { pause, type Random } from './random.js';
import { StreamReader } from './reader.js';
import { randomRequest, randomTarget, type Target } from './targets.js';
import type { Sent, Wire } from './wire.js';

const finalStatuses = new Set(['completed', 'cancelled', 'error', 'regenerated']);

export function isFinal(status: string): boolean {
  return finalStatuses.has(status);
}

/** Runs of many clients execute side by side in these. */
export function sharedSessions({ id }: Target): readonly string[] {
  return ['monday', 'tuesday', 'friday'].map((day) => `${id}-${day}`);
}

/** How a client asks for a run and follows it. */
const ways = {
  answered: { stream: 'false' },
  streamed: { stream: 'true' },
  background: { background: 'true' },
  'background stream': { background: 'true', stream: 'true' },
} as const;

type Way = keyof typeof ways;

/** The answer of a team that routes is its member's: there is no call of the leader's model to be repeated. */
function canBeRegenerated({ kind, id }: Target): boolean {
  return kind !== 'workflow' && id !== 'route';
}

/** A client: asks for runs, one after the other, and stays with each until it has ended. */
export class Visitor {
  private readonly person: Person;

  constructor(
    private readonly wire: Wire,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {
    this.person = new Person(wire, ledger, random);
  }

  /** One run from the request to its end. */
  async visit(): Promise<void> {
    const target = randomTarget(this.random);
    const plan = randomRequest(this.random, target, this.ledger.nextNumber());
    const way = this.random.pick(Object.keys(ways) as Way[]);
    const keyed = this.random.chance(0.4);
    const asked = this.ledger.ask(target, plan, keyed);
    this.ledger.count(way);
    this.ledger.count(`${target.kind} ${target.id}`);
    // an id of the client's own can be used before there is an answer
    const ownId = this.random.chance(0.25) ? `own-${plan.token.slice(1)}` : undefined;
    if (ownId !== undefined) this.ledger.own(ownId, target);
    const sent: Sent = {
      form: {
        message: plan.message,
        ...ways[way],
        ...(ownId !== undefined && { run_id: ownId }),
        ...(this.random.chance(0.3) && { session_id: this.random.pick(sharedSessions(target)) }),
      },
      headers: keyed ? { 'idempotency-key': `key-${plan.token}` } : {},
    };
    const unwanted = this.random.chance(0.15);
    const cancelling = unwanted && ownId !== undefined ? this.cancel(ownId) : undefined;
    const begun = await this.ledger.during(`an answer to ${plan.message} (${way})`, () =>
      this.begin(asked, sent),
    );
    await cancelling;
    if (begun === undefined) return;
    const [runId, reader] = begun;
    const [run] = await Promise.all([
      this.accompany(runId, reader),
      unwanted && ownId === undefined && this.cancel(runId),
      this.random.chance(0.3) && this.watch(runId),
    ]);
    if (run?.status === 'completed' && canBeRegenerated(target) && this.random.chance(0.15))
      await this.regenerate(runId);
  }

  /** Follows a run, answers its questions, and returns it as it ended. */
  async accompany(runId: string, reader?: StreamReader): Promise<Body | undefined> {
    return this.ledger.during(`the end of run ${runId}`, async () => {
      for (;;) {
        await reader?.follow();
        const run = await this.rested(runId);
        if (run === undefined) return undefined;
        if (run.status === 'paused') await this.person.answer(run, reader);
        else if (run.status === 'error' && run.content === failure)
          await this.person.encourage(runId, encouragement, reader);
        else {
          // it may have ended after the stream did
          await reader?.follow();
          return run;
        }
      }
    });
  }

  /** Reads a run from its first event to its last, beside all other readers. */
  private async watch(runId: string): Promise<void> {
    const reader = new StreamReader(runId, this.wire, this.ledger, this.random);
    await this.ledger.during(`the events of run ${runId}`, async () => {
      for (let ended = false; !ended; ) {
        const run = await this.rested(runId);
        ended = run === undefined || isFinal(run.status);
        await reader.follow();
      }
    });
  }

  /** The run when it is not executing; undefined when it does not exist. */
  private async rested(runId: string): Promise<Body | undefined> {
    for (;;) {
      const run = await this.wire.run(runId);
      if (run === undefined) {
        this.ledger.violation(`run ${runId} was acknowledged and is not there`);
        return undefined;
      }
      if (run.status === 'paused' || isFinal(run.status)) return run;
      await pause(this.random.between(10, 60));
    }
  }

  /** Requests a run; one with a key is requested again when the outcome of the request is unknown. */
  private async begin(asked: AskedRun, sent: Sent): Promise<[string, StreamReader | undefined] | undefined> {
    for (;;) {
      const twice = asked.keyed && this.random.chance(0.3);
      const requests = twice
        ? [this.request(asked, sent), this.request(asked, sent)]
        : [this.request(asked, sent)];
      const begun = (await Promise.all(requests)).find((one) => one !== undefined);
      if (begun !== undefined || !asked.keyed) return begun;
      await pause(20);
    }
  }

  private async request(
    asked: AskedRun,
    sent: Sent,
  ): Promise<[string, StreamReader | undefined] | undefined> {
    const leave = new AbortController();
    const response = await this.wire.send(asked.target.path, { ...sent, signal: leave.signal });
    if (response === undefined) return undefined;
    const streamed = sent.form!.stream === 'true';
    if (response.status !== 200 && response.status !== 202) {
      const text = await response.text();
      // a process that stood still for longer than its lease: another one has the run, which is there like any other
      const fenced = /"error_code":"run_fenced".*"run_id":"([^"]+)"/.exec(text)?.[1];
      if (fenced === undefined) {
        this.ledger.violation(`${asked.plan.message} was answered ${response.status}: ${text}`);
        return undefined;
      }
      this.ledger.acknowledge(asked, fenced, sent.form!.session_id);
      return [fenced, undefined];
    }
    if (!streamed) {
      const body = (await response.json().catch(() => undefined)) as Body;
      if (body === undefined) return undefined;
      this.ledger.acknowledge(asked, body.run_id, sent.form!.session_id);
      return [body.run_id, undefined];
    }
    const runId = decodeURIComponent(response.headers.get('x-run-id') ?? '');
    this.ledger.acknowledge(asked, runId, sent.form!.session_id);
    const reader = new StreamReader(runId, this.wire, this.ledger, this.random);
    await reader.take(response, leave);
    return [runId, reader];
  }

  /** Cancels a run at some moment, again until that is acknowledged. */
  private async cancel(runId: string): Promise<void> {
    await pause(this.random.between(0, 150));
    const path = `${this.ledger.pathOf(runId)}/cancel`;
    const { status, body } = await this.ledger.during(`the cancelling of ${runId}`, async () => {
      for (;;) {
        const answer = await this.wire.insist(path, { method: 'POST' });
        // its process is dead or frozen: the cancel is stored, and the run has not ended yet
        if (answer.status !== 202) return answer;
        this.ledger.count('cancels that took longer');
      }
    });
    if (status !== 200)
      this.ledger.violation(`cancel of ${runId} answered ${status}: ${JSON.stringify(body)}`);
    const run = await this.wire.run(runId);
    const found: string = run?.status ?? 'gone';
    this.ledger.count(`cancelled: ${found}`);
    this.ledger.cancelled.set(runId, { status: found, position: this.ledger.effects.position });
  }

  /** Has a completed run answered once more, by a copy of it. */
  private async regenerate(runId: string): Promise<void> {
    const answer = await this.wire.ask(`${this.ledger.pathOf(runId)}/continue`, {
      form: { regenerate: 'true', replace_original: String(this.random.chance(0.5)), background: 'true' },
    });
    // the list shows whether there is a copy now
    if (answer === undefined) return;
    if (answer.status !== 202) {
      this.ledger.violation(
        `regenerating ${runId} answered ${answer.status}: ${JSON.stringify(answer.body)}`,
      );
      return;
    }
    const copy: string = answer.body.run_id;
    this.ledger.count('regenerated');
    this.ledger.acknowledged.add(copy);
    this.ledger.own(copy, this.ledger.ownerOf(runId));
    await this.accompany(copy);
  }
}
