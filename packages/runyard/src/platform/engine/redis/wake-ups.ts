import { randomUUID } from 'node:crypto';
import type { WakeUps } from '../../../core/runs/notifications/wake-ups.js';
import type { RedisSpace } from './space.js';

/** All who heard of the run have asked by then; a run that is queued again is asked for anew. */
const askedMs = 250;

/** The first process that asks for a run is chosen. */
export class RedisWakeUps implements WakeUps {
  readonly #process = randomUUID();

  constructor(private readonly space: RedisSpace) {}

  async isChosen(runId: string): Promise<boolean> {
    const { connection } = this.space;
    if (!connection.isReachable) return true;
    try {
      const key = this.space.name('woken', runId);
      return (await connection.client.set(key, this.#process, 'PX', askedMs, 'NX')) === 'OK';
    } catch {
      // without Redis all look
      return true;
    }
  }
}
