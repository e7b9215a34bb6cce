import type { RedisConnection } from './connection.js';

/**
 * Redis as the processes of one database use it. All names of keys and channels begin with what identifies the
 * database: services with other databases may use the same Redis.
 */
export class RedisSpace {
  private readonly prefix: string;

  constructor(
    readonly connection: RedisConnection,
    identity: string,
  ) {
    // the braces keep the keys of a database together where keys are spread
    this.prefix = `runyard:{${identity}}`;
  }

  /** `SharedParts.channel` */
  channel(place: string, listener: (message: string) => void): (message: string) => void {
    const { connection } = this;
    connection.listen(this.name(place), listener);
    return (message) => {
      if (connection.isReachable) connection.client.publish(this.name(place), message).catch(() => {});
    };
  }

  /** The name of a key or channel. */
  name(...parts: readonly string[]): string {
    return [this.prefix, ...parts].join(':');
  }
}
