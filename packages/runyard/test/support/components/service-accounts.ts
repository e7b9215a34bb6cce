import { ServiceAccountTokens } from '../../../src/capabilities/service-accounts/account-tokens.js';
import {
  type GivenAccount,
  type Minter,
  ServiceAccountsService,
} from '../../../src/capabilities/service-accounts/service.js';
import { RunyardError } from '../../../src/core/errors/errors.js';
import { Rights } from '../../../src/platform/auth/rights.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { type LogLine, recordingLog } from '../clients/http-server.js';

export const adminScope = 'agent_os:admin';

/** A caller who holds these scopes. */
export function holding(...scopes: string[]): Minter {
  const rights = new Rights(scopes, { adminScope, enforced: true });
  return { userId: 'ada', scope: { kind: 'all' }, rights, proven: true };
}

/** The holder of the security key: without a name, and not held to scopes. */
export const keyHolder: Minter = {
  userId: null,
  scope: { kind: 'all' },
  rights: Rights.unlimited,
  proven: true,
};

export const anonymous: Minter = { ...keyHolder, proven: false };

export function anAccount(given: Partial<GivenAccount> = {}): GivenAccount {
  return { name: 'ci-bot', scopes: null, expiresInDays: 90, allowPrivilegedScopes: false, ...given };
}

/** What one process has of service accounts. Its clock is frozen until the test moves it. */
export class AccountsProcess {
  readonly logged: LogLine[] = [];
  readonly tokens: ServiceAccountTokens;
  readonly accounts: ServiceAccountsService;
  private time = Date.now();

  constructor(database: Database, cacheSeconds = 30) {
    const log = recordingLog(this.logged);
    this.tokens = new ServiceAccountTokens({ database, cacheSeconds, log, now: () => this.time });
    this.accounts = new ServiceAccountsService({ database, tokens: this.tokens, adminScope });
  }

  advance(milliseconds: number): void {
    this.time += milliseconds;
  }

  /** The outcome of a token: the principal, or the status and the text of the refusal. */
  async outcome(token: string, address = '203.0.113.7'): Promise<string> {
    try {
      return (await this.tokens.verify(token, address)).principal;
    } catch (error) {
      if (error instanceof RunyardError) return `${error.status} ${error.message}`;
      throw error;
    }
  }
}
