import { Random } from '../chaos/storm/random.js';
import type { ApiCheck } from '../support/clients/api-check.js';
import type { Audience, FuzzCaller } from './callers.js';
import { type Operation, operationsOf } from './description.js';
import { curlLine } from './exchange/curl.js';
import { generate } from './exchange/generate.js';
import { type FuzzRequest, wireOf } from './exchange/request.js';
import type { RawSender, WireAnswer } from './exchange/send.js';
import { shortened } from './exchange/shorten.js';
import { faultOf } from './oracle.js';
import { PublishedRules } from './published-rules.js';

export interface CampaignOptions {
  readonly url: string;
  readonly api: ApiCheck;
  readonly sender: RawSender;
  readonly audience: Audience;
  readonly seed: number;
  /** How long it lasts; left out: the same requests each time, on any machine. */
  readonly seconds: number | undefined;
  /** How many requests are under way at once. */
  readonly lanes: number;
  /** Only the operations of these ids; all, if there are none. */
  readonly only: readonly string[];
}

export interface CampaignReport {
  /** Each with its request as a line for a shell. */
  readonly failures: string[];
  requests: number;
  /** How often each operation was called, and how often it succeeded. */
  readonly called: Map<string, number>;
  readonly succeeded: Map<string, number>;
  readonly statuses: Map<number, number>;
}

/** Enough for most operations to succeed at least once. */
const leastRounds = 8;
/** Enough to work on; more of them say the same. */
const mostFailures = 12;

/**
 * Asks every operation of the description for all kinds of things, until the time is up if there is one. What a request is made of
 * depends on the seed and its number alone; only ids that the service gave out are others the next time.
 */
export async function campaign(options: CampaignOptions): Promise<CampaignReport> {
  return new Campaign(options).run();
}

class Campaign {
  private readonly operations: readonly Operation[];
  private readonly rules: PublishedRules;
  private readonly until: number;
  /** Faults that are known already, by operation and text. */
  private readonly known = new Set<string>();
  private readonly report: CampaignReport = {
    failures: [],
    requests: 0,
    called: new Map(),
    succeeded: new Map(),
    statuses: new Map(),
  };

  constructor(private readonly options: CampaignOptions) {
    this.rules = new PublishedRules(options.api.description);
    const all = operationsOf(options.api.description);
    this.operations = all.filter(({ id }) => options.only.length === 0 || options.only.includes(id));
    this.until = performance.now() + (options.seconds ?? 0) * 1000;
  }

  async run(): Promise<CampaignReport> {
    const requests = this.#sequence(new Random(this.options.seed));
    const lane = async () => {
      for (const [operation, random] of requests) await this.#ask(operation, random);
    };
    await Promise.all(Array.from({ length: this.options.lanes }, lane));
    return this.report;
  }

  /** All operations again and again, each time in another order; a few times however slow the machine. */
  *#sequence(random: Random): Generator<[Operation, Random]> {
    for (let round = 0; ; round++) {
      for (const operation of shuffled(this.operations, random)) {
        if (round >= leastRounds && performance.now() >= this.until) return;
        if (this.report.failures.length >= mostFailures) return;
        yield [operation, random.fork()];
      }
    }
  }

  async #ask(operation: Operation, random: Random): Promise<void> {
    const { api, audience } = this.options;
    const caller = audience.pick(random);
    const { pool } = caller;
    const request = generate(operation, { description: api.description, pool, random, tame: 0.35 });
    caller.noteSent?.(JSON.stringify([request.path, request.query, request.headers, request.body]));
    const { fault, answer } = await this.#send(request, operation, caller);
    this.#count(operation, request, answer);
    if (fault !== undefined) await this.#fail(request, operation, caller, fault);
    else if (answer && answer.status < 300) learn(caller, answer);
  }

  async #send(
    request: FuzzRequest,
    operation: Operation,
    caller: FuzzCaller,
  ): Promise<{ fault: string | undefined; answer?: WireAnswer }> {
    const wire = wireOf(request, caller.token);
    try {
      const answer = await this.options.sender.send(wire);
      const fault =
        caller.faultOf(operation, request, answer) ??
        faultOf(this.options.api, wire, answer) ??
        this.#taken(operation, request, answer);
      return { fault, answer };
    } catch (error) {
      return { fault: `there was no answer: ${String(error)}` };
    }
  }

  /** Requests that must be refused, and were accepted. */
  #taken(operation: Operation, request: FuzzRequest, { status }: WireAnswer): string | undefined {
    const breach = status < 400 ? this.rules.breach(operation, request) : undefined;
    return breach && `it took ${breach}`;
  }

  async #fail(request: FuzzRequest, operation: Operation, caller: FuzzCaller, fault: string): Promise<void> {
    const kind = `${operation.id} ${fault.replace(/[0-9a-f-]{8,}|\d+/g, '#').slice(0, 120)}`;
    if (this.known.has(kind)) return;
    this.known.add(kind);
    const kindOf = (text: string) => text.slice(0, 24);
    const shortest = await shortened(request, async (shorter) => {
      const again = await this.#send(shorter, operation, caller);
      return again.fault !== undefined && kindOf(again.fault) === kindOf(fault);
    });
    const line = curlLine(this.options.url, wireOf(shortest, caller.token));
    this.report.failures.push(`${operation.id} as ${caller.name}: ${fault}\n  ${line}`);
  }

  #count({ id, method }: Operation, sent: FuzzRequest, answer: WireAnswer | undefined): void {
    const { report } = this;
    const status = answer?.status ?? 0;
    report.requests++;
    increment(report.called, id);
    increment(report.statuses, status);
    if (status >= 200 && status < 300 && sent.method === method) increment(report.succeeded, id);
  }
}

function learn({ pool }: FuzzCaller, { contentType, text }: WireAnswer): void {
  if (contentType.startsWith('application/json') && text.length < 500_000) pool.feed(JSON.parse(text));
  else if (contentType.startsWith('text/event-stream')) {
    for (const [, data] of text.slice(-20_000).matchAll(/^data: (.*)$/gm)) {
      try {
        pool.feed(JSON.parse(data!));
      } catch {
        // the first line may be cut
      }
    }
  }
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function shuffled<Item>(list: readonly Item[], random: Random): Item[] {
  const order = list.map((item) => ({ item, at: random.next() }));
  return order.sort((one, other) => one.at - other.at).map(({ item }) => item);
}
