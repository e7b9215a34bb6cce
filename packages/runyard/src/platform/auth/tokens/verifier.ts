import { errors, RunyardError } from '../../../core/errors/errors.js';
import type { Log } from '../../../core/log.js';
import { checkClaims, describeClaims, type VerifiedToken } from './claims.js';
import { jwksFileLoader } from './jwks-file.js';
import { jwksUrlLoader } from './jwks-url.js';
import type { VerificationKey } from './keys.js';
import { ReloadingKeys, type ReloadingKeysOptions } from './reloading-keys.js';
import type { TokenSettings } from './settings.js';
import { readStaticKeys, type StaticKeys } from './static-keys.js';
import { checkLength, readClaims, readHeader, type TokenHeader, unverifiedPayload } from './token-text.js';
import { VerifiedTokens } from './verified-tokens.js';

export type { VerifiedToken } from './claims.js';
export type { TokenSettings } from './settings.js';

export interface TokenVerifierOptions {
  readonly log: Log;
  readonly now?: () => number;
  /** Whom tokens must be meant for, when the audience is checked and not named. */
  readonly serviceId: string;
}

/** How long an issuer may take for its keys, how often it is asked at most, and after how long again. */
const issuer = { timeoutMs: 5000, restMs: 10_000, maximumAgeMs: 300_000 };
const file = { restMs: 1000, maximumAgeMs: 30_000 };

/** Checks the tokens of callers. */
export class TokenVerifier {
  readonly #now: () => number;
  readonly #verified: VerifiedTokens;
  readonly #audiences: readonly string[];
  readonly #published: ReloadingKeys[] = [];
  #static: StaticKeys = { keys: [], algorithms: new Set() };

  constructor(
    private readonly settings: TokenSettings,
    private readonly options: TokenVerifierOptions,
  ) {
    this.#now = options.now ?? Date.now;
    this.#verified = new VerifiedTokens(this.#now);
    const named = settings.jwtAudience;
    this.#audiences = named.length === 0 && settings.jwtVerifyAudience ? [options.serviceId] : named;
  }

  /** Reads the keys. One that cannot be used refuses the start; an issuer is only asked when a token comes. */
  async open(): Promise<void> {
    const { jwksFile, jwksUrl, jwtValidate } = this.settings;
    this.#published.length = 0;
    this.#verified.clear();
    if (!jwtValidate) {
      this.options.log.warn(
        {},
        'Tokens are not verified (jwtValidate is false): only a gateway may reach this port',
      );
      return;
    }
    this.#static = readStaticKeys(this.settings);
    const { algorithms } = this.#static;
    if (jwksFile !== undefined) {
      const keys = this.#reloading('jwksFile', jwksFileLoader(jwksFile, algorithms), file);
      await keys.open();
    }
    if (jwksUrl !== undefined) {
      this.#warnOfPlainHttp(jwksUrl);
      this.#warnOfOtherAudiences();
      const load = jwksUrlLoader(jwksUrl, { algorithms, timeoutMs: issuer.timeoutMs });
      this.#reloading('jwksUrl', load, issuer);
    }
  }

  /** What a token proves. Throws 401 with the contract's texts, or 503 while there is nothing to check it with. */
  async verify(token: string): Promise<VerifiedToken> {
    checkLength(token);
    if (!this.settings.jwtValidate) return this.#unverified(token);
    const key = this.#verified.key(token);
    const known = this.#verified.get(key);
    if (known !== undefined) return known;
    const header = readHeader(token);
    const { generation } = this.#verified;
    const payload = await this.#checkSignature(token, header);
    const verified = checkClaims(readClaims(payload), this.settings, this.#audiences, this.#now());
    this.#verified.add(key, verified, generation);
    return verified;
  }

  /** A token that cannot be read passes as one that says nothing. */
  #unverified(token: string): VerifiedToken {
    let claims = {};
    try {
      readHeader(token);
      claims = readClaims(unverifiedPayload(token));
    } catch (error) {
      if (!(error instanceof RunyardError)) throw error;
    }
    return describeClaims(claims, this.settings);
  }

  /** The payload, once one of the keys that the token may be signed with says that it is. */
  async #checkSignature(token: string, header: TokenHeader): Promise<Uint8Array> {
    const algorithm = [...this.#static.algorithms].find((allowed) => allowed === header.algorithm);
    if (algorithm === undefined) throw errors.invalidToken('The specified alg value is not allowed');
    const { keys, unavailable } = await this.#keysFor(header.keyId);
    const fitting = keys.filter((key) => key.algorithms.has(algorithm));
    // loaded with the first token: a service that starts has nothing to check
    const { signedPayload } = await import('./signature.js');
    for (const key of fitting) {
      const payload = await signedPayload(token, key, algorithm);
      if (payload !== undefined) return payload;
    }
    // the right key may be one that cannot be had at the moment: the token is not refused for that
    if (unavailable !== undefined) throw unavailable;
    if (keys.length === 0) throw errors.invalidToken('No verification keys configured');
    if (fitting.length === 0) throw errors.invalidToken('The specified alg value is not allowed');
    throw errors.invalidToken('Signature verification failed');
  }

  /** Published keys come first, then those of the settings in their order. */
  async #keysFor(keyId: string | null): Promise<{ keys: VerificationKey[]; unavailable?: RunyardError }> {
    const keys: VerificationKey[] = [];
    let unavailable: RunyardError | undefined;
    for (const published of this.#published) {
      const current = await published.holding(keyId);
      if (current === undefined) unavailable = errors.authenticationUnavailable();
      else keys.push(...current.find(keyId));
    }
    return { keys: [...keys, ...this.#static.keys], unavailable };
  }

  #reloading(
    label: string,
    load: ReloadingKeysOptions['load'],
    times: Pick<ReloadingKeysOptions, 'restMs' | 'maximumAgeMs'>,
  ): ReloadingKeys {
    const { restMs, maximumAgeMs } = times;
    const keys = new ReloadingKeys({
      load,
      label,
      log: this.options.log,
      now: this.#now,
      restMs,
      maximumAgeMs,
      onChange: () => this.#verified.clear(),
    });
    this.#published.push(keys);
    return keys;
  }

  #warnOfOtherAudiences(): void {
    if (this.#audiences.length > 0) return;
    this.options.log.warn(
      {},
      'The service also accepts tokens that the issuer of jwksUrl issues for other services. Set jwtAudience',
    );
  }

  #warnOfPlainHttp(url: string): void {
    const { protocol, hostname } = new URL(url);
    if (protocol === 'https:' || /^(localhost|127\..*|\[::1\])$/.test(hostname)) return;
    this.options.log.warn(
      {},
      'jwksUrl is fetched without TLS: an attacker on the network can sign tokens. Use https',
    );
  }
}
