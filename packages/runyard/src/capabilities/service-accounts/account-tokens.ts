import { errors, isReported, type RunyardError } from '../../core/errors/errors.js';
import type { Log } from '../../core/log.js';
import { FailedAttempts } from '../../platform/auth/failed-attempts.js';
import type { AccountIdentity, AccountTokens } from '../../platform/auth/identity.js';
import { RecentMap } from '../../platform/auth/recent-map.js';
import type { Database } from '../../platform/storage/database.js';
import { ServiceAccountStore, type StoredToken } from './store.js';
import { hashOfToken, isAccountToken } from './token.js';
import { TokenLookups } from './token-lookups.js';

export interface AccountTokensOptions {
  /** The service's own database. */
  readonly database: Database;
  /** For how long what was found is trusted; 0: it is looked up each time. */
  readonly cacheSeconds: number;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

interface CachedToken {
  readonly stored: StoredToken;
  readonly readAt: number;
}

const cachedTokens = 10_000;
const noteUseEveryMs = 60_000;

/** The user id that a service account acts under. */
export function principalOf(name: string): string {
  return `sa:${name}`;
}

/** Finds the account of a token, for one process. */
export class ServiceAccountTokens implements AccountTokens {
  readonly #store: ServiceAccountStore;
  readonly #lookups: TokenLookups;
  /** By the hash: the token itself is not kept even here. */
  readonly #cache = new RecentMap<CachedToken>(cachedTokens);
  readonly #usedAt = new RecentMap<number>(cachedTokens);
  readonly #failures: FailedAttempts;
  readonly #sayRevoked: ((accountId: string) => void) | undefined;
  readonly #now: () => number;
  readonly #cacheMs: number;
  readonly #log: Log;
  #revocations = 0;

  constructor({ database, cacheSeconds, log, now = Date.now }: AccountTokensOptions) {
    this.#store = new ServiceAccountStore(database);
    const { shared } = database;
    this.#failures = new FailedAttempts(undefined, { name: 'wrong account tokens', counts: shared?.counts });
    this.#sayRevoked = shared?.channel('revoked-accounts', (accountId) => this.#forgetHere(accountId));
    this.#lookups = new TokenLookups((hashes) => this.#store.findTokens(hashes));
    this.#cacheMs = cacheSeconds * 1000;
    this.#log = log;
    this.#now = now;
  }

  /**
   * The identity of a token. Throws 401 for one that is unknown, revoked or expired, 429 instead for an address that
   * sent too many of those, and 503 when it cannot be looked up. Every token is checked first, however many wrong
   * ones came from the same address: a valid one is never refused because of others behind the same proxy.
   */
  async verify(token: string, clientAddress: string): Promise<AccountIdentity> {
    const stored = isAccountToken(token) ? await this.#find(hashOfToken(token)) : undefined;
    const now = this.#now();
    // also of what was cached: it may have ended since
    if (stored === undefined || (stored.expiresAt !== null && stored.expiresAt <= now))
      throw this.#refusal(clientAddress, now);
    this.#noteUse(stored, now);
    return identityOf(stored);
  }

  async find(accountId: string): Promise<AccountIdentity | undefined> {
    const stored = await this.#store.findActive(accountId);
    const isOver = stored?.expiresAt != null && stored.expiresAt <= this.#now();
    return stored === undefined || isOver ? undefined : identityOf(stored);
  }

  /** For an account that was revoked: this process trusts it no longer, and others that it can reach neither. */
  forget(accountId: string): void {
    this.#forgetHere(accountId);
    this.#sayRevoked?.(accountId);
  }

  #forgetHere(accountId: string): void {
    this.#revocations += 1;
    this.#cache.deleteWhere(({ stored }) => stored.accountId === accountId);
  }

  async #find(hash: string): Promise<StoredToken | undefined> {
    const readAt = this.#now();
    const cached = this.#cache.get(hash);
    // a clock that was set back must not make the time longer
    if (cached && readAt >= cached.readAt && readAt - cached.readAt < this.#cacheMs) return cached.stored;
    const revocations = this.#revocations;
    const stored = await this.#lookUp(hash);
    if (stored === undefined) this.#cache.delete(hash);
    // what was revoked while it was read must not be trusted any longer than this once
    else if (this.#cacheMs > 0 && revocations === this.#revocations)
      this.#cache.set(hash, { stored, readAt });
    return stored;
  }

  async #lookUp(hash: string): Promise<StoredToken | undefined> {
    try {
      return await this.#lookups.lookUp(hash);
    } catch (error) {
      throw errors.authenticationUnavailable(error);
    }
  }

  #refusal(address: string, now: number): RunyardError {
    const limited = this.#failures.note(address, now);
    if (limited === undefined) return errors.invalidAccountToken();
    if (limited.begins)
      this.#log.warn({ address }, 'too many wrong tokens of service accounts from one address');
    return errors.tooManyFailedAttempts(Math.ceil(limited.retryAfterMs / 1000));
  }

  /** At most once a minute, and beside the request, which neither waits for it nor fails with it. */
  #noteUse({ accountId, lastUsedAt }: StoredToken, now: number): void {
    const notedAt = Math.max(this.#usedAt.get(accountId) ?? 0, lastUsedAt ?? 0);
    if (now - notedAt < noteUseEveryMs) return;
    this.#usedAt.set(accountId, now);
    this.#store.noteUse(accountId, now, now - noteUseEveryMs).catch((error: unknown) => {
      if (!isReported(error))
        this.#log.warn({ err: error }, 'the last use of a service account could not be stored');
    });
  }
}

function identityOf({ accountId, name, userId: madeBy, scopes, expiresAt }: StoredToken): AccountIdentity {
  return { accountId, principal: principalOf(name), madeBy, scopes, expiresAt };
}
