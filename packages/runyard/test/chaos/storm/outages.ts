import { pause, type Random } from './random.js';

/** A fault of a server that the processes use, or of the way to it. */
export interface Outage {
  begin(): unknown;
  end(): unknown;
  /** How long it lasts, in milliseconds. */
  readonly lasts: readonly [number, number];
}

/** Milliseconds between two faults. */
const calm = [200, 1500] as const;

/** Lets one fault follow the other. In the end all servers are there. */
export class Outages {
  count = 0;
  private readonly random: Random;

  constructor(
    private readonly outages: readonly Outage[],
    random: Random,
  ) {
    this.random = random.fork();
  }

  async storm(until: number): Promise<void> {
    if (this.outages.length === 0) return;
    for (;;) {
      await pause(this.random.between(...calm));
      if (Date.now() > until) return;
      const outage = this.random.pick(this.outages);
      this.count += 1;
      await outage.begin();
      await pause(this.random.between(...outage.lasts));
      await outage.end();
    }
  }
}
