import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ChaosOptions, ChaosProcess, type Effect } from '../../support/chaos-process.js';
import type { Body } from '../../support/service.js';
import { until } from '../../support/until.js';
import { withRunsInside } from '../storm/run-bodies.js';

const entry = fileURLToPath(new URL('./yard.ts', import.meta.url));

/** A service with teams and workflows that is killed and started again on the same data. */
export class Place {
  private service: ChaosProcess | undefined;

  constructor(private readonly options: ChaosOptions) {}

  async start(): Promise<void> {
    this.service = await ChaosProcess.start({ ...this.options, entry, settings: { leaseMs: 1000 } });
  }

  async kill(): Promise<void> {
    await this.service!.kill();
  }

  get died(): Promise<unknown> {
    return this.service!.ended;
  }

  /** The runs of a team or a workflow. */
  runs(path: string): Runs {
    return new Runs(path, () => this.service!.url);
  }

  /** `hold`, `release`, `die` or `fail` and the name of something that leaves a trace. */
  order(order: 'hold' | 'release' | 'die' | 'fail', name: string): void {
    writeFileSync(join(this.options.folder.path, `${order}-${name}`), '');
  }

  effects(name?: string): Effect[] {
    return this.options.folder.effects(name);
  }

  /** The traces that a run and its nested runs left. */
  effectsOf(run: Body): Effect[] {
    const ids = new Set(withRunsInside(run).map(({ run_id }) => run_id));
    return this.effects().filter(({ idempotencyKey }) => ids.has(idempotencyKey.split(':')[0]));
  }

  /** How often each left its trace, by its name in its workflow. */
  counts(run: Body): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { name: traced } of this.effectsOf(run)) {
      const name = traced.replace(/^.*: /, '');
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  /** The keys under which something left its trace. */
  keys(run: Body, name: string): Set<string> {
    const effects = this.effectsOf(run).filter((effect) => effect.name === name);
    return new Set(effects.map(({ idempotencyKey }) => idempotencyKey));
  }

  /** Waits until something has begun for the so-and-so-manieth time. */
  async begun(name: string, times = 1): Promise<void> {
    await until(`${name} has begun ${times} times`, () => this.effects(name).length >= times);
  }
}

export class Runs {
  constructor(
    private readonly path: string,
    private readonly url: () => string,
  ) {}

  /** Begins a run that is stored when this is answered. */
  async start(): Promise<string> {
    const { run_id } = await this.send('', { message: 'Go', background: 'true' });
    return run_id;
  }

  async send(rest: string, form: Record<string, string> = {}): Promise<Body> {
    const body = new URLSearchParams(form);
    const response = await fetch(`${this.url()}/${this.path}/runs${rest}`, { method: 'POST', body });
    const answer = (await response.json()) as Body;
    if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async get(runId: string): Promise<Body> {
    return (await fetch(`${this.url()}/${this.path}/runs/${runId}`)).json();
  }

  /** Waits until what a test looks for is stored. */
  async stored(runId: string, what: string, look: (run: Body) => boolean): Promise<Body> {
    return until(`${what} is stored`, async () => {
      const run = await this.get(runId);
      return look(run) && run;
    });
  }

  async settled(runId: string): Promise<Body> {
    return this.stored(
      runId,
      `the end of ${runId}`,
      ({ status }) => !['pending', 'running'].includes(status),
    );
  }

  async continue(runId: string, form: Record<string, unknown>): Promise<void> {
    const fields = Object.entries(form).map(([name, value]) => [name, JSON.stringify(value)]);
    await this.send(`/${runId}/continue`, { ...Object.fromEntries(fields), background: 'true' });
  }
}

/** Begins a run of each, side by side. */
export async function startAll(place: Place, paths: readonly string[]): Promise<[Runs, string][]> {
  return Promise.all(
    paths.map(async (path): Promise<[Runs, string]> => {
      const runs = place.runs(path);
      return [runs, await runs.start()];
    }),
  );
}

/** How many events of this name were stored. */
export function count(run: Body, name: string): number {
  return run.events.filter(({ event }: Body) => event === name).length;
}
