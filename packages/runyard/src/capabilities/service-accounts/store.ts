import type { Database, Statement } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import { storedJson } from '../../platform/storage/text.js';
import type { ServiceAccountsTable } from './tables.js';

export interface ServiceAccount {
  readonly id: string;
  readonly name: string;
  readonly tokenPrefix: string;
  readonly scopes: readonly string[];
  /** Who made it, and answers for it; null when its maker had no name. */
  readonly userId: string | null;
  readonly createdBy: string | null;
  readonly createdAt: number;
  /** Null: never. */
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** What a token stands for, as far as requests need it. */
export interface StoredToken {
  readonly accountId: string;
  readonly name: string;
  readonly userId: string | null;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
}

export const sortColumns = ['created_at', 'name', 'last_used_at', 'expires_at'] as const;

export interface AccountQuery {
  readonly includeRevoked: boolean;
  readonly sortBy: (typeof sortColumns)[number];
  readonly direction: 'asc' | 'desc';
}

export interface Range {
  readonly limit: number;
  readonly offset: number;
}

type TokenRow = Pick<
  ServiceAccountsTable,
  'id' | 'name' | 'user_id' | 'token_hash' | 'scopes' | 'expires_at' | 'last_used_at'
>;

const tokenColumns = 'id, name, user_id, token_hash, scopes, expires_at, last_used_at';

const readTokens: Statement = {
  name: 'service_account_tokens',
  sqlite: `SELECT ${tokenColumns} FROM service_accounts
    WHERE token_hash IN (SELECT value FROM json_each(?)) AND revoked_at IS NULL`,
  postgres: `SELECT ${tokenColumns} FROM service_accounts
    WHERE token_hash = ANY($1::text[]) AND revoked_at IS NULL`,
};

/** The service accounts. They belong to the service and not to users: callers who may list them see all. */
export class ServiceAccountStore {
  constructor(private readonly database: Database) {}

  /** Stores a new account. False when its name belongs to one that is not revoked: of several at once one gets it. */
  async insert(account: ServiceAccount, tokenHash: string): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.database.query
      .insertInto('service_accounts')
      .values(rowOf(account, tokenHash))
      .onConflict((conflict) => conflict.column('name').where('revoked_at', 'is', null).doNothing())
      .executeTakeFirst();
    return (numInsertedOrUpdatedRows ?? 0n) > 0n;
  }

  /** The state of accounts with this name that another user created; undefined if there were none. */
  async ofAnother(name: string, userId: string | null): Promise<'active' | 'revoked' | undefined> {
    const named = this.database.query
      .selectFrom('service_accounts')
      .select('revoked_at')
      .where('name', '=', name);
    const others =
      userId === null
        ? named
        : named.where(({ eb, or }) => or([eb('user_id', 'is', null), eb('user_id', '<>', userId)]));
    const rows = await others.execute();
    if (rows.length === 0) return undefined;
    return rows.some((row) => row.revoked_at === null) ? 'active' : 'revoked';
  }

  /** Who made the accounts of this name, revoked ones included. */
  async makersOf(name: string): Promise<(string | null)[]> {
    const rows = await this.database.query
      .selectFrom('service_accounts')
      .select('user_id')
      .where('name', '=', name)
      .execute();
    return rows.map((row) => row.user_id);
  }

  async list({ includeRevoked, sortBy, direction }: AccountQuery, range: Range): Promise<ServiceAccount[]> {
    const { sql } = queryBuilder();
    // both databases in the same order: what has no value last, texts by their characters
    const plain = this.database.dialect === 'sqlite' ? sql`` : sql` collate "C"`;
    const column = sortBy === 'name' ? sql`name${plain}` : sql.ref(sortBy);
    const rows = await this.selection(includeRevoked)
      .selectAll()
      .orderBy(sql`${sql.ref(sortBy)} is null`)
      .orderBy(column, direction)
      .orderBy(sql`id${plain}`, direction)
      .limit(range.limit)
      .offset(range.offset)
      .execute();
    return rows.map(accountFromRow);
  }

  async count(includeRevoked: boolean): Promise<number> {
    const { count } = await this.selection(includeRevoked)
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Revokes an account permanently. False if the id is unknown. */
  async revoke(id: string, now: number): Promise<boolean> {
    const { query } = this.database;
    const { numUpdatedRows } = await query
      .updateTable('service_accounts')
      .set({ revoked_at: now })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return true;
    const found = await query
      .selectFrom('service_accounts')
      .select('id')
      .where('id', '=', id)
      .executeTakeFirst();
    return found !== undefined;
  }

  /** The accounts that are not revoked, by the hash of their token. */
  async findTokens(hashes: readonly string[]): Promise<ReadonlyMap<string, StoredToken>> {
    const rows = await this.database.read<TokenRow>(readTokens, [hashes]);
    return new Map(rows.map((row) => [row.token_hash, tokenFromRow(row)]));
  }

  /** An account that is not revoked. */
  async findActive(id: string): Promise<StoredToken | undefined> {
    const row = await this.selection(false).selectAll().where('id', '=', id).executeTakeFirst();
    return row && tokenFromRow(row);
  }

  /** Remembers when an account was used, unless that was noted since `before` already, by whichever process. */
  async noteUse(id: string, now: number, before: number): Promise<void> {
    await this.database.query
      .updateTable('service_accounts')
      .set({ last_used_at: now })
      .where('id', '=', id)
      .where(({ eb, or }) => or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', before)]))
      .execute();
  }

  private selection(includeRevoked: boolean) {
    const accounts = this.database.query.selectFrom('service_accounts');
    return includeRevoked ? accounts : accounts.where('revoked_at', 'is', null);
  }
}

function rowOf(account: ServiceAccount, tokenHash: string): ServiceAccountsTable {
  return {
    id: account.id,
    name: account.name,
    token_hash: tokenHash,
    token_prefix: account.tokenPrefix,
    scopes: JSON.stringify(account.scopes),
    user_id: account.userId,
    created_by: account.createdBy,
    created_at: account.createdAt,
    expires_at: account.expiresAt,
    last_used_at: account.lastUsedAt,
    revoked_at: account.revokedAt,
  };
}

function accountFromRow(row: ServiceAccountsTable): ServiceAccount {
  return {
    id: row.id,
    name: row.name,
    tokenPrefix: row.token_prefix,
    scopes: storedJson(row.scopes),
    userId: row.user_id,
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

function tokenFromRow(row: TokenRow): StoredToken {
  return {
    accountId: row.id,
    name: row.name,
    userId: row.user_id,
    scopes: storedJson(row.scopes),
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}
