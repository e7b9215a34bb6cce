import { errors, type RunyardError } from '../../core/errors/errors.js';
import { anonymousCaller, type Caller } from '../../platform/auth/caller.js';
import { type Identities, type Identity, isRefusedToken } from '../../platform/auth/identity.js';

/** What is asked of those who know tokens. */
export type SocketIdentities = Pick<Identities, 'mode' | 'of'>;

/** A timer cannot wait longer. */
const longestTimerMs = 2 ** 31 - 1;

/** The caller of a connection. A token is checked again for every action, and ends here when it ends. */
export class SocketCaller {
  #token: string | null = null;
  #caller: Caller | null;
  #fault: RunyardError | null = null;
  #expiry: NodeJS.Timeout | undefined;
  #left = false;

  constructor(
    private readonly identities: SocketIdentities,
    private readonly clientAddress: string,
    /** Called at the moment at which the token ends. */
    private readonly onExpiry: () => void,
  ) {
    this.#caller = identities.mode === 'none' ? anonymousCaller : null;
  }

  /** As of the last check; null: no caller. */
  get current(): Caller | null {
    return this.#caller;
  }

  /** Why the token is no longer valid; null without a token, or when it is valid. */
  get fault(): RunyardError | null {
    return this.#fault;
  }

  /** Whether it has a token that can be withdrawn. */
  get hasToken(): boolean {
    return this.#token !== null;
  }

  /** Takes the token from now on. Throws for one that proves nothing: the one before then stays. */
  async present(token: string): Promise<Identity | null> {
    const identity = await this.#presented(token);
    this.#token = identity === null ? null : token;
    this.#accept(identity?.caller ?? anonymousCaller, identity?.expiresAt ?? null);
    return identity;
  }

  /** Who speaks now; null when no caller is known. Throws when that cannot be looked up at the moment. */
  async caller(): Promise<Caller | null> {
    const token = this.#token;
    if (token === null) return this.#caller;
    try {
      const { caller, expiresAt } = await this.identities.of(token, this.clientAddress);
      // another one may have been sent while this one was checked
      if (this.#token === token) this.#accept(caller, expiresAt);
    } catch (error) {
      if (!isRefusedToken(error)) throw error;
      if (this.#token === token) this.#forget(error);
    }
    return this.#caller;
  }

  leave(): void {
    this.#left = true;
    clearTimeout(this.#expiry);
  }

  /** A service without authorization takes any token; it looks only at those of service accounts. */
  async #presented(token: string): Promise<Identity | null> {
    try {
      return await this.identities.of(token, this.clientAddress);
    } catch (error) {
      if (this.identities.mode === 'none' && isRefusedToken(error)) return null;
      throw error;
    }
  }

  #accept(caller: Caller, expiresAt: number | null): void {
    this.#caller = caller;
    this.#fault = null;
    this.#expireAt(expiresAt);
  }

  /** Also where no token is needed: a caller never continues under another name without having asked for it. */
  #forget(fault: RunyardError): void {
    clearTimeout(this.#expiry);
    this.#token = null;
    this.#caller = null;
    this.#fault = fault;
  }

  #expireAt(time: number | null): void {
    clearTimeout(this.#expiry);
    if (time === null || this.#left) return;
    const left = time - Date.now();
    this.#expiry = setTimeout(
      () => (left > longestTimerMs ? this.#expireAt(time) : this.#expire()),
      Math.min(Math.max(left, 0), longestTimerMs),
    ).unref();
  }

  #expire(): void {
    this.#forget(errors.tokenExpired());
    this.onExpiry();
  }
}
