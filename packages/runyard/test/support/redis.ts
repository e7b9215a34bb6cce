import { onTestFinished } from 'vitest';
import { type Log, silentLog } from '../../src/core/log.js';
import { RedisConnection } from '../../src/platform/engine/redis/connection.js';

export function redisServer(): string {
  const server = process.env.RUNYARD_TEST_REDIS_URL;
  if (!server) throw new Error('No Redis to test on: run through npm test, or set RUNYARD_TEST_REDIS_URL');
  return server;
}

/** A connection that ends with the test. */
export async function openRedis(url = redisServer(), log: Log = silentLog): Promise<RedisConnection> {
  const connection = await RedisConnection.open(url, log);
  onTestFinished(() => connection.close());
  return connection;
}
