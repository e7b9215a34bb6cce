import { randomUUID } from 'node:crypto';
import { errors } from '../../core/errors/errors.js';
import type { Caller } from '../../platform/auth/caller.js';
import { accountPrefix, isServiceAccount } from '../../platform/auth/named-user.js';
import { personsBehind } from '../../platform/auth/persons.js';
import { type ListPage, offsetOf, type PageRequest } from '../../platform/http/request/pagination.js';
import type { Database } from '../../platform/storage/database.js';
import type { ServiceAccountTokens } from './account-tokens.js';
import { covers, defaultScopes, grantable, isPrivileged, isScope, showsEverybody } from './scopes.js';
import { type AccountQuery, type ServiceAccount, ServiceAccountStore, sortColumns } from './store.js';
import { newAccountToken } from './token.js';

export interface ServiceAccountsOptions {
  /** The service's own database. */
  readonly database: Database;
  /** Of this process: revocations are passed to it. */
  readonly tokens: ServiceAccountTokens;
  readonly adminScope: string;
}

/** Who makes an account. Whether a credential was checked counts: accounts cannot be made anonymously. */
export type Minter = Pick<Caller, 'userId' | 'madeBy' | 'scope' | 'rights' | 'proven'>;

/** An account to create. */
export interface GivenAccount {
  readonly name: string;
  /** Null: the usual ones. */
  readonly scopes: readonly string[] | null;
  /** Null: never. */
  readonly expiresInDays: number | null;
  readonly allowPrivilegedScopes: boolean;
}

export interface NewServiceAccount {
  readonly account: ServiceAccount;
  /** Shown only once. */
  readonly token: string;
}

export interface AccountListRequest extends PageRequest {
  readonly includeRevoked: boolean;
  /** The name of a column; any other means the time of creation. */
  readonly sortBy: string;
  /** `asc`; anything else means the other way round. */
  readonly sortOrder: string;
}

const dayMs = 86_400_000;

/** Identities of programs. */
export class ServiceAccountsService {
  private readonly store: ServiceAccountStore;

  constructor(private readonly options: ServiceAccountsOptions) {
    this.store = new ServiceAccountStore(options.database);
  }

  /** Creates an account that may do and see no more than its creator. */
  async create(minter: Minter, given: GivenAccount): Promise<NewServiceAccount> {
    const scopes = [...new Set(given.scopes ?? defaultScopes)];
    this.checkScopes(minter, scopes, given.allowPrivilegedScopes);
    // what an account makes belongs to the person behind it
    const owner = minter.madeBy ?? minter.userId;
    if (minter.scope.kind !== 'all') await this.refuseNameOfAnother(given.name, owner);
    const { token, hash, prefix } = newAccountToken();
    const now = Date.now();
    const account: ServiceAccount = {
      id: randomUUID(),
      name: given.name,
      tokenPrefix: prefix,
      scopes,
      userId: owner,
      createdBy: minter.userId,
      createdAt: now,
      expiresAt: given.expiresInDays === null ? null : now + given.expiresInDays * dayMs,
      lastUsedAt: null,
      revokedAt: null,
    };
    if (!(await this.store.insert(account, hash))) throw errors.serviceAccountExists(given.name);
    return { account, token };
  }

  async list(request: AccountListRequest): Promise<ListPage<ServiceAccount>> {
    const query: AccountQuery = {
      includeRevoked: request.includeRevoked,
      sortBy: sortColumns.find((name) => name === request.sortBy) ?? 'created_at',
      direction: request.sortOrder === 'asc' ? 'asc' : 'desc',
    };
    const total = await this.store.count(query.includeRevoked);
    const range = { limit: request.limit, offset: offsetOf(request) };
    const items = range.offset < total ? await this.store.list(query, range) : [];
    return { items, total };
  }

  /** Revokes an account permanently: its token is refused at once here, elsewhere when it is looked up again. */
  async revoke(id: string): Promise<void> {
    const found = await this.store.revoke(id, Date.now());
    this.options.tokens.forget(id);
    if (!found) throw errors.serviceAccountNotFound(id);
  }

  /** All whom a request of the accounts of this user id may have come from, those of revoked ones included. */
  async personsBehindAccount(principal: string): Promise<readonly string[]> {
    const makers = await this.store.makersOf(principal.slice(accountPrefix.length));
    return makers.flatMap((madeBy) => personsBehind({ userId: principal, madeBy, claims: null }));
  }

  /** An account's data belong to its name: a later account of the same name would get data that is not its own. */
  private async refuseNameOfAnother(name: string, owner: string | null): Promise<void> {
    const other = await this.store.ofAnother(name, owner);
    if (other === 'active') throw errors.serviceAccountExists(name);
    if (other === 'revoked') throw errors.serviceAccountNameTaken(name);
  }

  private checkScopes(minter: Minter, scopes: readonly string[], allowPrivileged: boolean): void {
    const { rights, proven } = minter;
    const { adminScope } = this.options;
    const invalid = scopes.filter((scope) => !isScope(scope, adminScope));
    if (invalid.length > 0) throw errors.invalidScopes(invalid);
    const privileged = scopes.filter((scope) => isPrivileged(scope, adminScope));
    if (privileged.length > 0 && !allowPrivileged) throw errors.privilegedScopes(privileged);
    if (!proven) throw errors.minterUnknown();
    const held = grantable(rights, adminScope);
    const notHeld = scopes.filter(
      (scope) => !covers(held, scope, adminScope) || this.showsMore(minter, scope),
    );
    if (notHeld.length > 0) throw errors.scopesNotHeld(notHeld);
  }

  /** Whether an account with this scope would see what its maker does not. */
  private showsMore(minter: Minter, scope: string): boolean {
    const { adminScope } = this.options;
    if (minter.scope.kind === 'all' || !showsEverybody(scope, adminScope)) return false;
    return scope === adminScope || !isServiceAccount(minter);
  }
}
