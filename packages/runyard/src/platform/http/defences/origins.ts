import type { IncomingMessage } from 'node:http';
import { errors, type RunyardError } from '../../../core/errors/errors.js';
import type { Log } from '../../../core/log.js';
import { LoggedOnce, longestShown } from '../logged-once.js';
import { calledHost } from '../request/called-address.js';
import type { ClientAddresses } from './client-address.js';
import { isOnLoopback } from './hosts.js';

/** Where the development servers of the usual tools put their pages. */
const developmentPorts = [3000, 3001, 4173, 4200, 4321, 5000, 5173, 5174, 8000, 8080];

const developmentOrigins: ReadonlySet<string> = new Set(
  developmentPorts.flatMap((port) => [`http://localhost:${port}`, `http://127.0.0.1:${port}`]),
);

/** The one that is allowed wherever the service listens, as clients of this interface expect. */
const usualOrigin: ReadonlySet<string> = new Set(['http://localhost:3000']);

const refused = 'pages of this origin are refused; add it to the setting corsOrigins to let them call';

/** Knows which pages may call: those of the service itself, and those of the origins that are allowed. */
export class Origins {
  readonly #named: ReadonlySet<string> | undefined;
  readonly #refused: LoggedOnce;

  /** Left out, `corsOrigins` are those of development servers; beyond the loopback address only the usual one. */
  constructor(
    corsOrigins: readonly string[] | undefined,
    private readonly addresses: ClientAddresses,
    log: Log,
  ) {
    this.#refused = new LoggedOnce(log, 'origin', refused);
    this.#named = corsOrigins && new Set(corsOrigins.flatMap(asBrowsersWrite));
  }

  /** Whether the origin is one of those that may call, and read the answers. */
  allows(origin: string, request: IncomingMessage): boolean {
    const allowed = this.#named ?? (isOnLoopback(request.socket) ? developmentOrigins : usualOrigin);
    if (allowed.has(origin)) return true;
    if (!this.#isOwnPage(origin, request)) this.#refused.note(origin);
    return false;
  }

  /**
   * Why a request that may change something is refused: any page can have its visitor's browser send one. Programs
   * send none of these headers. What a browser says of the site counts before what the headers look like: it knows
   * more, and a proxy may have changed `Host`.
   */
  refusalOf(request: IncomingMessage): RunyardError | undefined {
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (origin === undefined) {
      return site === undefined || isOwnSite(site) ? undefined : errors.originRefused('another site');
    }
    if (this.#isOwnPage(origin, request) || this.allows(origin, request)) return undefined;
    return errors.originRefused(origin.slice(0, longestShown));
  }

  #isOwnPage(origin: string, request: IncomingMessage): boolean {
    const site = request.headers['sec-fetch-site'];
    return site === undefined ? this.#isOwnHost(origin, request) : isOwnSite(site);
  }

  #isOwnHost(origin: string, request: IncomingMessage): boolean {
    if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
    const { host, protocol } = new URL(origin);
    const called = `${protocol}//${calledHost(request, this.addresses)}`;
    return URL.canParse(called) && new URL(called).host === host;
  }
}

/** `none`: the user typed the address, or opened a bookmark. */
function isOwnSite(site: string | string[]): boolean {
  return site === 'same-origin' || site === 'none';
}

/** In lower case and without the usual port. What is no origin, `*` and `null` among it, is that of no page. */
function asBrowsersWrite(origin: string): string[] {
  if (!origin.includes('://')) return [];
  // of an application with a scheme of its own a URL says that it has no origin; its page says more
  if (!/^https?:/i.test(origin)) return [origin.toLowerCase()];
  return URL.canParse(origin) ? [new URL(origin).origin] : [];
}
