import { isReported } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { RunKind } from '../../core/runs/run.js';
import type { Timers } from '../../core/timers.js';
import type { ComponentsService } from '../components/service.js';
import type { WaitingRuns } from './orphan-store.js';
import type { RunSpaces } from './run-spaces.js';

/** However often clients ask, the databases are read once in this time. */
const keptMs = 5_000;

type Counts = readonly WaitingRuns[] | undefined;

/** Counts the runs whose component is not registered, over all databases. */
export class OrphanCounts {
  private counted: { readonly at: number; readonly counts: Promise<Counts> } | undefined;

  constructor(
    private readonly spaces: RunSpaces,
    private readonly components: ComponentsService,
    private readonly options: { readonly timers: Timers; readonly log: Log },
  ) {}

  /** Undefined while a database cannot be read: it is away, or waits for its migration. */
  counts(): Promise<Counts> {
    const now = this.options.timers.now();
    if (this.counted === undefined || now - this.counted.at >= keptMs) {
      const counts = this.count().catch((error: unknown) => {
        if (!isReported(error))
          this.options.log.warn({ err: error }, 'runs of unregistered components could not be counted');
        return undefined;
      });
      this.counted = { at: now, counts };
    }
    return this.counted.counts;
  }

  private async count(): Promise<Counts> {
    const sums = new Map<string, WaitingRuns>();
    const isMissing = (kind: RunKind, id: string) => this.components.find(kind, id) === undefined;
    for (const { orphans } of await this.spaces.all()) {
      for (const counted of await orphans.counts(isMissing)) {
        const key = `${counted.kind} ${counted.componentId}`;
        const { count = 0 } = sums.get(key) ?? {};
        sums.set(key, { ...counted, count: count + counted.count });
      }
    }
    return [...sums.values()];
  }
}
