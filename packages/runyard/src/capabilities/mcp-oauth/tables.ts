declare module '../../platform/storage/schema.js' {
  interface Schema {
    mcp_oauth_clients: OauthClientsTable;
    mcp_oauth_grants: OauthGrantsTable;
    mcp_oauth_tokens: OauthTokensTable;
  }
}

export interface OauthClientsTable {
  client_id: string;
  /** JSON: what the client registered, as far as it is used. */
  metadata: string;
  /** 1 until the client has got its first token. */
  pending: number;
  created_at: number;
  expires_at: number;
}

/** What a person granted to a client, with all tokens that come from it: the family that is revoked at once. */
export interface OauthGrantsTable {
  grant_id: string;
  client_id: string;
  /** A JSON list of texts. */
  scopes: string;
  /** The one address that its access tokens are for. */
  resource: string;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
}

export interface OauthTokensTable {
  /** The HMAC of the token. The token itself is nowhere. */
  hash: string;
  /** `code`, `refresh`, or `spent` for what must not be presented twice. */
  kind: string;
  grant_id: string | null;
  /** JSON: of a code, what has to be presented with it. */
  data: string | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}
