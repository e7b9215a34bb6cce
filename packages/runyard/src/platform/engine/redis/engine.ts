import type { Log } from '../../../core/log.js';
import type { EventRelay } from '../../../core/runs/events/event-relay.js';
import type { RunNotifications } from '../../../core/runs/notifications/run-notifications.js';
import type { SharedParts } from '../../net/shared-parts.js';
import { RedisConnection } from './connection.js';
import { RedisModelTurns } from './model-turns.js';
import { RedisNotifications } from './notifications.js';
import { RedisRelay } from './relay.js';
import { RedisSharedCounts } from './shared-counts.js';
import { RedisSpace } from './space.js';
import { RedisWakeUps } from './wake-ups.js';

/** What the processes of one database have in common through Redis. */
export interface RedisEngine {
  readonly space: RedisSpace;
  readonly notifications: RunNotifications;
  readonly relay: EventRelay;
  readonly shared: SharedParts;
  close(): void;
}

/** `identity` is that of the database, and `hints` is the way of hints that works without Redis. */
export async function openRedisEngine(options: {
  readonly url: string;
  readonly identity: string;
  readonly hints: RunNotifications;
  readonly log: Log;
}): Promise<RedisEngine> {
  const space = new RedisSpace(await RedisConnection.open(options.url, options.log), options.identity);
  const notifications = new RedisNotifications(space, options.hints);
  return {
    space,
    notifications,
    relay: new RedisRelay(space, notifications),
    shared: sharedThrough(space),
    close() {
      notifications.close();
      space.connection.close();
    },
  };
}

export function sharedThrough(space: RedisSpace): SharedParts {
  return {
    counts: new RedisSharedCounts(space),
    wakeUps: new RedisWakeUps(space),
    modelTurns: (timers) => new RedisModelTurns(space, timers),
    channel: (place, listener) => space.channel(place, listener),
  };
}
