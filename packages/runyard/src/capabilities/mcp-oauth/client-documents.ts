import { errors, RunyardError } from '../../core/errors/errors.js';
import { FailedAttempts } from '../../platform/auth/failed-attempts.js';
import { RecentMap } from '../../platform/auth/recent-map.js';
import { fetchContent } from '../../platform/net/fetch-content.js';
import { documentClient } from './clients.js';
import type { FetchDocument, OauthClient } from './schema.js';

const longestUrl = 200;
const maxBytes = 16_384;
const timeoutMs = 5_000;
const keptMs = 300_000;
const keptDocuments = 500;
/** Anyone can have us fetch: so many at once, in each process, and so many within a minute for one address. */
const mostAtOnce = 8;
const fetchesOfAddress = 30;

/** The fetch of a service: public addresses only, no redirects, bounded in size and time. */
export function documentFetch(allowedHosts: readonly string[]): FetchDocument {
  return (url) => fetchContent(url, { allowedHosts, maxBytes, timeoutMs, maximumRedirects: 0 });
}

/** Whether a client id is the address of a metadata document. */
export function isDocumentId(clientId: string): boolean {
  return /^https:\/\//i.test(clientId);
}

/** What is wrong with an address as an id: it has to be one text for one address. */
function idFault(clientId: string): string | undefined {
  if (clientId.length > longestUrl) return `has more than ${longestUrl} characters`;
  if (!/^[!-~]+$/.test(clientId) || !URL.canParse(clientId)) return 'is not a URL';
  const url = new URL(clientId);
  if (url.username !== '' || url.password !== '') return 'has a user name or a password';
  if (url.pathname === '/') return 'has no path';
  return url.href === clientId && !clientId.includes('#') ? undefined : 'is not in its normal form';
}

interface Kept<Value> {
  readonly value: Value;
  readonly until: number;
}

/** Finds clients whose metadata is a document on the web (client ID metadata documents), and their public keys. */
export class ClientDocuments {
  readonly #kept = new RecentMap<Kept<unknown>>(keptDocuments);
  readonly #pending = new Map<string, Promise<unknown>>();
  readonly #fetches = new FailedAttempts(fetchesOfAddress);

  constructor(private readonly fetchDocument: FetchDocument) {}

  /** Throws `invalid_client` when there is no such client. */
  async find(clientId: string, clientAddress: string): Promise<OauthClient> {
    const fault = idFault(clientId);
    if (fault !== undefined) throw errors.oauth('invalid_client', `The client_id ${fault}.`);
    return documentClient(clientId, await this.#json(clientId, 'client_id', clientAddress));
  }

  /** The key set at an address of a metadata document. */
  async keysAt(url: string, clientAddress: string): Promise<unknown> {
    if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
      throw errors.oauth('invalid_client', 'The jwks_uri of the client is not an https: URL.');
    return this.#json(url, 'jwks_uri', clientAddress);
  }

  async #json(url: string, what: string, clientAddress: string): Promise<unknown> {
    const kept = this.#kept.get(url);
    if (kept !== undefined && kept.until > performance.now()) return kept.value;
    const known = this.#pending.get(url);
    if (known !== undefined) return known;
    const limited = this.#fetches.note(clientAddress, Date.now());
    if (limited !== undefined || this.#pending.size >= mostAtOnce)
      throw errors.oauthLimited(
        'Too many documents of clients are being fetched. Try again later.',
        Math.ceil((limited?.retryAfterMs ?? 5_000) / 1000),
      );
    const fetching = this.#fetch(url, what).finally(() => this.#pending.delete(url));
    this.#pending.set(url, fetching);
    const value = await fetching;
    this.#kept.set(url, { value, until: performance.now() + keptMs });
    return value;
  }

  async #fetch(url: string, what: string): Promise<unknown> {
    try {
      const { bytes, contentType } = await this.fetchDocument(url);
      if (contentType !== 'application/json' && !contentType?.endsWith('+json'))
        throw errors.oauth('invalid_client', `The document at the ${what} is not JSON.`);
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    } catch (error) {
      if (error instanceof RunyardError) throw error;
      // what the network said is for no stranger
      throw errors.oauth('invalid_client', `The document at the ${what} could not be fetched.`);
    }
  }
}
