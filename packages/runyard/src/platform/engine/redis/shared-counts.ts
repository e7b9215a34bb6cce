import type { Allowance } from '../../../core/allowance.js';
import type { SharedCounts } from '../../net/shared-counts.js';
import { RedisAllowances } from './allowances.js';
import type { RedisSpace } from './space.js';

/** So many keys are reported at once; what is beyond counts in its process alone. */
const mostReports = 1_000;

/** What processes count together, over Redis. A key that is being reported collects what comes meanwhile. */
export class RedisSharedCounts implements SharedCounts {
  readonly #allowances: RedisAllowances;
  readonly #reports = new Map<string, { more: number }>();

  constructor(space: RedisSpace) {
    this.#allowances = new RedisAllowances(space);
  }

  add(key: readonly string[], allowance: Allowance, exceeded: (waitMs: number) => void): void {
    const name = JSON.stringify(key);
    const reported = this.#reports.get(name);
    if (reported !== undefined) reported.more += 1;
    else if (this.#allowances.isReachable && this.#reports.size < mostReports)
      void this.#report(name, key, allowance, exceeded);
  }

  async #report(
    name: string,
    key: readonly string[],
    allowance: Allowance,
    exceeded: (waitMs: number) => void,
  ): Promise<void> {
    const report = { more: 1 };
    this.#reports.set(name, report);
    try {
      while (report.more > 0) {
        const amount = report.more;
        report.more = 0;
        const waitMs = await this.#allowances.count({ key: ['count', ...key], allowance, amount });
        if (waitMs > 0) exceeded(waitMs);
      }
    } catch {
      // what this process has counted holds
    } finally {
      this.#reports.delete(name);
    }
  }
}
