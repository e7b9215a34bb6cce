/** The forms of URL that are understood. */
export const redisUrlForms =
  'redis://host:6379, redis://:password@host:6379/0 or rediss://user:password@host:6379/0 (over TLS), with special characters percent-encoded';

/** Where a Redis is, and how to get in. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly db: number;
  readonly tls: boolean;
  /** Server and database, and nothing else of the URL: it may hold a password. */
  readonly location: string;
}

const defaultPort = 6379;

/** What a URL names; undefined where it cannot be read, or has parts that would be ignored. */
export function redisAddress(text: string): RedisAddress | undefined {
  try {
    const url = new URL(text);
    const database = /^(?:\/(\d{1,5})?)?$/.exec(url.pathname);
    const isKnown = url.protocol === 'redis:' || url.protocol === 'rediss:';
    if (!isKnown || url.hostname === '' || database === null || url.search !== '' || url.hash !== '')
      return undefined;
    const port = Number(url.port || defaultPort);
    const db = Number(database[1] ?? 0);
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port,
      ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
      ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
      db,
      tls: url.protocol === 'rediss:',
      location: `${url.protocol}//${url.hostname}:${port}/${db}`,
    };
  } catch {
    return undefined;
  }
}
