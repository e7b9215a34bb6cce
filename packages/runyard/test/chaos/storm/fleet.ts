import { type ChaosOptions, ChaosProcess } from '../../support/chaos-process.js';
import { pause, type Random } from './random.js';

/** How long processes live and stay away, in milliseconds. */
export interface Weather {
  readonly alive: readonly [number, number];
  readonly away: readonly [number, number];
  /** How long a process is suspended instead of killed, every third time; never when left out. */
  readonly frozen?: readonly [number, number];
}

/** A number that grows when something has just happened that a kill should hit. */
type Sign = () => number;

/** How long a kill waits for its sign. */
const patienceMs = 300;

const loggedLines = 5;

/** The processes of the service, which are killed and started again on the same data. */
export class Fleet {
  kills = 0;
  freezes = 0;
  private readonly processes: (ChaosProcess | undefined)[];
  private readonly waiting = new Set<() => void>();
  private readonly random: Random;

  constructor(
    /** One for each process. */
    private readonly places: readonly ChaosOptions[],
    random: Random,
  ) {
    this.random = random.fork();
    this.processes = places.map(() => undefined);
  }

  /** Starts the processes that are down. */
  async start(): Promise<void> {
    await Promise.all(this.processes.map((process, slot) => process ?? this.startAt(slot)));
  }

  /** The address of a process that is up, as soon as there is one. */
  async url(): Promise<string> {
    for (;;) {
      const up = this.processes.filter((process) => process !== undefined);
      for (const process of up) {
        if (process.hasEnded) throw new Error(`A process ended by itself:\n${process.output.slice(-4000)}`);
      }
      if (up.length > 0) return this.random.pick(up).url;
      await new Promise<void>((resolve) => {
        this.waiting.add(resolve);
      });
    }
  }

  /** The last log lines of the process at this address, for a person who examines an answer. */
  logOf(url: string): string {
    const process = this.processes.find((one) => one?.url === url);
    return process?.output.trimEnd().split('\n').slice(-loggedLines).join('\n') ?? 'It is gone.';
  }

  /** Kills every process again and again until the time is up. In the end all are there. */
  async storm(weather: Weather, signs: readonly Sign[], until: number): Promise<void> {
    const random = this.random.fork();
    const rage = async (slot: number) => {
      for (;;) {
        await pause(random.between(...weather.alive));
        if (random.chance(0.6)) await seen(random.pick(signs));
        if (Date.now() > until) return;
        if (weather.frozen !== undefined && random.chance(1 / 3)) {
          await this.freeze(slot, random.between(...weather.frozen));
          continue;
        }
        await this.kill(slot);
        await pause(random.between(...weather.away));
        await this.startAt(slot);
      }
    };
    await Promise.all(this.processes.map((_, slot) => rage(slot)));
  }

  private async kill(slot: number): Promise<void> {
    const process = this.processes[slot]!;
    this.processes[slot] = undefined;
    this.kills += 1;
    await process.kill();
  }

  /** It stays where clients can find it: they wait for it, and it does not know that time has passed. */
  private async freeze(slot: number, ms: number): Promise<void> {
    const process = this.processes[slot]!;
    this.freezes += 1;
    process.signal('SIGSTOP');
    await pause(ms);
    process.signal('SIGCONT');
  }

  /** A start that finds no database ends with the reason, and is repeated, as an orchestrator does it. */
  private async started(slot: number): Promise<ChaosProcess> {
    for (;;) {
      try {
        return await ChaosProcess.start(this.places[slot]!);
      } catch (error) {
        if (!/Database 'default' cannot be used at/.test(String(error))) throw error;
      }
    }
  }

  private async startAt(slot: number): Promise<void> {
    this.processes[slot] = await this.started(slot);
    for (const wake of this.waiting) wake();
    this.waiting.clear();
  }
}

async function seen(sign: Sign): Promise<void> {
  const before = sign();
  for (const begun = Date.now(); sign() === before && Date.now() - begun < patienceMs; ) await pause(1);
}
