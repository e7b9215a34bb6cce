import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';
import type { LogLine } from '../support/clients/http-server.js';
import type { TestService } from '../support/service.js';

/** What a service may hold more than before it was attacked. It is a bound against leaks, not a measurement. */
const mostGrowthBytes = 150 * 1024 * 1024;

/** What was asked for, and is worth a line in the log: failures, wrong tokens, files that are broken, a session that goes under its run. */
const askedFor =
  /was asked to fail|^Content could not be read$|^Failed to optimize memories|^too many wrong tokens|^the run is no longer executed here/;

/** Whether a service is as it was: it answers, runs go through, nothing is in its log and little in its memory. */
export class Health {
  private constructor(
    private readonly service: TestService,
    private readonly headers: Record<string, string>,
    private readonly heapBefore: number,
  ) {}

  /** Looks at a service that is well. The headers let a run in. */
  static async of(service: TestService, headers: Record<string, string>): Promise<Health> {
    const health = new Health(service, headers, usedHeap());
    await health.#expectRuns();
    return health;
  }

  async expectGood(): Promise<void> {
    const { logged } = this.service;
    const alarming = logged.filter(isAlarming);
    expect(
      alarming.slice(0, 10).map(({ level, message, fields }) => ({ level, message, ...fields })),
    ).toEqual([]);
    await this.#expectRuns();
    logged.length = 0;
    expect(usedHeap() - this.heapBefore).toBeLessThan(mostGrowthBytes);
  }

  async #expectRuns(): Promise<void> {
    const { service, headers } = this;
    expect((await service.get('/health')).body).toMatchObject({ status: 'ok' });
    const { status, body } = await service.run('plain', { message: 'Are you well?' }, { headers });
    expect({ status, run: body.status, content: body.content }).toEqual({
      status: 200,
      run: 'completed',
      content: 'You said: Are you well?',
    });
  }
}

function isAlarming({ level, message, fields }: LogLine): boolean {
  const cause = fields.err instanceof Error ? fields.err.message : '';
  return (level === 'error' || level === 'warn') && !askedFor.test(message) && !askedFor.test(cause);
}

/** What is in use after a garbage collection. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
