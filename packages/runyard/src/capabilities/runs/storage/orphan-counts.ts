import { z } from 'zod';
import { isReported } from '../../../core/errors/errors.js';
import type { Log } from '../../../core/log.js';
import { componentKey } from '../../../core/runs/resume/ending-executable.js';
import type { RunKind } from '../../../core/runs/run.js';
import { lazySchema } from '../../../core/schemas/lazy-schema.js';
import type { Timers } from '../../../core/timers.js';
import type { Caller } from '../../../platform/auth/caller.js';
import type { Spaces } from '../../capability.js';
import type { ComponentsService } from '../../components/service.js';
import type { WaitingRuns } from './orphan-store.js';

/** However often clients ask, the databases are read once in this time. */
const keptMs = 5_000;

/** What `/info` says about them. */
export const orphanedRuns = lazySchema(
  () =>
    z
      .object({
        count: z.int(),
        components: z.array(
          z.object({
            type: z.enum(['agent', 'team', 'workflow']),
            id: z.string(),
            count: z.int().meta({ description: 'At most 10,000 of each status are counted.' }),
          }),
        ),
      })
      .optional(),
  {
    description:
      'Runs that no process executes and whose component is not registered in this process. Only for callers who see ' +
      'the runs of all users.',
    'x-addition': true,
  },
);

type Counts = readonly WaitingRuns[] | undefined;

/** Counts the runs whose component is not registered, over all databases. */
export class OrphanCounts {
  private counted: { readonly at: number; readonly counts: Promise<Counts> } | undefined;

  constructor(
    private readonly spaces: Spaces,
    private readonly components: ComponentsService,
    private readonly options: { readonly timers: Timers; readonly log: Log },
  ) {}

  /** For a caller who sees the runs of all users, of those components that they may see or run. */
  async shownTo({ scope, rights }: Caller): Promise<z.output<typeof orphanedRuns>> {
    if (scope.kind !== 'all') return undefined;
    const counts = await this.counts();
    if (counts === undefined) return undefined;
    const components = counts.filter(({ kind, componentId }) =>
      ['read', 'run'].some((action) => rights.may(`${kind}s:${action}`, componentId)),
    );
    return {
      count: components.reduce((sum, { count }) => sum + count, 0),
      components: components.map(({ kind, componentId, count }) => ({ type: kind, id: componentId, count })),
    };
  }

  /** Undefined while a database cannot be read: it is unavailable, or waits for its migration. */
  private counts(): Promise<Counts> {
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
    const known = new Set(await this.components.keys());
    const isMissing = (kind: RunKind, id: string) => !known.has(componentKey(kind, id));
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
