import type { ModelTurns } from '../../../core/models/pace/model-turns.js';
import type { WakeUps } from '../../../core/runs/notifications/wake-ups.js';
import type { Timers } from '../../../core/timers.js';
import type { SharedCounts } from '../../net/shared-counts.js';
import type { RedisConnection } from './connection.js';
import { RedisModelTurns } from './model-turns.js';
import { RedisSharedCounts } from './shared-counts.js';
import { RedisWakeUps } from './wake-ups.js';

/**
 * Redis as the processes of one database use it. All names of keys and channels begin with what identifies the
 * database: services with other databases may use the same Redis.
 */
export class RedisSpace {
  private readonly prefix: string;
  /** What its processes count together. */
  readonly counts: SharedCounts = new RedisSharedCounts(this);
  readonly wakeUps: WakeUps = new RedisWakeUps(this);

  constructor(
    readonly connection: RedisConnection,
    identity: string,
  ) {
    // the braces keep the keys of a database together where keys are spread
    this.prefix = `runyard:{${identity}}`;
  }

  /** The turns of the models that its processes call. */
  modelTurns(timers: Timers): ModelTurns {
    return new RedisModelTurns(this, timers);
  }

  /**
   * Begins to hear what any of the processes says in this place, the own one included. The returned function says
   * something; it never throws, and while Redis is away nobody hears it.
   */
  channel(place: string, hears: (message: string) => void): (message: string) => void {
    const { connection } = this;
    connection.listen(this.name(place), hears);
    return (message) => {
      if (connection.isReachable) connection.client.publish(this.name(place), message).catch(() => {});
    };
  }

  /** The name of a key or channel. */
  name(...parts: readonly string[]): string {
    return [this.prefix, ...parts].join(':');
  }
}
