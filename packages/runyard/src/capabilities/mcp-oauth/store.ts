import { type Database, statement, timedStatement } from '../../platform/storage/database.js';
import { storedJson } from '../../platform/storage/text.js';
import type { OauthClientsTable, OauthGrantsTable, OauthTokensTable } from './tables.js';

/** What is stored with a code, and has to be presented with it. */
export interface CodeData {
  readonly redirectUri: string;
  readonly challenge: string;
}

export interface NewGrant {
  readonly grantId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly resource: string;
}

export interface StoredGrant extends NewGrant {
  readonly revoked: boolean;
}

/** A code or a refresh token that was issued once. */
export interface IssuedToken {
  readonly grant: StoredGrant;
  readonly data: string | null;
  readonly used: boolean;
  readonly expired: boolean;
}

export type TokenKind = 'code' | 'refresh';

export interface Redemption {
  readonly hash: string;
  readonly kind: TokenKind;
  readonly grant: NewGrant;
  /** Of the refresh token that replaces it; undefined: the client gets none. */
  readonly refreshHash: string | undefined;
  /** How long the grant lasts, and the refresh token. */
  readonly lifeMs: number;
  readonly clientLifeMs: number;
}

/** Registrations that no person has approved yet: beyond these, the oldest is dropped. */
const mostPending = 1000;

const insertClient = timedStatement(
  'mcp_oauth_insert_client',
  (now) => `INSERT INTO mcp_oauth_clients (client_id, metadata, pending, created_at, expires_at)
    VALUES (?, ?, 1, ${now}, ${now} + CAST(? AS bigint)) RETURNING created_at`,
);
const dropOldest = statement(
  'mcp_oauth_drop_pending',
  `DELETE FROM mcp_oauth_clients WHERE pending = 1 AND client_id IN (
    SELECT client_id FROM mcp_oauth_clients WHERE pending = 1
    ORDER BY created_at DESC, client_id DESC LIMIT 1000 OFFSET ?)
  RETURNING client_id`,
);
const readClient = timedStatement(
  'mcp_oauth_client',
  (now) => `SELECT metadata FROM mcp_oauth_clients WHERE client_id = ? AND expires_at > ${now}`,
);
const keepClient = timedStatement(
  'mcp_oauth_keep_client',
  (now) => `UPDATE mcp_oauth_clients SET pending = 0, expires_at = ${now} + CAST(? AS bigint)
    WHERE client_id = ? RETURNING client_id`,
);

const insertGrant = timedStatement(
  'mcp_oauth_insert_grant',
  (now) => `INSERT INTO mcp_oauth_grants (grant_id, client_id, scopes, resource, created_at, expires_at)
    VALUES (?, ?, ?, ?, ${now}, ${now} + CAST(? AS bigint)) RETURNING grant_id`,
);
const keepGrant = timedStatement(
  'mcp_oauth_keep_grant',
  (now) => `UPDATE mcp_oauth_grants SET expires_at = ${now} + CAST(? AS bigint)
    WHERE grant_id = ? AND revoked_at IS NULL AND expires_at > ${now} RETURNING grant_id`,
);
const revokeGrant = timedStatement(
  'mcp_oauth_revoke_grant',
  (now) => `UPDATE mcp_oauth_grants SET revoked_at = ${now}
    WHERE grant_id = ? AND revoked_at IS NULL RETURNING grant_id`,
);
const readLive = timedStatement(
  'mcp_oauth_live_grant',
  (now) => `SELECT grant_id, client_id, scopes, resource FROM mcp_oauth_grants
    WHERE grant_id = ? AND revoked_at IS NULL AND expires_at > ${now}`,
);
// Whose code was never redeemed has used none.
const readApproved = timedStatement(
  'mcp_oauth_approved_client',
  (now) => `SELECT grants.grant_id FROM mcp_oauth_grants AS grants
    WHERE grants.client_id = ? AND grants.revoked_at IS NULL AND grants.expires_at > ${now} AND EXISTS (
      SELECT 1 FROM mcp_oauth_tokens AS tokens
      WHERE tokens.grant_id = grants.grant_id AND tokens.used_at IS NOT NULL)
    LIMIT 1`,
);

