import pg from 'pg';
import { errors } from '../../../core/errors/errors.js';
import { heardWithin } from '../../net/heard-within.js';
import { troubleOf } from '../transient.js';

/** How long a server that is there may take to let us in and answer. */
const probeMs = 4_000;
/** After this long a probe that was given up ends its connection, answered or not. */
const forgottenMs = 60_000;

const several = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#@]*)([^#]*)$/;
const sessionAttributes = /[?&]target_session_attrs=([^&]*)/;
const accepted: ReadonlySet<string> = new Set(['any', 'primary', 'prefer-standby', 'read-write']);

/** A server that answered: its place among those of the URL. */
export interface FoundServer {
  readonly place: number;
  readonly isStandby: boolean;
}

/**
 * The servers that one URL names, such as `postgres://a:5432,b:5433/name`: a primary and its standbys. Connections lead to
 * the one that took writes when it was last looked for.
 */
export class Servers {
  readonly urls: readonly string[];
  /** For pools: a client of the server that is chosen when it connects. */
  readonly Client: typeof pg.Client;
  #chosen = 0;

  constructor(id: string, url: string) {
    this.urls = urlsOf(id, url);
    const chosen = () => this.url;
    this.Client = class extends pg.Client {
      constructor(config?: pg.ClientConfig) {
        super({ ...config, connectionString: chosen() });
      }
    };
  }

  get url(): string {
    return this.urls[this.#chosen] ?? '';
  }

  /** Servers and database, and nothing else of the URL: it may hold a password. */
  get location(): string {
    const [first] = this.urls;
    const { pathname, searchParams } = new URL(first ?? '');
    const hosts = this.urls.map((url) => {
      const { hostname, port } = new URL(url);
      const host = hostname || searchParams.get('host') || 'localhost';
      return `${host}:${port || searchParams.get('port') || '5432'}`;
    });
    return `postgres://${hosts.join(',')}${pathname}`;
  }

  /** Whether new connections lead elsewhere from now on. */
  choose({ place }: FoundServer): boolean {
    const isOther = place !== this.#chosen;
    this.#chosen = place;
    return isOther;
  }

  /**
   * Finds a server that takes writes, or one that answers when none does. Fails when none answers. Fresh connections
   * are asked: those at hand may lead to a server that no longer answers on them.
   */
  find(): Promise<FoundServer> {
    const asked = this.urls.map((url, place) => ask(url, place));
    return new Promise<FoundServer>((resolve, reject) => {
      // the first that takes writes: the others may take long to be found away
      for (const one of asked)
        one.then(
          (answer) => {
            if (!answer.isStandby) resolve(answer);
          },
          () => {},
        );
      void Promise.allSettled(asked).then((settled) => {
        const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
        const found = answers.find(({ place }) => place === this.#chosen) ?? answers[0];
        const failed = settled.find((one) => one.status === 'rejected');
        if (found !== undefined) resolve(found);
        else reject(failed?.reason);
      });
    });
  }
}

/** With several hosts, a URL cannot be read as one: each has a port. */
function urlsOf(id: string, url: string): readonly string[] {
  const [, scheme, login, hosts = '', rest = ''] = several.exec(url) ?? [];
  const unreadable = `Database '${id}' has a URL that cannot be read. Use postgres://user:password@host:port/database, with special characters percent-encoded.`;
  if (scheme === undefined) throw errors.invalidConfig(unreadable);
  const wanted = sessionAttributes.exec(rest)?.[1] ?? 'any';
  if (!accepted.has(wanted))
    throw errors.invalidConfig(
      `Database '${id}' has a URL with target_session_attrs=${wanted}. The service writes: use read-write, or leave it out.`,
    );
  const plain = rest.replace(sessionAttributes, (found) => (found.startsWith('?') ? '?' : ''));
  const all = hosts
    .split(',')
    .map((host) => `${scheme}${login}${host}${plain.replace(/\?&|\?$/, (end) => (end === '?&' ? '?' : ''))}`);
  if (!all.every((one) => URL.canParse(one))) throw errors.invalidConfig(unreadable);
  return all;
}

async function ask(url: string, place: number): Promise<FoundServer> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: forgottenMs,
    query_timeout: forgottenMs,
  });
  client.on('error', () => {});
  try {
    const { rows } = await heardWithin(
      probeMs,
      client
        .connect()
        .then(() =>
          client.query<{ standby: boolean }>(
            `SELECT current_setting('transaction_read_only') = 'on' AS standby`,
          ),
        ),
    );
    return { place, isStandby: rows[0]?.standby === true };
  } catch (error) {
    // it is there, and has others to serve
    if (troubleOf(error) !== 'busy') throw error;
    return { place, isStandby: false };
  } finally {
    void client.end().catch(() => {});
  }
}
