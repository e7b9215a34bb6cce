import type { ChaosOptions } from '../../support/chaos-process.js';
import { patience } from '../../support/patience.js';
import { EffectLog } from './effects.js';
import { Fleet, type Weather } from './fleet.js';
import { Ledger } from './ledger.js';
import { type Outage, Outages } from './outages.js';
import { allRuns, proveRuns } from './proofs/proofs.js';
import { proveStreams } from './proofs/stream-proofs.js';
import { Random } from './random.js';
import { Visitor } from './visit.js';
import { Wire } from './wire.js';

export interface StormOptions {
  readonly seed: number;
  readonly seconds: number;
  /** One for each process. */
  readonly places: readonly ChaosOptions[];
  readonly clients: number;
  readonly weather: Weather;
  /** What can happen to the servers that the processes use. */
  readonly outages?: readonly Outage[];
}

export interface StormReport {
  readonly violations: readonly string[];
  readonly kills: number;
  readonly freezes: number;
  readonly outages: number;
  readonly acknowledged: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** How long everything may take to come to rest after the last kill. */
const restMs = patience(120_000);

/**
 * Clients drive runs while the processes of the service are killed; when the time is up nothing new is asked for,
 * everything comes to rest, and what the clients know is compared with what is stored.
 */
export async function storm(options: StormOptions): Promise<StormReport> {
  const random = new Random(options.seed);
  const ledger = new Ledger(new EffectLog(options.places[0]!.folder.path), options.places.length);
  const fleet = new Fleet(options.places, random);
  const wire = new Wire(fleet, ledger, options.outages !== undefined);
  await fleet.start();
  const until = Date.now() + options.seconds * 1000;
  const visitors = Array.from({ length: options.clients }, () => new Visitor(wire, ledger, random.fork()));
  const clients = visitors.map(async (visitor) => {
    while (Date.now() < until) await visitor.visit();
  });
  // right after something began, and right after a client heard of a run or of an end: where most can go wrong
  const signs = [() => ledger.effects.position, () => ledger.acknowledged.size, () => ledger.endsSeen];
  const outages = new Outages(options.outages ?? [], random);
  const everything = Promise.all([
    fleet.storm(options.weather, signs, until),
    outages.storm(until),
    ...clients,
  ]);
  await inTime(until + restMs, everything, ledger, options.seed);
  await inTime(until + restMs, accompanyTheRest(visitors[0]!, wire, ledger), ledger, options.seed);
  await proveRuns(wire, ledger);
  await proveStreams(wire, ledger);
  const reconnects = ledger.readers.reduce((sum, reader) => sum + reader.reconnects, 0);
  return {
    violations: ledger.violations,
    kills: fleet.kills,
    freezes: fleet.freezes,
    outages: outages.count,
    acknowledged: ledger.acknowledged.size,
    counts: { ...Object.fromEntries([...ledger.counts].sort()), reconnects },
  };
}

/** Runs whose clients never got an answer exist all the same, and their questions have to be answered. */
async function accompanyTheRest(visitor: Visitor, wire: Wire, ledger: Ledger): Promise<void> {
  for (const [runId] of await allRuns(wire, ledger)) await visitor.accompany(runId);
}

async function inTime(deadline: number, work: Promise<unknown>, ledger: Ledger, seed: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        const waiting = [...ledger.waiting].join('\n');
        const violations = ledger.violations.join('\n');
        reject(new Error(`Seed ${seed}: clients still wait for:\n${waiting}\nWrong so far:\n${violations}`));
      },
      Math.max(0, deadline - Date.now()),
    );
  });
  try {
    await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