const insertToken = timedStatement(
  'mcp_oauth_insert_token',
  (now) => `INSERT INTO mcp_oauth_tokens (hash, kind, grant_id, data, created_at, expires_at)
    VALUES (?, ?, ?, ?, ${now}, ${now} + CAST(? AS bigint)) RETURNING hash`,
);
const spend = timedStatement(
  'mcp_oauth_spend',
  (now) => `INSERT INTO mcp_oauth_tokens (hash, kind, created_at, expires_at, used_at)
    VALUES (?, 'spent', ${now}, ${now} + CAST(? AS bigint), ${now})
    ON CONFLICT (hash) DO NOTHING RETURNING hash`,
);
// Of several who present it at once, one gets it.
const useToken = timedStatement(
  'mcp_oauth_use_token',
  (now) => `UPDATE mcp_oauth_tokens SET used_at = ${now}
    WHERE hash = ? AND kind = ? AND used_at IS NULL AND expires_at > ${now} RETURNING hash`,
);
const readToken = timedStatement(
  'mcp_oauth_token',
  (
    now,
  ) => `SELECT tokens.data, tokens.used_at, CASE WHEN tokens.expires_at > ${now} THEN 0 ELSE 1 END AS expired,
      grants.grant_id, grants.client_id, grants.scopes, grants.resource, grants.revoked_at
    FROM mcp_oauth_tokens AS tokens JOIN mcp_oauth_grants AS grants ON grants.grant_id = tokens.grant_id
    WHERE tokens.hash = ? AND tokens.kind = ?`,
);

type GrantRow = Pick<OauthGrantsTable, 'grant_id' | 'client_id' | 'scopes' | 'resource'>;
type TokenRow = GrantRow &
  Pick<OauthGrantsTable, 'revoked_at'> &
  Pick<OauthTokensTable, 'data' | 'used_at'> & { readonly expired: number };

/** Clients, grants and tokens. They belong to the service; all times are the database's. */
export class OauthStore {
  constructor(private readonly database: Database) {}

  /** Answers with the time of the registration. */
  async addClient(clientId: string, metadata: string, lifeMs: number): Promise<number> {
    const { dialect } = this.database;
    return this.database.transaction(async (run) => {
      const [row] = await run<OauthClientsTable>(insertClient[dialect], [clientId, metadata, lifeMs]);
      await run(dropOldest[dialect], [mostPending]);
      return row?.created_at ?? Date.now();
    });
  }

  async findClient(clientId: string): Promise<string | undefined> {
    const [row] = await this.database.read<OauthClientsTable>(readClient, [clientId]);
    return row?.metadata;
  }

  /** Whether the client holds a token that a person granted to it. */
  async isApproved(clientId: string): Promise<boolean> {
    return (await this.database.read(readApproved, [clientId])).length > 0;
  }

  /** Stores a grant and its code. False when the request for it was approved before. */
  async addCode(
    grant: NewGrant,
    code: { readonly hash: string; readonly data: CodeData; readonly lifeMs: number },
    request: { readonly hash: string; readonly lifeMs: number },
  ): Promise<boolean> {
    const { dialect } = this.database;
    const { grantId, clientId, scopes, resource } = grant;
    return this.database.transaction(async (run) => {
      const [first] = await run(spend[dialect], [request.hash, request.lifeMs]);
      if (first === undefined) return false;
      await run(insertGrant[dialect], [grantId, clientId, JSON.stringify(scopes), resource, code.lifeMs]);
      const data = JSON.stringify(code.data);
      await run(insertToken[dialect], [code.hash, 'code', grantId, data, code.lifeMs]);
      return true;
    });
  }

  /** Notes that something was presented. False when it was presented before. */
  async spend(hash: string, lifeMs: number): Promise<boolean> {
    return (await this.database.change(spend, [hash, lifeMs])).length > 0;
  }

  async findToken(hash: string, kind: TokenKind): Promise<IssuedToken | undefined> {
    const [row] = await this.database.read<TokenRow>(readToken, [hash, kind]);
    if (row === undefined) return undefined;
    const { data, used_at, expired, revoked_at } = row;
    return {
      grant: { ...grantFromRow(row), revoked: revoked_at !== null },
      data,
      used: used_at !== null,
      expired: expired === 1,
    };
  }

  /** Replaces a code or a refresh token. False when it was used or revoked meanwhile: of several, one succeeds. */
  async redeem(redemption: Redemption): Promise<boolean> {
    const { hash, kind, grant, refreshHash, lifeMs, clientLifeMs } = redemption;
    const { dialect } = this.database;
    return this.database.transaction(async (run) => {
      const [used] = await run(useToken[dialect], [hash, kind]);
      if (used === undefined) return false;
      const [kept] = await run(keepGrant[dialect], [lifeMs, grant.grantId]);
      if (kept === undefined) return false;
      if (refreshHash !== undefined)
        await run(insertToken[dialect], [refreshHash, 'refresh', grant.grantId, null, lifeMs]);
      await run(keepClient[dialect], [clientLifeMs, grant.clientId]);
      return true;
    });
  }

  /** Ends a grant with all its tokens. False when it was revoked before. */
  async revoke(grantId: string): Promise<boolean> {
    return (await this.database.change(revokeGrant, [grantId])).length > 0;
  }

  async findLive(grantId: string): Promise<NewGrant | undefined> {
    const [row] = await this.database.read<GrantRow>(readLive, [grantId]);
    return row && grantFromRow(row);
  }
}

function grantFromRow(row: GrantRow): NewGrant {
  return {
    grantId: row.grant_id,
    clientId: row.client_id,
    scopes: storedJson(row.scopes),
    resource: row.resource,
  };
}
